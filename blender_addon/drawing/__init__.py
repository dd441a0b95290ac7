"""What goes to the graphics card."""
