"""Jobs, the input of a bake: bodies, external influences on them, and differences between two jobs."""
