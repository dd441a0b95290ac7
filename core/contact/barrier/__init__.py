"""Incremental potential contact (IPC): barriers between surfaces, and vertex pairs excluded from contact."""
