"""Jobs, the input of a bake: bodies and the external influences on them; and the differences between two jobs."""
