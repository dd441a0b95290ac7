"""Vibrations at rest: against dense matrices by finite differences, and rigid motions that holds leave."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from sinew.benchmarks.bodies import block, held_end
from sinew.core.geometry.mesh.tet_mesh import TetMesh
from sinew.core.methods.eigenfit.vibrations import reduced_vibrations, rigid_count, vibrations
from sinew.core.methods.model.model import build_model
from sinew.core.methods.subspaces.cubature import Cubature
from sinew.core.methods.subspaces.reduced_model import in_basis

from .bodies import bar, dense_stiffness, free_pairs, reduced, springs_of, with_springs


def dense(model):
    """All eigenvalues, by differences of the elastic forces."""
    X = model.mesh.rest_positions
    shifts = 1e-6 * np.eye(X.size).reshape(-1, *X.shape)
    forces = [model.elastic.gradient(model.elastic.deformation(X + shift)) for shift in (*shifts, *-shifts)]
    K = np.subtract(*np.split(np.reshape(forces, (2 * X.size, -1)), 2)) / 2e-6
    if model.anchors is not None:
        K = K + np.kron(model.anchors.toarray(), np.eye(3))
    free = np.setdiff1d(np.arange(len(X)), model.pinned)
    rows = (3 * free[:, None] + np.arange(3)).ravel()
    M = np.kron(model.mass.toarray(), np.eye(3))
    return scipy.linalg.eigvalsh(0.5 * (K + K.T)[np.ix_(rows, rows)], M[np.ix_(rows, rows)])


@pytest.mark.parametrize(("hold", "rigid"), [("free", 6), ("clamped", 0), ("springs", 0)])
def test_eigenvalues_are_those_of_the_forces_derivative(hold, rigid):
    model = bar(hold=hold)
    found, expected = vibrations(model, rigid + 10), dense(model)[: rigid + 10]
    assert np.abs(found.eigenvalues - expected).max() <= 1e-6 * expected[-1]
    lifted = found.modes.reshape(len(found.modes), -1)
    products = lifted @ np.stack([(model.mass @ u).ravel() for u in found.modes]).T
    np.testing.assert_allclose(products, np.eye(rigid + 10), atol=1e-9)
    assert not found.modes[:, model.pinned].any()


def test_a_subspace_is_stiffer_where_its_forces_are_exact():
    """By Rayleigh's principle, with cubature at every tet."""
    model, space = reduced()
    m = len(model.mesh.tets)
    whole = in_basis(model, space.basis, space.pinned, Cubature(np.arange(m), model.elastic.weights, np.arange(m)))
    coarse, fine = reduced_vibrations(whole, None, 16), vibrations(model, 16)
    assert (coarse.eigenvalues[6:] >= fine.eigenvalues[6:] * (1.0 - 1e-9)).all()
    np.testing.assert_allclose(coarse.eigenvalues[6:], free_pairs(dense_stiffness(whole), whole)[0][6:16], rtol=1e-9)


def test_springs_hold_a_subspace():
    model, space = reduced(hold="springs")
    springs = springs_of(model, space)
    found, expected = reduced_vibrations(space, springs, 12), with_springs(dense_stiffness(space), space, springs)
    np.testing.assert_allclose(found.eigenvalues, free_pairs(expected, space)[0][:12], rtol=1e-9)


def two_parts():
    one = block((2, 1, 1), (0.2, 0.1, 0.1))
    X = np.vstack([one.rest_positions, one.rest_positions + [0.0, 0.5, 0.0]])
    return TetMesh(X, np.vstack([one.tets, one.tets + len(one.rest_positions)]))


def edge(mesh):
    """A straight line of vertices."""
    X = mesh.rest_positions
    return np.flatnonzero((X[:, 0] < 1e-9) & (X[:, 1] < 1e-9))


@pytest.mark.parametrize("hold", ("pins", "springs"))
@pytest.mark.parametrize(
    ("mesh", "held", "left"),
    [
        (block((3, 1, 1), (0.3, 0.1, 0.1)), lambda _mesh: np.zeros(0, dtype=int), 6),
        (block((3, 1, 1), (0.3, 0.1, 0.1)), lambda _mesh: np.array([0]), 3),
        (block((3, 1, 1), (0.3, 0.1, 0.1)), edge, 1),
        (block((3, 1, 1), (0.3, 0.1, 0.1)), held_end, 0),
        (block((3, 1, 1), (3e-4, 1e-4, 1e-4)), edge, 1),
        (block((3, 1, 1), (300.0, 100.0, 100.0)), edge, 1),
        (two_parts(), lambda _mesh: np.zeros(0, dtype=int), 12),
        (two_parts(), edge, 7),
    ],
    ids=("free", "vertex", "hinge", "clamped", "tiny hinge", "huge hinge", "two parts", "two parts, one on a hinge"),
)
def test_rigid_motions_that_holds_leave(mesh, held, left, hold):
    """Their number is that of zero eigenvalues."""
    chosen = held(mesh)
    model = build_model(mesh, 1e5, 0.3, 1e3, pinned=chosen if hold == "pins" else ())
    if hold == "springs" and len(chosen):
        strength = np.isin(np.arange(model.unknowns), chosen) * 1e5 * mesh.size
        model = replace(model, anchors=sp.diags(strength).tocsr())
    assert rigid_count(model) == left
    values = vibrations(model, left + 3).eigenvalues
    first = values[left]
    assert first > 0.0 and (np.abs(values[:left]) < 1e-6 * first).all()
