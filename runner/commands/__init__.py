"""What a person types: parse, ask, call, print."""

from runner.commands._app import main, names

__all__ = ["main", "names"]
