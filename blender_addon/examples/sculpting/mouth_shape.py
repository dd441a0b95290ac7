"""Shapes of the creature of *Hydrostatic Tongue*: its tongue, lower jaw, head, teeth and eyes. It looks along -Y.

Lengths are in m. The head is open by ``OPEN`` about a hinge at the back of the jaw.
"""

from __future__ import annotations

import math

import numpy as np

from ..shapes import SIDES, Part, ball
from .signed_distances import Solid, carved, ellipsoid, globe, joined, on_surface, shell

ROOT, TIP, WIDE, THICK = 0.05, -0.055, 0.026, 0.012
"""Y coordinates of both ends of the tongue, half its width and half its thickness."""
RINGS, AROUND = 56, 48
HINGE, OPEN = np.array([0.0, 0.075, -0.008]), math.radians(33.0)
BODY, MOUTH = (0.16, 0.20, 0.46), (0.20, 0.015, 0.03)
EYE, EYE_RADIUS = (0.029, -0.038, 0.058), 0.0235
"""Centre of the eye at +X before the head is opened, and its radius."""
_JAW_HOLE = ellipsoid((0.0, -0.004, -0.012), (0.052, 0.066, 0.014))
_HEAD_HOLE = ellipsoid((0.0, -0.004, 0.0), (0.052, 0.068, 0.012))


def tongue_size(part: float) -> tuple[float, float, float]:
    """Return half the width, half the thickness and the height of the middle of the tongue at a part of its length."""
    root, tip = min(part / 0.12, 1.0), min((1.0 - part) / 0.28, 1.0)
    rounding = math.sqrt(max(1.0 - (1.0 - root) ** 2, 0.0)) * math.sqrt(max(1.0 - (1.0 - tip) ** 2, 0.0)) + 0.02
    slim = 1.0 - 0.12 * math.sin(math.pi * part) - 0.1 * part
    thick = THICK * (1.35 - 0.65 * part) * rounding**0.8
    return WIDE * slim * rounding, thick, 0.004 * math.sin(math.pi * part) - 0.006 * (1.0 - part)


def tongue_rings() -> list[list[tuple[float, float, float]]]:
    """Return the rings of the tongue from its root to its tip, with a groove along its back."""
    rings = []
    for part in 0.5 * (1.0 - np.cos(np.linspace(0.0, math.pi, RINGS))):
        wide, thick, middle = tongue_size(float(part))
        ring = []
        for angle in np.linspace(0.0, 2.0 * math.pi, AROUND, endpoint=False):
            c, s = math.cos(angle), math.sin(angle)
            x, z = wide * math.copysign(abs(c) ** 0.85, c), thick * math.copysign(abs(s) ** 0.85, s)
            groove = 0.003 * math.exp(-((x / 0.004) ** 2)) * math.sin(math.pi * part) if s > 0.0 else 0.0
            ring.append((x, ROOT + part * (TIP - ROOT), middle + z - groove))
        rings.append(ring)
    return rings


def _jaw() -> Solid:
    chin = joined(
        0.02, ellipsoid((0.0, 0.004, -0.034), (0.066, 0.083, 0.030)), ellipsoid((0.0, -0.03, -0.05), (0.04, 0.04, 0.02))
    )
    return carved(0.007, chin, lambda points: -(points[:, 2] + 0.014), _JAW_HOLE)


def _head() -> Solid:
    brows = (ellipsoid((side * EYE[0], EYE[1] + 0.012, EYE[2] - 0.006), (0.025, 0.022, 0.024)) for side in SIDES)
    nose = (ellipsoid((side * 0.010, -0.074, 0.024), (0.010, 0.010, 0.008)) for side in SIDES)
    crown = joined(0.016, ellipsoid((0.0, 0.004, 0.004), (0.066, 0.083, 0.062)), *brows, *nose)
    return carved(0.007, crown, lambda points: points[:, 2], _HEAD_HOLE)


def opened(points: np.ndarray) -> np.ndarray:
    """Return ``points`` (n,3) of the closed head after it is opened about the hinge."""
    c, s = math.cos(OPEN), math.sin(OPEN)
    return (np.asarray(points) - HINGE) @ np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]]) + HINGE


def skin() -> tuple[list[Part], np.ndarray]:
    """Return the parts of jaw, head and nape, and the colours (n,4) of their vertices: dark inside the mouth."""
    vectors, faces = globe(np.linspace(0.0, math.pi, 90)[1:-1], np.linspace(-math.pi, math.pi, 121)[:-1])
    nape, parts, colours = ellipsoid((0.0, 0.068, -0.006), (0.057, 0.028, 0.032)), [], []
    for solid, hole, centre in ((_jaw(), _JAW_HOLE, (0.0, 0.0, -0.04)), (_head(), _HEAD_HOLE, (0.0, 0.0, 0.04))):
        points = on_surface(solid, centre, vectors)
        inside = np.clip(0.5 - (hole(points) - 0.0035) / 0.002, 0.0, 1.0)[:, None]
        colours.append(BODY + inside * (np.array(MOUTH) - BODY))
        parts.append(shell(points if centre[2] < 0.0 else opened(points), faces))
    points = on_surface(nape, (0.0, 0.068, -0.006), vectors)
    parts.append(shell(points, faces))
    colours.append(np.where((points[:, 1:2] < 0.062) & (np.abs(points[:, :1]) < 0.05), MOUTH, BODY))
    return parts, np.column_stack([np.concatenate(colours), np.ones(3 * len(vectors))])


def teeth() -> list[Part]:
    """Return teeth along the rims of jaw and head."""
    angles = np.linspace(-1.2, 1.2, 11)
    rim = np.column_stack([0.057 * np.sin(angles), 0.002 - 0.0725 * np.cos(angles), np.zeros(len(angles))])
    upper = opened(rim + (0.0, 0.0, 0.0005))
    lower = rim[np.abs(angles) > 0.5] + (0.0, 0.0, -0.014)  # the tongue leaves between them
    return [ball(point, (0.0055, 0.0048, 0.0085), 20) for point in (*lower, *upper)]


def eyes(ahead: float, radius: float) -> list[Part]:
    """Return balls of a ``radius``, ``ahead`` of the centres of the eyes in the direction in which they look."""
    middle = opened([(side * EYE[0], EYE[1], EYE[2]) for side in SIDES])
    return [ball(point, radius, 40) for point in middle + np.array([0.0, -0.98, -0.1]) * ahead]
