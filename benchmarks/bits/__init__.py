"""Bitwise comparison of small scenes with another checkout: a refactoring must change no result.

Frames are written to ``out/bench/bits``; ``SINEW_BITS_REFERENCE`` names a folder of such frames, also of this checkout,
to compare with.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from .. import pictures
from ..registry import Case, Row, row
from .library import Frames, Scene, compile_for, simulated
from .scenes import SCENES

SAME = 1e-12
"""Distance to the reference, in sizes of the body, that is treated as no change."""


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield one case per scene."""
    for name, make in SCENES.items():
        yield Case(name, partial(_scene, name, make))


def _scene(name: str, make: Callable[[], Scene]) -> Iterable[Row]:
    scene, reference = make(), os.environ.get("SINEW_BITS_REFERENCE")
    compile_for(scene)
    start = time.perf_counter()
    frames = simulated(scene)
    yield row(name, "prepared and simulated in", time.perf_counter() - start, "s")
    yield row(name, "surface", sha(frames.surface))
    yield row(name, "states", sha(frames.positions, frames.velocities))
    if reference:
        yield from compared(name, frames, Path(reference))
    _keep(name, frames)
    way = _distances(frames.surface, frames.surface[:1])
    curve = pictures.Curve("farthest vertex", range(len(way)), way)
    pictures.draw("bits", name, [pictures.Plot(name, "frame", "from the first frame / size", [curve])])


def compared(name: str, frames: Frames, folder: Path) -> Iterator[Row]:
    """Yield the largest distance from the surface in the folder, infinite if that is missing or different, and whether
    all bits are equal.
    """
    path = folder / f"{name}.npz"
    other = _read(path) if path.is_file() else None
    far, same = np.inf, False
    if other is not None and frames.surface.shape == other.surface.shape:
        far = float(_distances(frames.surface, other.surface).max())
        same = all(np.array_equal(a, b) for a, b in zip(frames, other, strict=True))
    yield row(name, "farthest from the reference, of its size", far, "", at_most=SAME)
    yield row(name, "same bits", "yes" if same else "no")


def sha(*arrays: np.ndarray) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of arrays."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array))
    return digest.hexdigest()[:16]


def _distances(surface: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the largest distance at each frame (f,), in sizes of the body."""
    size = np.linalg.norm(np.ptp(surface[0], axis=0))
    return np.linalg.norm(surface - other, axis=2).max(axis=1) / size


def _read(path: Path) -> Frames:
    with np.load(path, allow_pickle=False) as archive:
        return Frames(**archive)


def _keep(name: str, frames: Frames) -> None:
    path = pictures.FOLDER / "bits" / f"{name}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **frames._asdict())
