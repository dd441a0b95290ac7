"""Ties of a group: where they act, and their potentials in a step."""
