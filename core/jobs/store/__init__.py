"""Frame store: frames of a bake on disk, beside cached results that are expensive to compute."""
