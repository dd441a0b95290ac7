"""Incremental potential contact (IPC): barriers between surfaces."""
