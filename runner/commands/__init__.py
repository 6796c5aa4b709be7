"""What a person types: parse, ask, call, print."""
