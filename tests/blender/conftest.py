"""Every test begins with an empty file; the extension is on."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

STATUS = pytest.StashKey[int]()
"""Exit status of the session."""


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    session.config.stash[STATUS] = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """End at once: Blender's module may wait forever at its end after an export to glTF."""
    if any(name.startswith("io_scene_gltf2.blender.exp") for name in sys.modules):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(config.stash.get(STATUS, 1))


@pytest.fixture(scope="session", autouse=True)
def extension(sinew_package: str) -> None:
    """Registered, whether the repository is mounted or an installed extension is enabled."""
    from sinew.blender_addon import registration

    if not registration.is_registered():
        registration.register()


@pytest.fixture(autouse=True)
def empty_file(extension: None) -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


@pytest.fixture
def saved(empty_file: None, tmp_path: Path) -> Path:
    """The file is saved; its path."""
    path = tmp_path / "scene.blend"
    bpy.context.preferences.filepaths.save_version = 0
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


@pytest.fixture
def add_mesh(empty_file: None) -> Callable[..., Any]:
    """Add a mesh object made of vertices and faces and make it active."""

    def add(vertices: Any, faces: Any, name: str = "Body") -> Any:
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(np.asarray(vertices, dtype=float).reshape(-1, 3).tolist(), [], faces)
        obj = bpy.data.objects.new(name, mesh)
        bpy.context.scene.collection.objects.link(obj)
        bpy.context.view_layer.objects.active = obj
        return obj

    return add


@pytest.fixture
def body(add_mesh: Callable[..., Any]) -> Any:
    """A small simulated bar of 12 vertices, held at one end, over four frames; nothing is slow about it."""
    x, y, z = (g.ravel() for g in np.meshgrid([0.0, 0.5, 1.0], [0.0, 0.3], [0.0, 0.3], indexing="ij"))
    faces = [(0, 2, 3, 1), (8, 9, 11, 10)]
    for a in (0, 4):
        for p, q in ((0, 1), (1, 3), (3, 2), (2, 0)):
            faces.append((a + p, a + q, a + q + 4, a + p + 4))
    obj = add_mesh(np.column_stack([x, y, z]), [face[::-1] for face in faces])
    bpy.ops.sinew.enable()
    bpy.ops.sinew.apply_preset(preset="Soft Flesh")  # 50 kPa, whatever suits its size
    pins = obj.vertex_groups.new(name="Pins")
    pins.add([0, 1, 2, 3], 1.0, "REPLACE")
    obj.sinew.pin_group = "Pins"
    obj.sinew.cells_across = 4
    obj.sinew.collisions.contact_bodies = False  # copies of it lie in it
    obj.sinew.use_scene_range = False
    obj.sinew.frame_start, obj.sinew.frame_end = 1, 4
    return obj


@pytest.fixture
def evaluated() -> Callable[..., np.ndarray]:
    """World positions of an object's evaluated vertices at a frame."""

    def at(obj: Any, frame: float) -> np.ndarray:
        bpy.context.scene.frame_set(int(np.floor(frame)), subframe=float(frame - np.floor(frame)))
        result = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        flat = np.empty(3 * len(result.data.vertices), dtype=np.float32)
        result.data.vertices.foreach_get("co", flat)
        matrix = np.array(result.matrix_world)
        return flat.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]

    return at


@pytest.fixture
def collection(body: Any) -> Any:
    """The collection of the body's colliders, empty."""
    collection = bpy.data.collections.new("Obstacles")
    bpy.context.scene.collection.children.link(collection)
    body.sinew.collisions.collection = collection
    return collection


@pytest.fixture
def soft_body(body: Any, saved: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The bar with a subspace of a few modes, for live mode, which ends with the test; one frame is asked for at a
    time, so that a test sees each.
    """
    from sinew.blender_addon.jobs import job_queue
    from sinew.blender_addon.live import live, live_state

    monkeypatch.setattr(live_state, "MOST_AHEAD", 1)
    body.sinew.solver, body.sinew.modes = "subspace_mixed_fem", 5
    bpy.ops.object.select_all(action="DESELECT")
    body.select_set(True)
    yield body
    live.stop()
    job_queue.abandon()


@pytest.fixture(scope="session")
def once_prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a real child's preparation of ``soft_body``, shared by all fake children."""
    return tmp_path_factory.mktemp("prepared") / "store"


@pytest.fixture
def fake_child(soft_body: Any, once_prepared: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """``soft_body`` with a child that answers at once; what it shows was prepared by a real one."""
    from sinew.blender_addon.bake import baking
    from sinew.blender_addon.live import live
    from sinew.blender_addon.scene_import.job_in import make_job
    from sinew.core.foundation.process import child_process

    from .live.live_driver import drain_until

    count = once_prepared.with_name("handles")
    if not count.is_file():
        session = live.begin(soft_body)
        drain_until(lambda: session.state.ready)
        live.stop()
        shutil.copytree(session.store.folder, once_prepared)
        count.write_text(str(len(session.state.handles)))
    store = baking.live_store(soft_body, make_job(soft_body, bpy.context))
    shutil.copytree(once_prepared, store.folder, dirs_exist_ok=True)
    monkeypatch.setenv("SINEW_FAKE_HANDLES", count.read_text())
    monkeypatch.setattr(child_process, "WORKER", Path(__file__).resolve().parents[1] / "gui" / "fake_live_worker.py")
    return soft_body


@pytest.fixture
def shot(body: Any, saved: Path) -> Path:
    """A saved .blend with one body and a camera, three tiny frames 1, 3, 5; the folder of its images."""
    scene = bpy.context.scene
    scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(scene.camera)
    scene.frame_start, scene.frame_end, scene.frame_step = 1, 5, 2
    render = scene.render
    render.engine, scene.cycles.samples, scene.cycles.use_denoising = "CYCLES", 1, False
    render.resolution_x = render.resolution_y = 32
    render.filepath = "//images/shot_"
    body.sinew.frame_end = 2
    bpy.ops.wm.save_mainfile()
    return saved.parent / "images"


@pytest.fixture
def blender(tmp_path: Path) -> Path:
    """An executable with Blender's command line, as far as farms use it."""
    path = tmp_path / "bin" / "blender"
    path.parent.mkdir()
    stand_in = Path(__file__).with_name("stand_in_blender.py")
    if sys.platform == "win32":
        path = path.with_suffix(".bat")
        path.write_text(f'@"{sys.executable}" "{stand_in}" %*\n')
        return path
    path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(stand_in))} "$@"\n')
    path.chmod(0o755)
    return path
