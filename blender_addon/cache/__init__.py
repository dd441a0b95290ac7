"""Where the frames of a body lie, and whose they are."""
