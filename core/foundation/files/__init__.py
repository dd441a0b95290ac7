"""Bytes on disk: whole files or none, and nothing that is believed unseen."""
