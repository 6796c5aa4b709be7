"""Trip versus move."""
