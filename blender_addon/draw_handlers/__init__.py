"""Draw handlers of the 3D Views."""
