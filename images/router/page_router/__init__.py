"""A page router: finds the page that answers, leaves out replaced ones, refuses weak matches."""

__version__ = "0.1.0"
NAME = "router"
LICENCE = "Apache-2.0"
