"""Bakes from start to end, one or several, in a child or here."""
