"""Frames on disk, and all that is kept beside them."""
