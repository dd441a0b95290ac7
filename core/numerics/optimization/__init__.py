"""Line search, stop rules and the report of a step."""
