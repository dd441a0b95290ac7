"""Jobs, the input of simulations, with their checks, scene files, frames on disk, and results."""
