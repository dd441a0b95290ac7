"""Stress and stretch on the surface of baked bodies against closed forms, and as the store keeps them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq
from sinew.core.foundation.schema.settings import MaterialSettings, ResolutionSettings, SolverSettings
from sinew.core.geometry.mesh.surface_stretch import principal_stretches
from sinew.core.jobs.job.body import Body
from sinew.core.jobs.job.job import Job
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.simulation.frame_loop.bake import bake

from ..jobs import box_surface

E, NU = 5e4, 0.3
MU, LAM = E / (2 + 2 * NU), E * NU / ((1 + NU) * (1 - 2 * NU))
LENGTH = 0.6


def pulled_bar(frames: int = 3, **solver) -> Job:
    """A bar of Neo-Hookean material whose ends are drawn apart, by 10 % of its length a frame."""
    surface = box_surface((LENGTH, 0.1, 0.1), (24, 4, 4))
    X = surface.positions
    pins = np.flatnonzero((X[:, 0] < 1e-9) | (X[:, 0] > LENGTH - 1e-9))
    pull = np.arange(frames)[:, None, None] * [0.1, 0.0, 0.0] * X[pins, :1]
    settings = dict(integrator="statics", gravity=(0.0, 0.0, 0.0), max_iterations=60)
    body = Body(
        surface=surface,
        materials=MaterialSettings("Rubber", E, NU, energy="neo_hookean"),
        pinned_vertices=pins,
        pin_positions=X[pins] + pull,
        resolution=ResolutionSettings(cells_across=24),
        solver=SolverSettings(**{**settings, **solver}),
    )
    return Job(bodies=body, frame_end=frames)


def uniaxial(stretch: float) -> tuple[float, float]:
    """Return the lateral stretch and the Cauchy stress of a free bar with an axial stretch."""

    def across(lateral: float) -> float:
        return MU * (lateral**2 - 1.0) + LAM * np.log(stretch * lateral**2)

    lateral = brentq(across, 0.3, 1.2)
    volume = stretch * lateral**2
    return lateral, (MU * (stretch**2 - 1.0) + LAM * np.log(volume)) / volume


@pytest.mark.parametrize("solver, off", [("newton", 0.03), ("mixed_fem", 0.03), ("subspace_mixed_fem", 0.2)])
def test_a_stretched_bar_has_the_uniaxial_stress(tmp_path, solver, off):
    """Twelve modes of a subspace bend the sides of the bar near its held ends too far towards the middle."""
    job = pulled_bar(solver=solver, modes=12)
    store = FrameStore.create(tmp_path / "bar", job, with_stress=True)
    assert bake(job, store) == "done"
    X = job.body.surface.positions
    middle = np.abs(X[:, 0] - 0.5 * LENGTH) < 0.05
    assert store.stress(1).max() < 1e-6 * E
    for frame in (2, 3):
        stretch, compression = principal_stretches(X, job.body.surface.triangles, store.read(frame))[middle].T
        lateral, stress = uniaxial(float(stretch.mean()))
        assert stretch.mean() == pytest.approx(1.0 + 0.1 * (frame - 1), rel=0.03)  # the held ends are stiffer
        np.testing.assert_allclose(compression, lateral, rtol=0.01)
        np.testing.assert_allclose(store.stress(frame)[middle], stress, rtol=off)


def test_a_resumed_bake_stores_the_same_stress(tmp_path):
    job = pulled_bar(solver="mixed_fem")
    whole, parts, without = (
        FrameStore.create(tmp_path / name, job, name != "without") for name in ("whole", "parts", "without")
    )
    bake(job, whole)
    bake(job, parts, until=2)
    bake(job, FrameStore.open(parts.folder), resume=True)
    bake(job, without)
    for frame in (1, 2, 3):
        assert np.array_equal(whole.stress(frame), parts.stress(frame))
        assert np.array_equal(whole.read(frame), without.read(frame)) and without.stress(frame) is None


def test_keyed_stiffness_scales_the_stress(tmp_path):
    """Twice the stiffness at the same displacements is twice the stress."""
    job = pulled_bar(frames=3, solver="newton")
    still = job.body.pin_positions.copy()
    still[2] = still[1]
    job = job.with_body(pin_positions=still, moduli=np.array([[E], [E], [2.0 * E]]))
    store = FrameStore.create(tmp_path / "bar", job, with_stress=True)
    bake(job, store)
    np.testing.assert_allclose(store.stress(3), 2.0 * store.stress(2), rtol=1e-3)


def test_plastic_flow_limits_the_stress(tmp_path):
    """A material that yields at 5 % without hardening carries no more than that strain, with every kind of solver."""
    yielding = replace(pulled_bar().body.materials[0], energy="stable_neo_hookean", yield_strain=0.05)
    for solver in ("newton", "subspace_mixed_fem"):
        job = pulled_bar(solver=solver, modes=4, integrator="backward_euler").with_body(materials=(yielding,))
        store = FrameStore.create(tmp_path / solver, job, with_stress=True)
        bake(job, store)
        assert 0.0 < store.stress(3).max() < 0.2 * E
