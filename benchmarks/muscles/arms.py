"""Jobs with muscles along curves, in Statics: an arm of flesh on two bones, and a bar with two bellies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...core.foundation.schema.muscle_settings import MuscleSettings
from ...core.foundation.schema.settings import MaterialSettings, ResolutionSettings, SolverSettings
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.jobs.job.body import Body
from ...core.jobs.job.job import Job
from ...core.jobs.job.muscle import FibreCurve, Muscle
from ...core.mechanics.fibres.tubes import tube
from ...core.mechanics.materials.layer import Layer
from ...core.simulation.frame_loop.single_body import simulate_body
from ...core.simulation.preparation.prepare import Prepared
from ..registry import Case

BICEPS = np.array(
    [[0, -0.018, 0.285], [0, -0.03, 0.225], [0, -0.034, 0.15], [0, -0.034, 0.085], [0, -0.066, 0.014]], dtype=float
)
"""Points of the biceps, m."""
BICEPS_RADII = 0.028 * np.array([0.45, 0.8, 1.0, 0.7, 0.4])
RISING = 4
"""Frames in which the activation rises to that of a pose; in two more it stays."""


def cases(data: Path | None) -> Iterator[Case]:
    """Yield nothing: this module has no case."""
    yield from ()


def arm(pose: Sequence[float] = (1.0,), cells: int = 28, **solver: object) -> Job:
    """Return an arm like that of the example Curling Arm: flesh, two bones, a weight in the hand, and a biceps.

    ``pose``: activation of the biceps. ``cells``: cells along the longest side. ``solver``: solver settings.
    """
    bend, angles = 0.05, np.linspace(0.0, 0.5 * np.pi, 7)
    corner = np.column_stack([0.0 * angles, bend * (np.cos(angles) - 1.0), bend * (1.0 - np.sin(angles))])
    hand = [[0, -0.15, -0.01], [0, -0.26, -0.02], [0, -0.335, -0.022]]
    points = np.vstack([[[0, 0, 0.31], [0, 0, 0.2]], corner, hand])
    radii = np.concatenate([[0.058, 0.054], np.full(7, 0.047), [0.039, 0.034, 0.03]])
    humerus = tube(np.array([[0, 0.004, 0.34], [0, 0.004, 0.015]]), np.array([0.015, 0.013]))
    forearm = tube(np.array([[0, -0.012, 0.0], [0, -0.29, -0.022]]), np.array([0.015, 0.013]))
    weight = tube(np.array([[0, -0.265, -0.022], [0, -0.315, -0.022]]), np.array([0.024, 0.024]))
    settings = MuscleSettings(strength=5e5, shortening=0.55, passive=0.05)
    return _job(
        tube(points, radii),
        lambda X: X[:, 2] > 0.29,
        (
            MaterialSettings("Flesh", 2e4, 0.45, 1050.0),
            MaterialSettings("Bone", 1e8, 0.45, 1050.0),
            MaterialSettings("Weight", 1e8, 0.45, 7800.0),
            MaterialSettings("Biceps", 3e4, 0.49, 1050.0),
        ),
        (Layer(1, (humerus, forearm)), Layer(2, (weight,))),
        ((3, settings, (FibreCurve(BICEPS, BICEPS_RADII),)),),
        pose,
        cells,
        {"gravity": (0.0, 0.0, 0.0)} | solver,
    )


def bellies(
    pose: Sequence[float] = (1.0, 1.0), cells: int = 28, passive: float = 0.1, strength: float = 9e5, **solver: object
) -> Job:
    """Return a bar 5:1 with two ellipsoid bellies, above and below its axis. ``pose``: their activations."""
    t = np.linspace(0.0, 1.0, 9)
    points = np.column_stack([0.1 + 0.3 * t, 0.0 * t, 0.0 * t])
    radii = 0.02 * np.sqrt(np.maximum(4.0 * t * (1.0 - t), 0.15))
    settings = MuscleSettings(strength=strength, passive=passive)
    flesh = MaterialSettings("Flesh", 3e4, 0.45, 1e3)
    curves = [FibreCurve(points + [shift, 0.0, height], radii) for shift, height in ((-0.05, 0.025), (0.05, -0.025))]
    x = np.linspace(0.0, 0.5, 26)
    surface = tube(np.column_stack([x, 0.0 * x, 0.0 * x]), np.full(len(x), 0.055))
    return _job(
        surface,
        lambda X: X[:, 0] < 0.03,
        (flesh, replace(flesh, name="Above"), replace(flesh, name="Below")),
        (),
        tuple((1 + k, settings, (curve,)) for k, curve in enumerate(curves)),
        pose,
        cells,
        {"gravity": (0.0, 0.0, 0.0)} | solver,
    )


def _job(surface: SurfaceMesh, held, materials, layers, muscles, pose, cells, solver) -> Job:
    rising = np.minimum(np.arange(RISING + 3) / RISING, 1.0)
    body = Body(
        surface=surface,
        materials=materials,
        layers=layers,
        pinned_vertices=np.flatnonzero(held(surface.positions)),
        resolution=ResolutionSettings(cells_across=cells),
        muscles=tuple(
            Muscle(material, settings, activation * rising, curves=curves)
            for activation, (material, settings, curves) in zip(pose, muscles, strict=True)
        ),
        solver=SolverSettings(**{"integrator": "statics", "max_iterations": 60} | solver),
    )
    return Job(bodies=(body,), frame_end=RISING + 3)


def posed(job: Job, prepared: Prepared) -> np.ndarray:
    """Return the surface vertices (n,3), m, in the last frame."""
    *_others, last = simulate_body(job, prepared)
    return prepared.surface(last.state.positions, job.frame_count - 1)
