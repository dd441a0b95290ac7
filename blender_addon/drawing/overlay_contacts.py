"""Contact pressure and contact surface of a body, read from disk.

This module imports Numba, so it is imported only when the overlay is shown.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.foundation.errors import StoreError
from ...core.geometry.mesh.topology import edges_of
from ...core.jobs.store.cached_contact import cached_contact_surface
from ...core.jobs.store.frame_store import FrameStore
from ..cache import frame_folders
from .preview_colours import stiffness_colours

LEVELS = 6
"""Number of colours for pressures."""
DECADES = 3.0
"""Decades of pressure, down from the maximum, that the colours cover."""


class Pushed(NamedTuple):
    """Vertices under contact pressure at a frame.

    ``vertices`` (k,): indices of the vertices.
    ``levels`` (k,): indices of the vertices' colours in :func:`colours`.
    ``range``: lowest and highest pressure that the colours cover, Pa.
    """

    vertices: np.ndarray
    levels: np.ndarray
    range: tuple[float, float]


def colours() -> np.ndarray:
    """Return the linear colours of the pressure levels, (LEVELS,3), from low to high pressure."""
    return stiffness_colours(np.linspace(0.0, 1.0, LEVELS))


def store_of(obj: Any) -> FrameStore | None:
    """Return the store of a body's baked frames, or None if the store does not exist."""
    folder = frame_folders.recorded_folder(obj)
    store = None if folder is None else FrameStore(folder)
    return store if store is not None and store.exists() else None


def pushed_at(store: FrameStore, frame: int) -> Pushed | None:
    """Return the vertices under contact pressure at a frame.

    Returns None without contact, or if the frame is missing.
    """
    try:
        pressure = store.pressure(frame)
    except StoreError:
        return None
    if pressure is None or not pressure.any():
        return None
    high = float(pressure.max())
    low = max(float(pressure[pressure > 0.0].min()), high * 10.0**-DECADES)
    vertices = np.flatnonzero(pressure > 0.0)
    part = np.log(np.maximum(pressure[vertices], low) / low) / max(np.log(high / low), 1e-9)
    return Pushed(vertices, np.minimum((LEVELS * part).astype(int), LEVELS - 1), (low, high))


def touching_lines(store: FrameStore) -> tuple[np.ndarray, np.ndarray]:
    """Return the lines and the excluded vertices of the contact surface at rest, in object space.

    The results are the ends (2l,3) of the surface's l edges, and the positions (k,3) of the vertices that are excluded
    from self-contact. Both arrays are empty if the surface is not on disk.
    """
    found = cached_contact_surface(store)
    if found is None:
        return np.empty((0, 3)), np.empty((0, 3))
    to_own = np.linalg.inv(found.object_to_world)
    positions = found.rest @ to_own[:3, :3].T + to_own[:3, 3]
    return positions[edges_of(found.faces)].reshape(-1, 3), positions[found.through]
