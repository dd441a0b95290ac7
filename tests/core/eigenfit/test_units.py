"""A body at another length, with stiffness and loads scaled so that times stay, chooses, vibrates and moves the same.

All lengths by s, moduli and pressures by s², accelerations and speeds by s: omega² ~ E / (rho L²) stays. The bodies are
symmetric or lattices, where choices would hang on round-off.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sinew.benchmarks.bodies import block, mirrored_block
from sinew.core.geometry.mesh.tet_mesh import TetMesh
from sinew.core.methods.eigenfit.matching import find_spectra, pair
from sinew.core.methods.eigenfit.methods import METHODS
from sinew.core.methods.eigenfit.trial_simulation import reference_trajectory
from sinew.core.methods.model.model import Model, build_model
from sinew.core.methods.subspaces.material_parts import material_parts
from sinew.core.methods.subspaces.reduced_model import skinning_subspace
from sinew.core.simulation.frame_loop.single_body import simulate_body
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import changed, shaken_bar

SCALES = (1.0 / 1024.0, 1e-3, 3.0, 100.0)


def ball() -> TetMesh:
    """A cube that is symmetric about its middle, rounded to a ball."""
    mesh = mirrored_block((4, 4, 4), (2.0, 2.0, 2.0))
    X = mesh.rest_positions - mesh.rest_positions.mean(axis=0)
    away = np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-9)
    return TetMesh(0.2 * X * np.abs(X).max(axis=1, keepdims=True) / away, mesh.tets)


BODIES = {
    "plate": lambda: (block((8, 8, 1), (0.3, 0.3, 0.04)), 0.3),
    "bar": lambda: (block((8, 2, 2), (0.4, 0.1, 0.1)), 0.45),
    "ball": lambda: (ball(), 0.4),
}


def scaled(body: str, s: float) -> Model:
    """A body, held at its lower end of x, of a modulus that rises along y by a factor of thirty."""
    mesh, nu = BODIES[body]()
    X = mesh.rest_positions
    y = X[mesh.tets, 1].mean(axis=1)
    E = 2e5 * 30.0 ** ((y - y.min()) / np.ptp(y))
    held = np.flatnonzero(X[:, 0] < X[:, 0].min() + 0.1 * np.ptp(X[:, 0]))
    return build_model(TetMesh(s * X, mesh.tets), s * s * E, nu, 1e3, pinned=held)


@cache
def chosen(body: str, s: float):
    """A model with its subspace and spectra."""
    model = scaled(body, s)
    subspace = skinning_subspace(model, 8, 90)
    return model, subspace, find_spectra(model, subspace.model, 8)


@pytest.mark.parametrize("s", SCALES)
@pytest.mark.parametrize("body", BODIES)
def test_tets_vibrations_and_matches_are_the_same(body, s):
    (_model, subspace, spectra), (_other, other, others) = chosen(body, 1.0), chosen(body, s)
    np.testing.assert_array_equal(other.parts.elements, subspace.parts.elements)
    np.testing.assert_allclose(others.coarse, spectra.coarse, rtol=1e-7)
    np.testing.assert_allclose(others.fine, spectra.fine, rtol=1e-7)
    pairs, same = pair(spectra, 8), pair(others, 8)
    np.testing.assert_array_equal(same.coarse, pairs.coarse)
    fitted, again = (
        METHODS["fitted_materials"](each.model, *found)
        for each, *found in ((subspace, spectra, pairs), (other, others, same))
    )
    np.testing.assert_allclose(again.stiffness, fitted.stiffness, rtol=1e-6)


@pytest.mark.parametrize("s", SCALES)
@pytest.mark.parametrize("body", BODIES)
def test_the_swing_that_is_tried_is_the_same(body, s):
    swing, other = (reference_trajectory(chosen(body, each)[0], ()) for each in (1.0, s))
    assert other.step == pytest.approx(swing.step, rel=1e-9)
    np.testing.assert_allclose(other.push, s**4 * swing.push, atol=1e-6 * s**4 * np.abs(swing.push).max())
    reach = np.abs(swing.displacements).max()
    np.testing.assert_allclose(other.displacements / s, swing.displacements, atol=1e-3 * reach)


@pytest.mark.parametrize("unit", (1e-6, 3.0, 1e9))
def test_parts_of_materials_are_the_same_in_any_unit_of_stiffness(unit):
    model = chosen("plate", 1.0)[0]
    other = replace(model, elastic=model.elastic.scaled(np.full(len(model.mesh.tets), unit)))
    island = np.zeros(len(model.mesh.rest_positions), dtype=np.int64)
    parts = material_parts(model, island)
    assert len(np.unique(parts)) == 4, "half a decade each"
    np.testing.assert_array_equal(material_parts(other, island), parts)


def scaled_job(s: float):
    """The shaken bar, held by springs on its lattice, with a matched subspace."""
    job = shaken_bar(8, "subspace_mixed_fem", modes=8, cubature_points=60, match_full_space=True)
    body = job.body
    solver = replace(body.solver, gravity=tuple(s * g for g in body.solver.gravity), max_iterations=60, tolerance=1e-9)
    return changed(
        job,
        surface=replace(body.surface, positions=s * body.surface.positions),
        materials=tuple(replace(each, youngs_modulus=s * s * each.youngs_modulus) for each in body.materials),
        pin_positions=s * body.pin_positions,
        solver=solver,
    )


@pytest.mark.parametrize("s", (1e-2, 100.0))
def test_a_job_moves_the_same(s):
    seen, words = [], []
    for each in (1.0, s):
        prepared = prepare(scaled_job(each))
        seen.append(
            np.array(
                [
                    prepared.surface(f.state.positions, k)
                    for k, f in enumerate(simulate_body(scaled_job(each), prepared))
                ]
            )
            / each
        )
        words.append(prepared.matching.pairs)
    moved = np.linalg.norm(seen[0] - seen[0][0], axis=2).max()
    np.testing.assert_array_equal(words[0].coarse, words[1].coarse)
    assert moved > 0.03 and np.abs(seen[1] - seen[0]).max() < 1e-6 * moved
