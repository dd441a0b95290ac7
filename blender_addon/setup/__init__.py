"""Defaults of new bodies, recommended settings, and estimates of a body's sag, memory and time."""
