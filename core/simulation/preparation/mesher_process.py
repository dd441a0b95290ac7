"""Tetrahedralisation in a child process by fTetWild and TetGen, whose crash then loses nothing.

In a Blender window, a worker process bakes, and the meshers run in this worker. Elsewhere (Blender without a window,
the command line), a worker is started only to make and store the tetrahedra.
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
"""Names of the third-party meshers that may crash, by method (``ResolutionSettings.method``)."""
NEEDLE = 5e-3
"""Ratio of thickness to length below which a mesh counts as a needle.

If the mesher crashes on a needle, the error message says so. fTetWild crashes at 1.3e-3 and below.
"""
PATIENCE = 0.1
"""Seconds between two checks for a request to stop."""
DRAFT = "Set Method to Draft under Resolution, which takes any mesh"
_may_end = False


def allow_meshing_in_this_process() -> None:
    """Allow this process to run meshers that may crash.

    A worker process calls this function, since its crash loses nothing.
    """
    global _may_end
    _may_end = True


def needs_a_child(method: str) -> bool:
    """Return True if a meshing method has to run in a child process.

    The mesher of such a method may crash.
    """
    return method in FOREIGN and not _may_end


def make_in_child(folder: Path, surface: SurfaceMesh, method: str, should_stop: Callable[[], bool]) -> bool:
    """Make and store the tetrahedra of a stored job in a worker process.

    Return True when the tetrahedra are stored. Return False if ``should_stop`` returned True before.

    ``folder``: folder of the stored job, in which the tetrahedra are stored.

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
    """Return the error about a crash of the mesher's process.

    ``code``: exit code of the process.
    """
    thickness = _thickness(surface)
    needle = f": it is a needle, {length_words(thickness)} thick" if thickness < NEEDLE * surface.size else ""
    return MeshError(
        f"{FOREIGN[method]} crashed on this mesh (its process ended {ended_words(code)}){needle}.",
        f"{DRAFT}; or merge vertices by distance, make needles thicker or delete them; or lower Cells Across, "
        "if memory is short.",
    )


def _thickness(surface: SurfaceMesh) -> float:
    """Return the second largest extent of a surface along its principal axes, m."""
    points = surface.positions[np.unique(surface.triangles)]
    points = points - points.mean(axis=0)
    _values, axes = np.linalg.eigh(points.T @ points)
    return float(np.ptp(points @ axes[:, 1]))
