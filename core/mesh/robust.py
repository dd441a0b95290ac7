"""Robust tetrahedra that follow the surface: fTetWild [Hu, Schneider, Wang, Zorin, Panozzo 2020].

Its compiled wrapper lies in the package ``pytetwild``, whose own Python layer wants PyVista; so the compiled module
is found beside that layer and loaded alone.

Traps: fTetWild may write to the process's standard output, which may be a channel of the caller's, and leaves a file in
the working folder, so output goes to standard error and the working folder is a temporary one while it works. Its tets
differ a little from run to run, with one thread too: whoever needs the same ones twice must keep them.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterator
from importlib.machinery import PathFinder
from types import ModuleType

import numpy as np

from ..errors import MeshError
from .surface_mesh import SurfaceMesh
from .surface_samples import proper_triangles
from .tet_mesh import TetMesh

_MODULE = "PyfTetWildWrapper"
_ENVELOPE = 1e-3
"""Allowed distance from the surface as a part of the bounding box's diagonal: fTetWild's own default."""


def robust_tets(surface: SurfaceMesh, cells_across: int) -> TetMesh:
    """Fill a surface with tets of an edge length of about its longest side / ``cells_across``.

    The tets follow the surface within a thousandth of its size; vertices may lie outside by as much. Takes seconds to
    minutes.

    Raises
    ------
    MeshError
        The module is missing, it fails, or the surface encloses nothing.
    """
    wrapper = _load()
    proper = proper_triangles(surface.positions, surface.triangles)
    used, triangles = np.unique(surface.triangles[proper].ravel(), return_inverse=True)
    if len(used) == 0:
        raise MeshError(
            "All faces of the mesh are collapsed.", "Give the faces some area, or merge vertices by distance."
        )
    low = surface.positions[used].min(axis=0)
    size = surface.size
    points = np.ascontiguousarray((surface.positions[used] - low) / size)
    vertices, tets = _run(wrapper, points, triangles.reshape(-1, 3).astype(np.uint32), 1.0 / cells_across)
    if len(tets) == 0:
        raise MeshError(
            "The mesh encloses nothing.", "Close its holes, or use the Draft method, which also fills sheets."
        )
    return _tidy(vertices * size + low, tets)


def _load() -> ModuleType:
    """The compiled module, without its package; the import system's own cache keeps it."""
    full_name = f"pytetwild.{_MODULE}"
    if full_name in sys.modules:
        return sys.modules[full_name]
    package = PathFinder.find_spec("pytetwild")
    folders = package.submodule_search_locations if package else None
    spec = PathFinder.find_spec(_MODULE, list(folders)) if folders else None
    if spec is None or spec.loader is None:
        raise MeshError("fTetWild is not installed.", "Choose the Draft method, or install the package pytetwild.")
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except ImportError as error:
        raise MeshError(f"fTetWild cannot be loaded: {error}.", "Choose the Draft method.") from error
    sys.modules[full_name] = module
    return module


@contextlib.contextmanager
def _stdout_to_stderr() -> Iterator[None]:
    """Send what C++ code writes to file descriptor 1 to descriptor 2."""
    if sys.stdout is not None:  # None in a windowed program without a console
        sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:  # no descriptor 1, nothing to protect
        yield
        return
    try:
        os.dup2(2, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def _run(wrapper: ModuleType, points: np.ndarray, triangles: np.ndarray, edge: float) -> tuple[np.ndarray, np.ndarray]:
    """fTetWild on points within the unit box."""
    optimize, skip_simplify, coarsen, quiet, vtk_ordering, keep_outside = True, False, False, True, False, False
    edge_ratio, stop_energy, threads, rounds, log_level = 0.05, 10.0, 0, 80, 6  # its defaults; log: critical only
    sizing = (np.empty((0, 3)), np.empty((0, 4), dtype=np.int32), np.empty(0))
    shape = (optimize, skip_simplify, edge_ratio, edge, _ENVELOPE, stop_energy, coarsen)
    manner = (threads, rounds, log_level, quiet, vtk_ordering, keep_outside)
    try:
        with _stdout_to_stderr(), tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            return wrapper.tetrahedralize_mesh(points, triangles, *shape, *manner, *sizing)
    except (RuntimeError, ValueError) as error:
        raise MeshError(f"fTetWild failed: {error}.", "Choose the Draft method, or fewer cells.") from error


def _tidy(vertices: np.ndarray, tets: np.ndarray) -> TetMesh:
    """Orient positively, leave out flat tets and vertices that no tet uses."""
    p = vertices[tets]
    e = p[:, 1:] - p[:, :1]
    determinant = np.einsum("ni,ni->n", e[:, 0], np.cross(e[:, 1], e[:, 2]))
    tets = np.where((determinant < 0.0)[:, None], tets[:, [0, 1, 3, 2]], tets)[determinant != 0.0]
    used, renumbered = np.unique(tets.ravel(), return_inverse=True)
    return TetMesh(vertices[used], renumbered.reshape(-1, 4))
