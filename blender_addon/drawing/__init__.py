"""Drawing on the graphics card."""
