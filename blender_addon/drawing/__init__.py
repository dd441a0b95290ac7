"""Drawing on the GPU."""
