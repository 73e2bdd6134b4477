"""The command `fourways`: parse, call, print. Everything else is done in the rooms below."""

from fourways.cli.app import app, main
