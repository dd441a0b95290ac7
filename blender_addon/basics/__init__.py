"""What every room needs of Blender: names, lists, the stack, steps, texts."""
