"""Simulation of a job, which yields its frames: preparation, contact set-up, matching and the loop over frames."""
