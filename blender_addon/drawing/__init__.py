"""Drawing of overlays and of the live preview on the GPU."""
