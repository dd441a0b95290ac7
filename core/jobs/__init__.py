"""Jobs, the input of simulations, and their checks, scene files, frames on disk, and results."""
