"""Clean method: tetrahedra that keep the surface, by TetGen [Si 2015].

The surface must be closed, without self-intersections. Every vertex of the surface is a vertex of the tets, so the
render mesh follows exactly. TetGen adds vertices on the faces and inside until no tet exceeds the requested volume, and
no tet is flat if that can be avoided.

If TetGen optimises angles in the same run as it follows a sizing field, it may crash (on 2 of 156 bodies). Therefore a
first run inserts vertices by the sizing field. A second run starts with all vertices of the first run and optimises.

Limits: on some bad input TetGen ends the whole process, so detectable faults are rejected beforehand. TetGen fills all
space within the outermost surface. Tets in hollows are removed afterwards, by winding number. TetGen prints, and writes
files to the working folder (``foreign_module.kept_apart``). TetGen's tets are oriented negatively.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np

from ...foundation.errors import MeshError
from ...foundation.process.foreign_module import compiled_module, kept_apart
from ..mesh.surface_mesh import SurfaceMesh
from ..mesh.surface_samples import faces_with_area
from ..mesh.tet_mesh import TetMesh, oriented
from ..mesh.winding_number import WindingNumber
from .intersections import intersecting_triangles
from .sizing_field import BackgroundMesh, background_mesh, is_finer
from .tet_count import MAX_TETS

REMEDY = "use Draft or Robust (method lattice or robust), which take any mesh"
PACKAGE = "tetgen"
TO_GET = "Install the zip of Sinew whose name ends in -tetgen (or, as a library, the extra: pip install sinew[clean])"
"""Remedy if TetGen is missing: because of its licence, AGPL-3.0, it is not in the usual zip."""
CELL_PART = 0.16
"""Largest tet volume to request, divided by the volume of a cubic cell.

With this value a body has about as many tets as with the lattice.
"""
CELL_EDGE = 0.85
"""Requested edge length divided by the wanted cell size. With this value TetGen meets the refine factor within 5 %."""
REFINED = "q1.4/10"
SHAPE = f"{REFINED}o/150"
"""``REFINED`` and ``SHAPE``: switches of TetGen.

Both set the largest ratio of circumradius to shortest edge, and the least dihedral angle, degrees. ``SHAPE`` also
requests an optimisation and sets its largest dihedral angle, degrees. Without this optimisation the smallest angles in
a sphere and a cube were 2 degrees instead of 4.
"""


def clean_tets(
    surface: SurfaceMesh, cells_across: int, fineness: np.ndarray | None = None, finest: float = 1.0
) -> TetMesh:
    """Return tets that fill a closed surface and keep its vertices.

    The tets are about as large as those of the lattice, and smaller near small faces.

    ``cells_across``: number of cells of the lattice along the longest side.
    ``fineness`` (n,), 0 to 1, or None: painted refinement per vertex.
    ``finest``: factor by which tets are smaller where ``fineness`` is 1.

    Raises
    ------
    MeshError
        TetGen is not installed or fails, the surface is open, intersects itself or has coincident faces, or the painted
        refinement needs too many tets.
    """
    wrapper = compiled_module(PACKAGE, "_tetgen", "TetGen", f"{TO_GET}, or {REMEDY}.")
    triangles = faces_with_area(surface)
    low, size = surface.positions[triangles].min(axis=(0, 1)), surface.size
    # Merge vertices with the same position, as along the seams of imported meshes.
    points, original, merged = np.unique(
        (surface.positions - low) / size, axis=0, return_index=True, return_inverse=True
    )
    triangles = merged.reshape(-1)[triangles]
    _check(points, triangles, original)
    used, renumbered = np.unique(triangles.ravel(), return_inverse=True)
    points, triangles = np.ascontiguousarray(points[used]), renumbered.reshape(-1, 3).astype(np.int32)
    cells, field = cells_across - 0.5, None
    if is_finer(fineness, finest):
        # A merged vertex takes the largest paint of its original vertices.
        painted = np.zeros(len(original))
        np.maximum.at(painted, merged.reshape(-1), fineness)
        field = background_mesh(SurfaceMesh(cells * points, triangles), painted[used], finest, MAX_TETS)
        field = BackgroundMesh(field.points / cells, field.tets, CELL_EDGE * field.sizes / cells)
    vertices, tets = _run(wrapper, points, triangles, CELL_PART / cells**3, field)
    inside = WindingNumber(points, triangles).contains(vertices[tets].mean(axis=1))
    if not inside.any():
        raise MeshError("The mesh encloses nothing.", f"Make its normals consistent, or {REMEDY}.")
    return oriented(vertices * size + low, tets[inside])


def _check(points: np.ndarray, triangles: np.ndarray, original: np.ndarray) -> None:
    """Raise MeshError if TetGen cannot mesh the surface: it is open, has coincident faces or intersects itself."""
    edges = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    edges, faces = np.unique(edges, axis=0, return_counts=True)
    open_edges = edges[faces == 1]
    if len(open_edges):
        a, b = sorted(int(v) for v in original[open_edges[0]])
        raise MeshError(
            f"The mesh is open: {len(open_edges)} edges have a face on one side only (one joins vertices {a} and {b}).",
            f"Fill its holes (in Blender: Edit Mode, Mesh > Clean Up > Fill Holes), or {REMEDY}.",
        )
    doubled = len(triangles) - len(np.unique(np.sort(triangles, axis=1), axis=0))
    if doubled:
        raise MeshError(
            f"{doubled} faces coincide with other faces.",
            f"Merge vertices by distance and delete the inner faces, or {REMEDY}.",
        )
    crossing = intersecting_triangles(points, triangles)
    if len(crossing):
        first = int(original[triangles[crossing[0]]].min())
        raise MeshError(
            f"The mesh passes through itself: {len(crossing)} triangles cross others (one at vertex {first}).",
            f"Move these parts apart, or {REMEDY}.",
        )


def _run(
    wrapper: ModuleType, points: np.ndarray, triangles: np.ndarray, largest: float, field: BackgroundMesh | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return TetGen's vertices (n,3) and tets (m,4) for a surface in the unit box."""
    try:
        with kept_apart():
            if field is not None:
                mesher = wrapper.PyTetgen()
                mesher.load_mesh(points, triangles)
                mesher.load_bgmesh_from_arrays(*field)
                mesher.tetrahedralize(switches_str=f"p{REFINED}a{largest:.15f}mQ")
                points, triangles = mesher.return_nodes(), mesher.return_trifaces()
            mesher = wrapper.PyTetgen()
            mesher.load_mesh(points, triangles)
            mesher.tetrahedralize(switches_str=f"p{SHAPE}a{largest:.15f}Q")
            return mesher.return_nodes(), mesher.return_tets()
    except RuntimeError as error:
        said = str(error).strip().rstrip(".")
        raise MeshError(f"TetGen failed: {said}.", f"Merge vertices by distance, or {REMEDY}.") from error
