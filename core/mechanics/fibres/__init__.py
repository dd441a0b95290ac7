"""Fibres: tension along a rest direction, which activation makes contract."""
