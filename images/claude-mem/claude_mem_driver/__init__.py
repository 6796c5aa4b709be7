"""claude-mem behind the bench's line protocol."""

NAME = "claude-mem"
LICENCE = "Apache-2.0"
