"""Preparation of a job for simulation: meshes, models and loads of its bodies."""
