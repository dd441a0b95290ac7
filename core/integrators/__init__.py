"""Time integration rules."""
