"""A body that is played with."""
