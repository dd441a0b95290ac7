"""Jobs: the input of a bake, its surroundings, and the differences between two jobs."""
