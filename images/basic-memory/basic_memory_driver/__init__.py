"""basic-memory behind the bench's line protocol, one server of its own for a whole run."""

NAME = "basic-memory"
LICENCE = "AGPL-3.0-or-later"
