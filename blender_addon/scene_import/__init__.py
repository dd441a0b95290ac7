"""Conversion of a Blender scene to a job, which consists of arrays and settings."""
