"""Wedges: variants of a scene by a table of settings, and their results."""
