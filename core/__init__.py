"""Library for the simulation of elastic bodies, independent of Blender."""
