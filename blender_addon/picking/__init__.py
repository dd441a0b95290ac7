"""Picking in the 3D View."""
