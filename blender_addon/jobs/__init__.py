"""The process that simulates, seen from Blender."""
