"""The plain ways to look pages up, behind the bench's line protocol: what memories are held to."""

__version__ = "0.1.0"
NAME = "baselines"
LICENCE = "Apache-2.0"
