"""Published multilevel solver ([SMS25])."""
