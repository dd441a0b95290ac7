"""Frame after frame: bakes, live mode, and what they warm up."""
