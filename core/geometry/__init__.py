"""Surface meshes, tetrahedral meshes, and tetrahedralization."""
