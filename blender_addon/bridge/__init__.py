"""The only place where Blender's data become arrays, and arrays Blender's data."""
