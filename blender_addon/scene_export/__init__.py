"""Conversion of results to Blender data: frames of bakes, springs of live takes, and files."""
