"""A small claim memory for agents: extracts, reconciles, retires and restates."""

__version__ = "0.1.0"
NAME = "engine"
LICENCE = "Apache-2.0"
