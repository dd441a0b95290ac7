"""Surface and tetrahedral meshes, and the embedding of one in the other."""
