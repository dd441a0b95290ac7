"""From a surface to tetrahedra: draft, robust, clean; finer where that is wanted."""
