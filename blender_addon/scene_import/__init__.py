"""Blender's data become arrays: from a scene to a job."""
