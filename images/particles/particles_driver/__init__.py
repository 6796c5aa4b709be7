"""linkedparticles behind the bench's line protocol: imported once, a process a verb."""

NAME = "particles"
LICENCE = "Apache-2.0"
