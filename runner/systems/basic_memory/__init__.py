"""basic-memory: Markdown files, and a database that finds them."""
