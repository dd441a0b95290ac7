"""Draw handlers of the 3D Views: overlays, comparisons, vibrations and the progress of a bake."""
