"""Child processes, third-party compiled code in them, and memory."""
