"""Conversion of results to Blender data: frames of bakes, springs from recorded live sessions, and files."""
