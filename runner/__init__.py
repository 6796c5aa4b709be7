"""A hermetic benchmark runner for the memories of AI agents."""

__version__ = "0.1.0"
