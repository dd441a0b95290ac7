"""Blender's window: redraws, visibility, playback, work in steps, restarts."""
