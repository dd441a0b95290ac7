"""Penalty contact of a body's points with colliders."""
