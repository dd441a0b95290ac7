"""Atomic file writes, reads of untrusted files, file formats and private folders."""
