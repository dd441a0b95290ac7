"""Atomic file writes, checked reads, file formats and private folders."""
