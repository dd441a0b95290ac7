"""Defaults of new bodies, recommended settings, and estimates of sag, memory and time."""
