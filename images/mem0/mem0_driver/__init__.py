"""mem0 behind the bench's line protocol: its own library, used as its users use it."""

NAME = "mem0"
LICENCE = "Apache-2.0"
