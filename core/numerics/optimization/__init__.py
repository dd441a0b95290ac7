"""Line search, and the report of a solver on a step."""
