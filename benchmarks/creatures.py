"""Bodies after those of [SubMFEM23], built in code from cubes: a crab, a pendulum, a swordsman and a sweet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..core.geometry.mesh.tet_mesh import TetMesh
from ..core.geometry.mesh.topology import components
from ..core.methods.model.model import Model, build_model
from .bodies import block

POISSON, DENSITY = 0.45, 1e3
ENERGY = "fixed_corotated"
"""Energy of [SubMFEM23] Sec. 7."""

Shape = Callable[[np.ndarray], np.ndarray]
"""Function that returns the mask (k,) of points (k,3) that are inside."""


def carved(low: Sequence[float], high: Sequence[float], cell: float, inside: Shape) -> TetMesh:
    """Return the largest connected component of a grid's cubes whose centres are inside, as tets; metres."""
    size = np.asarray(high) - low
    cells = tuple(int(n) for n in np.round(size / cell))
    whole = block(cells, tuple(size))
    centres = whole.rest_positions[whole.tets.reshape(-1, 24)].mean(axis=1)
    kept = whole.tets.reshape(-1, 6, 4)[inside(centres + low)].reshape(-1, 4)
    part = components(kept, len(whole.rest_positions))
    used, tets = np.unique(kept[part == np.argmax(np.bincount(part))], return_inverse=True)
    return TetMesh(whole.rest_positions[used] + low, tets.reshape(-1, 4))


def capsule(p: np.ndarray, start: Sequence[float], end: Sequence[float], radius: float) -> np.ndarray:
    """Return the mask of points within a radius of the segment from start to end."""
    a, d = np.asarray(start, dtype=float), np.subtract(end, start)
    t = np.clip((p - a) @ d / (d @ d), 0.0, 1.0)
    return np.linalg.norm(p - a - t[:, None] * d, axis=1) <= radius


def ellipsoid(p: np.ndarray, centre: Sequence[float], radii: Sequence[float]) -> np.ndarray:
    """Return the mask of points in an ellipsoid."""
    return np.linalg.norm((p - centre) / np.asarray(radii), axis=1) <= 1.0


def _near(p: np.ndarray, places: Sequence[Sequence[float]], radius: float) -> np.ndarray:
    """Return the mask of points within a radius of one of the positions."""
    return np.any([np.linalg.norm(p - place, axis=1) <= radius for place in np.asarray(places, dtype=float)], axis=0)


def _limbs() -> list[tuple[tuple[float, float, float], ...]]:
    """Return hip, knee and foot of a crab's eight legs and two claws, m."""
    legs = [
        ((0.9 * x, 0.3 * side, 0.45), (1.5 * x, 0.8 * side, 0.75), (1.9 * x, 1.05 * side, 0.05))
        for side in (1.0, -1.0)
        for x in (-0.36, -0.12, 0.12, 0.36)
    ]
    claws = [((0.4, 0.2 * s, 0.45), (0.85, 0.5 * s, 0.5), (1.15, 0.15 * s, 0.5)) for s in (1.0, -1.0)]
    return legs + claws


def crab(cell: float = 0.04) -> Model:
    """Return a crab of 2 m: shell of 1e10 Pa, joints of 1e6 Pa, held at the foot of a hind leg ([SubMFEM23] Fig. 2)."""
    limbs = _limbs()
    joints = [np.add(np.multiply(0.6, hip), np.multiply(0.4, knee)) for hip, knee, _foot in limbs]
    joints += [knee for _hip, knee, _foot in limbs]

    def inside(p: np.ndarray) -> np.ndarray:
        parts = [ellipsoid(p, (0.0, 0.0, 0.45), (0.58, 0.42, 0.22))]
        parts += [capsule(p, *ends, 0.075) for limb in limbs for ends in (limb[:2], limb[1:])]
        parts += [ellipsoid(p, limb[2], (0.2, 0.12, 0.1)) for limb in limbs[8:]]
        return np.any(parts, axis=0)

    mesh = carved((-0.8, -1.16, -0.04), (1.4, 1.16, 0.88), cell, inside)
    E = np.where(_near(mesh.rest_positions[mesh.tets].mean(axis=1), joints, 0.12), 1e6, 1e10)
    foot = np.linalg.norm(mesh.rest_positions - limbs[0][2], axis=1) < 0.1
    return build_model(mesh, E, POISSON, DENSITY, ENERGY, pinned=np.flatnonzero(foot))


def pendulum(cell: float = 0.03) -> Model:
    """Return two blocks on thin strands, held at the top, uniform stiffness ([SubMFEM23] Figs. 13, 16); 2.2 m long."""

    def inside(p: np.ndarray) -> np.ndarray:
        x, y, z = np.abs(p).T
        strand = (x < 0.06) & (y < 0.06)
        blocks = (x < 0.24) & (y < 0.24) & (((z > 0.6) & (z < 1.02)) | (z > 1.68))
        return strand | blocks

    mesh = carved((-0.24, -0.24, -2.16), (0.24, 0.24, 0.0), cell, inside)
    X = mesh.rest_positions
    return build_model(mesh, 1e6, POISSON, DENSITY, ENERGY, pinned=np.flatnonzero(X[:, 2] > -0.5 * cell))


class Swordsman(NamedTuple):
    """A body, the tets of its sword (m,) bool, and the vertices of the end of its tail."""

    model: Model
    sword: np.ndarray
    tail: np.ndarray


def swordsman(cell: float = 0.05) -> Swordsman:
    """Return a soft figure of 5e5 Pa with a sword of 1e12 Pa, held at its feet ([SubMFEM23] Fig. 7); 2 m along z."""
    tip, grip = (0.95, -0.3, 1.9), (0.55, -0.3, 0.95)
    tail = ((-0.1, 0.0, 0.7), (-0.6, 0.0, 0.35), (-1.15, 0.0, 0.35))

    def inside(p: np.ndarray) -> np.ndarray:
        parts = [ellipsoid(p, (0.0, 0.0, 1.0), (0.24, 0.3, 0.45)), ellipsoid(p, (0.1, 0.0, 1.6), (0.25, 0.2, 0.2))]
        parts += [capsule(p, (0.0, s * 0.18, 0.75), (0.0, s * 0.22, 0.0), 0.11) for s in (1.0, -1.0)]
        parts += [capsule(p, (0.0, s * 0.22, 1.25), (0.55, s * 0.3, 0.95), 0.085) for s in (1.0, -1.0)]
        parts += [capsule(p, tail[0], tail[1], 0.13), capsule(p, tail[1], tail[2], 0.09), capsule(p, grip, tip, 0.065)]
        return np.any(parts, axis=0)

    mesh = carved((-1.3, -0.5, 0.0), (1.1, 0.5, 2.0), cell, inside)
    X = mesh.rest_positions
    stiff = capsule(X[mesh.tets].mean(axis=1), grip, tip, 0.065 + 0.6 * cell)
    E = np.where(stiff, 1e12, 5e5)
    model = build_model(mesh, E, POISSON, DENSITY, ENERGY, pinned=np.flatnonzero(X[:, 2] < 0.5 * cell))
    return Swordsman(model, stiff, np.flatnonzero(np.linalg.norm(X - tail[2], axis=1) < 0.12))


def sweet(cell: float = 0.05) -> Model:
    """Return a wrapped sweet of 2 m along x: a ball of 1e10 Pa, flared ends of 1e6 Pa ([SubMFEM23] Fig. 8)."""

    def inside(p: np.ndarray) -> np.ndarray:
        across, along = np.linalg.norm(p[:, 1:], axis=1), np.abs(p[:, 0])
        return (np.linalg.norm(p, axis=1) < 0.4) | (across < 0.12 + 0.25 * np.clip(along - 0.5, 0.0, None) * 2.0)

    mesh = carved((-1.0, -0.4, -0.4), (1.0, 0.4, 0.4), cell, inside)
    away = np.linalg.norm(mesh.rest_positions[mesh.tets].mean(axis=1), axis=1)
    E = np.where(away < 0.4 + 0.6 * cell, 1e10, 1e6)
    return build_model(mesh, E, POISSON, DENSITY, ENERGY)
