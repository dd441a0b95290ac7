"""Preparation of a job for simulation: meshes, models, loads and contact of its bodies."""
