"""Materials, and the fields that bring them from paint to tetrahedra."""
