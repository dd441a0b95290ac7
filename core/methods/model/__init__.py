"""The validated model of a body, and its state."""
