"""The page router."""
