"""Surface and tetrahedral meshes, spatial queries, and the embedding of surfaces in tetrahedra."""
