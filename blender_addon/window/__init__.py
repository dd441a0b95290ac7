"""Blender's window: redrawing, visibility, playback, work in steps, restarts."""
