"""Background tasks and their child process."""
