"""Settings with units and bounds, metadata of dataclass fields, and tracks of animated values."""
