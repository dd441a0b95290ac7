"""Model of a body with its mesh, materials and pins, and the body's state."""
