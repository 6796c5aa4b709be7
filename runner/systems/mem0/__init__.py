"""mem0, the memory library, with its store on disk."""
