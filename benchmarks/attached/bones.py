"""Bodies with a bone inside, and the motions of the bone."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from ...core.foundation.schema.settings import MaterialSettings, ResolutionSettings, SolverSettings
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.jobs.job.body import Body
from ...core.jobs.job.job import Job
from ...core.mechanics.constraints.kinematic_region import KinematicRegion
from ..physics.lattice import cube_surface

SIZE = (0.8, 0.2, 0.2)
FLESH = MaterialSettings("Flesh", 5e4, 0.45)
FRAMES = 25
"""Frames of a motion at 24 frames a second."""


def box(size: tuple[float, ...], cells: tuple[int, ...], low: tuple[float, ...] = (0.0, 0.0, 0.0)) -> SurfaceMesh:
    """Return the surface of a box of some size, m, with ``cells`` quads along each side."""
    surface = cube_surface(np.ones(cells, dtype=bool), size)
    return SurfaceMesh(surface.positions + low, surface.triangles)


def swinging(X: np.ndarray, frames: int = FRAMES, angle: float = 0.6, centre: tuple[float, ...] = (0.0, 0.1, 0.1)):
    """Return points (n,3) m that swing about y through ``centre``, to an angle and back in a second, (frames,n,3)."""
    turns = angle * np.sin(2.0 * np.pi * np.arange(frames) / 24.0)
    R = Rotation.from_rotvec(turns[:, None] * [0.0, 1.0, 0.0]).as_matrix()
    return (X - centre) @ R.swapaxes(1, 2) + centre


def bent(X: np.ndarray, angle: float) -> np.ndarray:
    """Return points of a bar along x, from 0, after pure bending by ``angle`` over 1 m about y through z = 0.1 m."""
    if angle == 0.0:
        return X.copy()
    radius, turn, height = 1.0 / angle, angle * X[:, 0], X[:, 2] - 0.1
    arm = radius - height
    return np.column_stack([arm * np.sin(turn), X[:, 1], 0.1 + radius - arm * np.cos(turn)])


def limb(solver: str, bone: KinematicRegion | None, cells: int = 24, frames: int = FRAMES, **settings) -> Job:
    """Return a bar of flesh around a bone; without a bone, of flesh alone."""
    body = Body(
        surface=box(SIZE, (16, 4, 4)),
        materials=FLESH,
        regions=() if bone is None else bone,
        resolution=ResolutionSettings(cells_across=cells),
        solver=SolverSettings(solver=solver, **settings),
    )
    return Job(bodies=body, frame_end=frames)


def rigid_bone(frames: int = FRAMES) -> KinematicRegion:
    """Return a bone along three quarters of the limb that swings."""
    surface = box((0.6, 0.06, 0.06), (12, 2, 2), (0.03, 0.07, 0.07))
    return KinematicRegion("Bone", surface, swinging(surface.positions, frames))


def bent_bone(frames: int = FRAMES, angle: float = 1.0) -> KinematicRegion:
    """Return the bone of :func:`rigid_bone` that bends and straightens."""
    surface = rigid_bone(1).surface
    angles = angle * np.sin(2.0 * np.pi * np.arange(frames) / 24.0)
    return KinematicRegion("Bone", surface, np.stack([bent(surface.positions, each) for each in angles]))


def with_surface_pins(job: Job) -> Job:
    """Return a job whose bone moves surface pins around it instead of the flesh within it."""
    (bone,) = job.body.regions
    X = job.body.surface.positions
    low, high = bone.surface.positions.min(axis=0)[0], bone.surface.positions.max(axis=0)[0]
    pinned = np.flatnonzero((X[:, 0] >= low) & (X[:, 0] <= high))
    held = np.ones((job.frame_count, len(pinned)), dtype=bool)
    return job.with_body(regions=(), pinned_vertices=pinned, pin_positions=bone.follow(X[pinned]), pin_held=held)
