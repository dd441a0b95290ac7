"""What is read from the frames of a bake."""
