"""Scenes in TOML and surfaces in files, without Blender."""
