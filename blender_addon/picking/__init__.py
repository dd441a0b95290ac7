"""Picking of vertices in the 3D View, and proposal of dynamic nodes."""
