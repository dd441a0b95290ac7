"""What a simulation is made of: the validated model, and the state of a moment."""
