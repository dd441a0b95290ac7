"""Data of a .blend: names, texts, paths, lists with their animation, node trees, temporary values."""
