"""The fresh process for a timer: it reads the timer's name, and prints what the timer reports of all cheats."""

import json
import sys

from fourways.experiments.timers.verdicts import measured

if __name__ == "__main__":
    print("\n" + json.dumps(measured(json.load(sys.stdin)["timer"])))
