"""Tetrahedralisation by fTetWild and TetGen, which crash on some meshes, in a child process whose crash loses nothing.

In a Blender window, a worker process bakes, and the meshers run in this worker. Elsewhere (Blender without a window,
the command line), a worker is started only for the tetrahedra, which it makes and stores.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ...foundation import errors
from ...foundation.errors import MeshError, SinewError
from ...foundation.events import Failed, event_of
from ...foundation.process.child_process import (
    NO_CONSOLE,
    child_environment,
    ended_words,
    python_executable,
    python_name,
    sweep,
)
from ...foundation.process.child_process import worker_command as command
from ...foundation.unit_words import length_words
from ...geometry.mesh.surface_mesh import SurfaceMesh

FOREIGN = {"robust": "fTetWild", "clean": "TetGen"}
"""Names of the third-party programs that may crash, by the method that uses them (``ResolutionSettings.method``)."""
NEEDLE = 5e-3
"""Ratio of thickness to length below which a mesh counts as a needle. If the mesher crashes on such a mesh, the error
message says so. fTetWild crashes at 1.3e-3 and below.
"""
PATIENCE = 0.1
"""Seconds between two checks for a request to stop."""
DRAFT = "Set Method to Draft under Resolution, which takes any mesh"
_may_end = False


def allow_meshing_in_this_process() -> None:
    """Allow this process to run meshers that may crash; a worker process calls it, since its crash loses nothing."""
    global _may_end
    _may_end = True


def needs_a_child(method: str) -> bool:
    """Return True if the mesher of a ``method`` may crash, so that it must run in a child of this process."""
    return method in FOREIGN and not _may_end


def make_in_child(folder: Path, surface: SurfaceMesh, method: str, should_stop: Callable[[], bool]) -> bool:
    """Let a worker process make the tetrahedra of the job that is stored in ``folder``, and store them there.

    Return True when they are stored, or False if ``should_stop`` returned True before.

    Raises
    ------
    MeshError
        The worker crashed, or no Python was found to run it.
    SinewError
        The worker reported an error about the mesh.
    """
    python = python_executable()
    if not python:
        raise MeshError(f"{FOREIGN[method]} needs {python_name()} to run, which was not found.", f"{DRAFT}.")
    process = subprocess.Popen(
        command(python, folder, "tetrahedra"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env=child_environment(),
        creationflags=NO_CONSOLE,
        start_new_session=True,  # Ctrl+C goes to this process, which then ends the worker
    )
    said = None
    try:
        while said is None:
            try:
                said, _ = process.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                if should_stop():
                    return False
    finally:
        process.kill()
        process.communicate()
        sweep(process.pid)
    for event in map(event_of, said.splitlines()):
        if isinstance(event, Failed):
            raise getattr(errors, event.code, SinewError)(event.message, event.remedy)
    if process.returncode:
        raise crash(surface, method, process.returncode)
    return True


def crash(surface: SurfaceMesh, method: str, code: int) -> MeshError:
    """Return the error for a ``surface`` at which the mesher's process crashed with the exit code ``code``."""
    thickness = _thickness(surface)
    needle = f": it is a needle, {length_words(thickness)} thick" if thickness < NEEDLE * surface.size else ""
    return MeshError(
        f"{FOREIGN[method]} crashed on this mesh (its process ended {ended_words(code)}){needle}.",
        f"{DRAFT}; or merge vertices by distance, make needles thicker or delete them; or lower Cells Across, "
        "if memory is short.",
    )


def _thickness(surface: SurfaceMesh) -> float:
    """Return the second largest extent, m, of a surface's vertices, measured along the principal axes; small for
    needles."""
    points = surface.positions[np.unique(surface.triangles)]
    points = points - points.mean(axis=0)
    _values, axes = np.linalg.eigh(points.T @ points)
    return float(np.ptp(points @ axes[:, 1]))
