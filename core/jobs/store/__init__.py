"""Frame store: frames on disk, and caches beside them."""
