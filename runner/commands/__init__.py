"""What a person types: parse, ask, call, print."""

from runner.commands._app import app, main, names

__all__ = ["app", "main", "names"]
