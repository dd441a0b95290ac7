"""Settings with units and bounds, dataclass fields with metadata, and animated values."""
