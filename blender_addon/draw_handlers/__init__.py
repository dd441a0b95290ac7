"""What the 3D Views show of bodies."""
