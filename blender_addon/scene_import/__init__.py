"""Conversion of a Blender scene to a simulation job: arrays and settings."""
