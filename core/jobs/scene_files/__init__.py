"""Readers of scenes in TOML and of surface files, without Blender."""
