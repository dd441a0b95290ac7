"""Example scenes of bodies that are attached, inflated or bent for good."""
