"""Images: build, lock, identify."""
