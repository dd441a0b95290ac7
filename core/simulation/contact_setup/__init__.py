"""Set-up of contact before a bake: collision surfaces, pairs, groups and overlaps at the first frame."""
