"""Sinew, the library: elastic bodies of very different materials. Knows no Blender."""
