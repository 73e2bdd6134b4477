"""The command `fourways`: it parses options, calls the packages below, and prints their results."""

from fourways.cli.app import app, main
