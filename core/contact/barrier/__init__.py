"""Incremental potential contact (IPC): barriers between surfaces, and the pairs that are excluded."""
