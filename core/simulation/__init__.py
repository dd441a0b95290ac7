"""Simulation of a job: preparation, contact set-up, matching and the loop over frames."""
