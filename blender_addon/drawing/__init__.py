"""GPU drawing."""
