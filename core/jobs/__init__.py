"""Jobs: what is simulated, its checks, its frames on disk, its results and its scene files."""
