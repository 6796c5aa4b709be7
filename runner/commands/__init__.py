"""What a person types: parse, ask, call, print."""

from runner.commands._app import main

__all__ = ["main"]
