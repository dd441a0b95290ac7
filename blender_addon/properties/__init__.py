"""User settings, saved in the .blend file."""
