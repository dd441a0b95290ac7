"""Results read from the frames of a bake."""
