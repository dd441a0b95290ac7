"""Cache folders of bodies and their owners."""
