"""Children of this process, other people's compiled code in them, and memory."""
