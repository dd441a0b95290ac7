"""Settings (dataclasses whose fields have units and bounds as metadata) and tracks of animated values."""
