"""Compression of a mesh's animation for game engines: a few morph targets, or a skinned skeleton."""
