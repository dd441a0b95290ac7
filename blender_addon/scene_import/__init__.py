"""Conversion of a Blender scene to a job: arrays and settings."""
