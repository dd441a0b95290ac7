"""Conversion of results to Blender data: frames, takes, files."""
