"""Bakes for game engines: temporary copies of the bodies with morph targets or a skeleton, and their files."""
