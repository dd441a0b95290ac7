"""Smooth shapes of examples from signed distances, without Blender's operators."""
