"""Shapes of the face of *Face of Six Muscles*: signed distances of its skin, skull, hair and ears, and its colours.

The face looks along -Y. Its origin is between the ears. Lengths are in m.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..shapes import SIDES, Part
from .signed_distances import Solid, carved, ellipsoid, globe, joined, offset, on_surface, rod, shell

SKIN, LIPS, BROWS, GAP = (0.80, 0.47, 0.34), (0.68, 0.29, 0.23), (0.07, 0.028, 0.012), (0.14, 0.03, 0.03)
"""Colours of the skin, of lips and eyebrows, and of the gap between the lips."""
CENTRE = (0.0, -0.011, -0.01)
EYE, EYE_RADIUS = (0.036, -0.066, 0.010), 0.0235
"""Centre of the eye at +X, and its radius."""
BONE = 0.012
"""Depth of the skull below the cranium and the jaw."""


def _arc(wide: float, z: float, y: float, bend: float, back: float) -> np.ndarray:
    """Return 17 points of an arc along the mouth. Its ends at ``wide`` are ``bend`` higher and ``back`` behind."""
    x = np.linspace(-wide, wide, 17)
    part = (x / wide) ** 2
    return np.column_stack([x, y + back * part, z + bend * part])


ALONG = np.linspace(-1.0, 1.0, 17) ** 2
UPPER_LIP, UPPER_RADII = _arc(0.032, -0.0560, -0.0935, -0.003, 0.022), 0.0075 * np.sqrt(1.0 - 0.85 * ALONG)
LOWER_LIP, LOWER_RADII = _arc(0.028, -0.0695, -0.0915, 0.003, 0.019), 0.0088 * np.sqrt(1.0 - 0.80 * ALONG)
MOUTH, MOUTH_RADII = _arc(0.037, -0.0622, -0.1010, 0.0015, 0.027), 0.0032 - 0.0012 * ALONG
BROW = ((0.014, -0.0955, 0.039), (0.030, -0.0985, 0.0475), (0.046, -0.090, 0.0465), (0.060, -0.073, 0.036))
BROW_RADII = (0.0045, 0.0058, 0.0050, 0.0026)


def _sided(points: Any, side: float) -> np.ndarray:
    return np.array(points) * (side, 1.0, 1.0)


def _base() -> Solid:
    return joined(
        0.05,
        ellipsoid((0.0, 0.016, 0.045), (0.088, 0.098, 0.088)),
        ellipsoid((0.0, -0.012, -0.04), (0.072, 0.076, 0.076)),
    )


def skull() -> Solid:
    """Return the bone of the head and the neck."""
    neck = rod([(0.0, 0.024, -0.06), (0.0, 0.028, -0.2)], (0.026, 0.026))
    return joined(0.03, offset(_base(), -BONE), neck)


def skin() -> Solid:
    """Return the head with brows, eye sockets, nose, lips and neck, without ears."""
    ridge = (0.010, -0.090, 0.036), (0.036, -0.090, 0.043), (0.060, -0.066, 0.034)
    head = joined(
        0.035,
        _base(),
        ellipsoid((0.0, -0.066, -0.1), (0.030, 0.022, 0.020)),
        rod([(0.0, 0.02, -0.06), (0.0, 0.026, -0.125), (0.0, 0.03, -0.15)], (0.042, 0.043, 0.05)),
        *(ellipsoid((side * 0.044, -0.058, -0.03), (0.030, 0.026, 0.027)) for side in SIDES),
    )
    head = joined(0.022, head, *(rod(_sided(ridge, side), (0.009, 0.011, 0.008)) for side in SIDES))
    head = carved(0.016, head, *(ellipsoid((side * 0.036, -0.1, 0.01), (0.026, 0.024, 0.020)) for side in SIDES))
    nose = joined(
        0.012,
        rod([(0.0, -0.088, 0.024), (0.0, -0.101, 0.0), (0.0, -0.1155, -0.021)], (0.0075, 0.0085, 0.0145)),
        *(ellipsoid((side * 0.0145, -0.104, -0.0245), (0.0095, 0.010, 0.0085)) for side in SIDES),
    )
    lips = joined(0.004, rod(UPPER_LIP, UPPER_RADII), rod(LOWER_LIP, LOWER_RADII))
    head = joined(0.008, joined(0.014, head, nose), lips)
    head = carved(0.004, head, rod(MOUTH, MOUTH_RADII))
    return joined(0.0035, head, *(rod(_sided(BROW, side), BROW_RADII) for side in SIDES))


def head() -> tuple[np.ndarray, list[tuple[int, ...]]]:
    """Return vertices (n,3) and faces of the skin, with poles at the ears and the smallest faces around the mouth."""
    part, turn = np.linspace(-1.0, 1.0, 117)[1:-1], np.linspace(-math.pi, math.pi, 177)[:-1]
    directions, faces = globe(0.5 * math.pi * (1.0 - 0.72 * part - 0.28 * part**3), turn - 0.62 * np.sin(turn))
    return on_surface(skin(), CENTRE, directions), faces


def colours(points: np.ndarray) -> np.ndarray:
    """Return the colours (n,4) of the skin at ``points`` (n,3): brows, lips, gap of the mouth, with soft borders."""
    found = np.tile(SKIN, (len(points), 1))
    for colour, soft, solids in (
        (LIPS, 0.0035, [rod(UPPER_LIP, UPPER_RADII + 0.0008), rod(LOWER_LIP, LOWER_RADII + 0.0008)]),
        (GAP, 0.0012, [rod(MOUTH, 0.0034 - 0.003 * ALONG)]),
        (BROWS, 0.0024, [rod(_sided(BROW, side), np.add(BROW_RADII, 0.0012)) for side in SIDES]),
    ):
        distance = np.min([solid(points) for solid in solids], axis=0)
        amount = np.clip(0.5 - distance / soft, 0.0, 1.0)[:, None]
        found = found + amount * (np.array(colour) - found)
    return np.column_stack([found, np.ones(len(found))])


def _turned(solid: Solid, centre: tuple[float, float, float], rows: int, columns: int) -> tuple[np.ndarray, Any]:
    vectors, faces = globe(np.linspace(0.0, math.pi, rows)[1:-1], np.linspace(-math.pi, math.pi, columns)[:-1])
    return on_surface(solid, centre, vectors), faces


def skull_part() -> Part:
    """Return the surface of the skull."""
    return shell(*_turned(skull(), CENTRE, 60, 81))


def hair_part() -> Part:
    """Return a cap of hair."""
    cap = joined(
        0.03, ellipsoid((0.0, 0.026, 0.062), (0.0925, 0.098, 0.083)), ellipsoid((0.0, 0.05, 0.02), (0.085, 0.075, 0.08))
    )
    locks = (
        ellipsoid((0.02, -0.068, 0.112), (0.045, 0.030, 0.028)),
        ellipsoid((-0.035, -0.045, 0.112), (0.040, 0.035, 0.028)),
        ellipsoid((0.058, -0.03, 0.095), (0.030, 0.040, 0.030)),
        ellipsoid((-0.066, -0.012, 0.085), (0.025, 0.040, 0.030)),
    )
    return shell(*_turned(joined(0.014, cap, *locks), (0.0, 0.03, 0.06), 70, 101))


def ear_parts() -> list[Part]:
    """Return both ears."""
    rim = (0.0, 0.0, 0.0), (0.006, 0.012, 0.02), (0.004, 0.03, 0.022), (0.001, 0.034, 0.004), (0.0, 0.022, -0.016)
    ear = joined(
        0.006,
        rod([*rim, (0.0, 0.006, -0.022)], (0.006, 0.006, 0.0065, 0.006, 0.006, 0.007)),
        ellipsoid((0.0, 0.012, 0.0), (0.006, 0.016, 0.020)),
    )
    points, faces = _turned(ear, (0.0, 0.014, 0.0), 40, 61)
    return [shell((points + (0.085, -0.018, -0.012)) * (side, 1.0, 1.0), faces) for side in SIDES]


def lid_parts(open_angles: tuple[float, float]) -> list[Part]:
    """Return upper and lower eyelids, which leave the eyes open between two ``open_angles`` from the front, rad."""
    low, high = open_angles
    parts = []
    for side in SIDES:
        for first, last, size in ((high, 2.6, 1.06), (-2.6, low, 1.05)):
            rows, columns = np.linspace(0.0, math.pi, 25)[1:-1], np.linspace(first, last, 17)
            a, b = (each.ravel() for each in np.meshgrid(rows, columns, indexing="ij"))
            out = np.column_stack([np.cos(a), -np.sin(a) * np.cos(b), np.sin(a) * np.sin(b)])
            k, m = len(columns), len(rows)
            quads = [
                (i * k + j, i * k + j + 1, i * k + k + j + 1, i * k + k + j) for i in range(m - 1) for j in range(k - 1)
            ]
            n = k * m
            quads += [tuple(n + corner for corner in quad) for quad in quads]
            quads += [
                (i * k + j, i * k + k + j, n + i * k + k + j, n + i * k + j) for i in range(m - 1) for j in (0, k - 1)
            ]
            centre = np.array(EYE) * (side, 1.0, 1.0)
            parts.append(shell(np.concatenate([size * out, 0.95 * size * out]) * EYE_RADIUS + centre, quads))
    return parts


def sweater_parts() -> list[Part]:
    """Return a roll neck and shoulders."""
    bust = joined(
        0.03,
        ellipsoid((0.0, 0.035, -0.215), (0.150, 0.075, 0.060)),
        rod([(0.0, 0.028, -0.2), (0.0, 0.026, -0.145)], (0.07, 0.056)),
    )
    roll = ellipsoid((0.0, 0.026, -0.132), (0.062, 0.060, 0.016))
    return [shell(*_turned(joined(0.008, bust, roll), (0.0, 0.03, -0.2), 70, 101))]
