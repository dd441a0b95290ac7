"""Live mode: interactive simulation in the viewport."""
