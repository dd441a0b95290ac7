"""Surface and tetrahedral meshes, spatial queries on them, and the embedding of surfaces in tetrahedra."""
