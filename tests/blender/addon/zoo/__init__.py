"""Meshes and objects that are bad or odd, built in code, each with what should come of it.

A specimen is a function that builds an object, with the extension switched on where it sets something of it. What
should come of it is a bake, or a refusal, which ``refused`` is a pattern of; a bake may come with a ``warning``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...scenes import CUBE

Build = Callable[[Path], Any]


@dataclass(frozen=True)
class Specimen:
    """One of the zoo.

    Parameters
    ----------
    name : what it is
    build : gives the object, in the open file; files that it needs go into the folder it is given
    refused : pattern of the message it is refused with; "" where it is baked
    warning : pattern of what is said of the tetrahedra of a bake; "" for none that is asked for
    falls : whether it is a body without pins, and nothing but gravity acts on it
    """

    name: str
    build: Build
    refused: str = ""
    warning: str = ""
    falls: bool = False

    @property
    def of_blender(self) -> bool:
        """Return True if it tests Blender's part, not only the mesh or the settings."""
        return self.build.__module__.rpartition(".")[2] in ("stacks", "states")


ZOO: list[Specimen] = []


def specimen(name: str, **expected: Any) -> Callable[[Build], Build]:
    """Enter a function in the zoo."""

    def enter(build: Build) -> Build:
        assert name not in {s.name for s in ZOO}, name
        ZOO.append(Specimen(name, build, **expected))
        return build

    return enter


def put(data: Any, name: str = "Body") -> Any:
    """An active object of the scene with these data."""
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    return obj


def mesh(vertices: Any, faces: Any = (), edges: Any = (), name: str = "Body") -> Any:
    """An active mesh object, not validated: as importers leave it."""
    data = bpy.data.meshes.new(name)
    data.from_pydata(np.asarray(vertices, dtype=float).reshape(-1, 3).tolist(), list(edges), [list(f) for f in faces])
    return put(data, name)


def cube(size: float = 1.0, at: Any = (0.0, 0.0, 0.0)) -> tuple[np.ndarray, list[list[int]]]:
    """Vertices (8,3) and outward faces."""
    return np.asarray(at) + size * np.array(CUBE[0], dtype=float), [list(face) for face in CUBE[1]]


def grid(n: int, m: int, shape: Callable[[np.ndarray, np.ndarray], np.ndarray], turns: bool = False) -> Any:
    """Vertices and quads of an n x m grid over the unit square, mapped by ``shape``."""
    u, v = np.meshgrid(np.linspace(0.0, 1.0, n), np.linspace(0.0, 1.0, m), indexing="ij")
    index = np.arange(n * m).reshape(n, m)
    faces = np.stack([index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]], axis=-1).reshape(-1, 4)
    return shape(u.ravel(), v.ravel()), faces.tolist()


def together(*parts: tuple[np.ndarray, list[list[int]]]) -> tuple[np.ndarray, list[list[int]]]:
    """Several surfaces as one."""
    vertices, faces, count = [], [], 0
    for positions, own in parts:
        vertices.append(np.asarray(positions, dtype=float))
        faces += [[index + count for index in face] for face in own]
        count += len(positions)
    return np.vstack(vertices), faces


def pinned(obj: Any, name: str = "Pins") -> Any:
    """The object with its vertices of least x pinned, switched on."""
    x = np.array([v.co.x for v in obj.data.vertices])
    low, high = np.nanmin(x), np.nanmax(x)
    chosen = np.flatnonzero(x <= low + 1e-3 * (high - low))
    obj.vertex_groups.new(name=name).add(chosen.tolist(), 1.0, "REPLACE")
    enabled(obj).sinew.pin_group = name
    return obj


def enabled(obj: Any) -> Any:
    """The object as a small body over three frames."""
    bpy.context.view_layer.objects.active = obj
    if not obj.sinew.enabled:
        bpy.ops.sinew.enable()
        obj.sinew.cells_across = 4
        obj.sinew.use_scene_range, obj.sinew.frame_start, obj.sinew.frame_end = False, 1, 3
    return obj


from . import fields, shapes, stacks, states  # noqa: E402, F401 (they fill it)
