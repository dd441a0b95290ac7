"""Motion of an exported object as a whole: location, rotation and scale at each frame."""

from __future__ import annotations

from typing import Any

import numpy as np
from mathutils import Matrix

from ....core.geometry.animation.rigid_motions import fitted_motions
from ...scene_import.mesh_in import transform
from ..linear_keys import key_linearly

SHEAR = 1e-5
"""Largest coefficient of a matrix that location, rotation and scale may miss, relative to its largest."""


def split_root(positions: np.ndarray, matrices: np.ndarray, follows_body: bool) -> tuple[list[Matrix], np.ndarray]:
    """Return the matrices of an object at each frame, and its vertices (f,n,3) in its coordinates.

    Parameters
    ----------
    positions : (f,n,3), vertices in object coordinates
    matrices : (f,4,4), from object coordinates to the world
    follows_body : True: the object follows the rigid part of the motion of its vertices. False: it keeps its own
        animation. An object with shear, which no engine has, stays at the origin
    """
    roots = [Matrix(matrix.tolist()) for matrix in matrices]
    if any(_has_shear(root) for root in roots):
        roots = [Matrix.Identity(4)] * len(roots)
    world = np.array([transform(matrix, points) for matrix, points in zip(matrices, positions)])
    if follows_body:
        roots = [Matrix(motion.tolist()) @ roots[0] for motion in fitted_motions(world[0], world)]
    inverse = [np.array(root.inverted_safe(), dtype=np.float64) for root in roots]
    return roots, np.array([transform(matrix, points) for matrix, points in zip(inverse, world)])


def _has_shear(matrix: Matrix) -> bool:
    whole = np.array(matrix)
    return bool(np.abs(np.array(Matrix.LocRotScale(*matrix.decompose())) - whole).max() > SHEAR * np.abs(whole).max())


def key_transform(owner: Any, prefix: str, matrices: list[Matrix], times: np.ndarray) -> None:
    """Key location, rotation and scale of an object, or of a bone of an armature, if they change.

    ``owner``: the object. ``prefix``: data path of the bone with its full stop, or "". ``matrices``: at the ``times``.
    """
    parts = [matrix.decompose() for matrix in matrices]
    for (_, before, _), (_, turn, _) in zip(parts, parts[1:]):
        turn.make_compatible(before)
    target = owner.path_resolve(prefix.removesuffix(".")) if prefix else owner
    target.rotation_mode = "QUATERNION"
    for name, values in zip(("location", "rotation_quaternion", "scale"), zip(*parts)):
        setattr(target, name, values[0])
        if np.ptp(np.array(values), axis=0).max() > 0.0:
            key_linearly(owner, f"{prefix}{name}", times, np.array(values, dtype=np.float64))
