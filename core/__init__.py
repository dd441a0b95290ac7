"""Sinew, the library: elastic bodies of very different materials. It does not depend on Blender."""
