"""What it is measured on: a reader and a wire a system."""
