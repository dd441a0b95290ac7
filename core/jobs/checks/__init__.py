"""Checks of a job: advice on settings, estimates of its cost, and warnings for the artist."""
