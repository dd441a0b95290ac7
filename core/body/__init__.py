"""From a job to what can be simulated, and what acts on it."""
