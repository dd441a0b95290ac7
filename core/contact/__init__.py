"""Contact: where the body may touch, what it runs into, the penalty that keeps it out, and friction."""
