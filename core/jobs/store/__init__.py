"""Frame store: frames of a bake on disk, and caches of expensive results beside them."""
