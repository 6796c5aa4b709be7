"""What images and archives are made of: tar, zstd, OCI layouts, and an engine's save and load.

Nothing here knows of the bench.
"""
