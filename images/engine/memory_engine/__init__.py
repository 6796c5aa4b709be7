"""A small claim memory for agents: extracts, reconciles, retires and restates."""
