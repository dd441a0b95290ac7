"""Other people's meshers may crash, refuse and take long: the process that asked for the tetrahedra lives on."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np
import pytest
from sinew.core import cli
from sinew.core.foundation.errors import MeshError
from sinew.core.foundation.events import StoppedAfter
from sinew.core.foundation.process import child_process
from sinew.core.foundation.schema.settings import ResolutionSettings, SolverSettings
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.jobs.store.store_lock import locked
from sinew.core.simulation.frame_loop.bake import build_mesh
from sinew.core.simulation.preparation import mesher_process

from ..jobs import box_surface, shaken_bar

CRASHES = "import os\ndef tetrahedralize_mesh(*_): os.abort()"
SLEEPS = """
import ctypes, pathlib, time
def tetrahedralize_mesh(*_):
    pathlib.Path('began').touch()
    try:
        ctypes.PyDLL(None).sleep(600)  # as fTetWild, it holds the interpreter's lock
    except (TypeError, AttributeError):
        time.sleep(600)
"""
REFUSES = "def tetrahedralize_mesh(*_): raise RuntimeError('it likes no bars')"
ONE_TET = """
import numpy as np
def tetrahedralize_mesh(points, *_):
    corners = 3.0 * np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]) - 0.1
    return corners, np.array([(0, 1, 2, 3)], dtype=np.int32)
"""


@pytest.fixture
def robust(tmp_path):
    """A job by fTetWild, and its store."""
    job = shaken_bar(frames=2).with_body(resolution=ResolutionSettings("robust", 4))
    return job, FrameStore.create(tmp_path / "store", job)


@pytest.fixture
def in_place_of_ftetwild(tmp_path, monkeypatch):
    """Code that stands where children find fTetWild's compiled module."""

    def put(code):
        package = tmp_path / "site-packages" / "pytetwild"
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        (package / "PyfTetWildWrapper.py").write_text(code)
        monkeypatch.syspath_prepend(str(package.parent))

    monkeypatch.setattr(mesher_process, "_may_end", False)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(mesher_process.sweep.__globals__["tempfile"], "gettempdir", lambda: str(tmp_path))
    return put


def left_behind(folder):
    return list(folder.glob("sinew-*"))


def test_tetrahedra_come_from_a_child(robust, in_place_of_ftetwild):
    in_place_of_ftetwild(ONE_TET)
    events = []
    build_mesh(*robust, events.append)
    (mesh,) = (event for event in events if event.kind == "mesh")
    assert mesh.tets == 1 and events[-1].kind == "done"


def test_a_crash_is_told_with_a_remedy(robust, in_place_of_ftetwild, tmp_path):
    in_place_of_ftetwild(CRASHES)
    with pytest.raises(MeshError, match="fTetWild crashed on this mesh") as caught:
        build_mesh(*robust)
    assert "Draft" in caught.value.remedy and "merge vertices by distance" in caught.value.remedy
    assert robust[1].read_cached("mesh") is None and not left_behind(tmp_path)


def test_what_the_mesher_refuses_is_told_as_ever(robust, in_place_of_ftetwild):
    in_place_of_ftetwild(REFUSES)
    with pytest.raises(MeshError, match="fTetWild failed: it likes no bars"):
        build_mesh(*robust)


def test_a_stop_ends_the_mesher_at_once(robust, in_place_of_ftetwild, tmp_path):
    in_place_of_ftetwild(SLEEPS)
    events, began = [], time.monotonic()
    build_mesh(*robust, events.append, should_stop=lambda: bool(list(tmp_path.glob("sinew-*/began"))))
    assert events[-1] == StoppedAfter(None) and time.monotonic() < began + 300.0
    assert not left_behind(tmp_path)


STARTS = (
    "import os, subprocess, sys; subprocess.Popen([a.replace('PARENT', str(os.getpid())) for a in sys.argv[1:]]).wait()"
)
"""A parent of a worker, to be killed."""


@pytest.mark.parametrize("task", ["tetrahedra", "mesh", "bake", "resume", "live", "by a wrapper"])
def test_every_task_ends_with_a_parent_that_is_killed(robust, in_place_of_ftetwild, tmp_path, monkeypatch, task):
    """While other people's code holds the interpreter; what it has left is swept by the next worker."""
    job, store = robust
    in_place_of_ftetwild(SLEEPS)
    if task == "live":
        store = FrameStore.create(store.folder, job.with_body(solver=SolverSettings("subspace_mixed_fem", modes=2)))
    command = mesher_process.command(sys.executable, store.folder, "bake" if task == "by a wrapper" else task)
    command[4] = "PARENT"
    if task == "by a wrapper":  # as an executable of Python's may be
        if sys.platform == "win32":
            pytest.skip("there is no shell")
        command = ["/bin/sh", "-c", '"$@"; exit $?', "python3.11", *command]
    started, environment = [sys.executable, "-c", STARTS, *command], mesher_process.child_environment()
    parent = subprocess.Popen(started, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        while not list(tmp_path.glob("sinew-*/began")):
            assert parent.poll() is None
            time.sleep(0.02)
    finally:
        parent.kill()
        parent.wait()
    assert parent.stdout.read() is not None  # its other end closes when the worker has ended
    with locked(store.folder):
        pass
    (left,) = left_behind(tmp_path)
    own = tmp_path / f"{child_process.temporary_mark(os.getpid())}x"
    own.mkdir()
    # What an ending process has open is closed a moment before it is gone.
    deadline = time.monotonic() + 30.0
    while left.exists() and time.monotonic() < deadline:
        child_process.sweep_dead()
        time.sleep(0.02)
    assert left_behind(tmp_path) == [own] != [left]


def test_a_needle_is_called_so():
    def said(*size):
        return mesher_process.crash(box_surface(size, (2, 1, 1)), "robust", -11).message

    assert "by signal 11): it is a needle, 1.2 mm thick" in said(1.0, 1.2e-3, 1e-3)
    assert "needle" not in said(1.0, 1.0, 1e-4) and "needle" not in said(1.0, 0.2, 0.2)
    turned = box_surface((1.0, 1e-3, 1e-3), (2, 1, 1))
    axes = np.linalg.qr(np.array([(1.0, 2.0, 3.0), (0.0, 1.0, 4.0), (5.0, 6.0, 0.0)]))[0]
    turned = SurfaceMesh(turned.positions @ axes, turned.triangles)
    assert "needle" in mesher_process.crash(turned, "clean", 3).message


def test_the_command_line_outlives_a_crash(tmp_path, in_place_of_ftetwild, capfd):
    in_place_of_ftetwild(CRASHES)
    surface = box_surface()
    np.savez(tmp_path / "bar.npz", positions=surface.positions, triangles=surface.triangles)
    scene = tmp_path / "bar.toml"
    scene.write_text('mesh = "bar.npz"\nframes = [1, 2]\n[resolution]\nmethod = "robust"\n[[material]]\n')
    assert cli.main([str(scene)]) == 1
    assert "sinew: fTetWild crashed on this mesh" in capfd.readouterr().err
