"""Example scenes of bodies that are attached, cut, torn, inflated or bent for good."""
