"""Live mode: simulation of a body in the viewport."""
