"""What a simulation is made of: settings, the validated model, the state of a moment."""
