"""What is measured: protocols and checks, pure."""
