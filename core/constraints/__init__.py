"""What holds a body: pins."""
