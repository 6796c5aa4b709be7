"""A static site of reports: no server, no outside request, opens from disk."""
