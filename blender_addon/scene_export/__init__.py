"""Arrays become Blender's data: frames, takes, files."""
