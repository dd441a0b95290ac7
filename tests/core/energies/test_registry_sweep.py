"""Every energy of the registry, both forms, against finite differences and against what physics says."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sinew.benchmarks.dense_energies import hessian, stretch_gradient, stretch_hessian
from sinew.core.foundation.errors import MaterialError
from sinew.core.foundation.schema.settings import MaterialSettings
from sinew.core.mechanics.energies import ENERGIES, energy
from sinew.core.mechanics.energies.kinematics import Deformation, Stretch
from sinew.core.mechanics.energies.registry import own_parameters

MU, LAM = 3.0, 7.0
OTHERWISE = {"stiffening": 1.3}
"""Other numbers of their own than the usual ones."""
LAWS = [(law, None) for law in ENERGIES.values()] + [(law, OTHERWISE) for law in ENERGIES.values() if law.own]
EVERY = pytest.mark.parametrize(
    "law, own", LAWS, ids=lambda x: x.name if x in ENERGIES.values() else "other" if x else ""
)
INVARIANT = pytest.mark.parametrize("law, own", [x for x in LAWS if x[0].rotation_invariant], ids=EVERY.kwargs["ids"])


def random_rotation(rng):
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return q * np.sign(np.linalg.det(q))


def states():
    """Deformation gradients at rest, stretched, nearly inverted, inverted, with equal stretches."""
    rng = np.random.default_rng(3)
    cases = [
        np.eye(3),
        np.diag([1.4, 1.4, 0.8]),
        np.diag([1.5, 0.7, 1.1]),
        np.diag([1.3, 0.9, 0.05]),
        np.diag([1.2, 0.8, -0.3]),
    ]
    return np.array(
        [random_rotation(rng) @ F @ random_rotation(rng) for F in cases] + [np.eye(3) + 0.2 * rng.normal(size=(3, 3))]
    )


def parameters(n, law, own=None):
    row = own_parameters([replace(MaterialSettings(energy=law.name), **(own or {}))])[0]
    return np.tile([MU, LAM, *row], (n, 1))


def differences(function, x, step=1e-6):
    """Central differences of a batch function by each entry of x, last axis new."""
    columns = []
    for k in np.ndindex(x.shape[1:]):
        d = np.zeros_like(x)
        d[(slice(None), *k)] = step
        columns.append((function(x + d) - function(x - d)) / (2 * step))
    return np.stack(columns, axis=-1)


@EVERY
def test_gradient_and_hessian_of_deformation_gradients(law, own):
    F = states()
    p = parameters(len(F), law, own)
    gradient = differences(lambda F: law.value(Deformation.of(F), p), F)
    np.testing.assert_allclose(law.gradient(Deformation.of(F), p).reshape(-1, 9), gradient, atol=1e-7)
    expected = differences(lambda F: law.gradient(Deformation.of(F), p).reshape(-1, 9), F)
    exact = hessian(law, Deformation.of(F), p, projected=False)
    np.testing.assert_allclose(exact, expected, atol=1e-6 * np.abs(exact).max())


@EVERY
def test_gradient_and_hessian_of_stretches(law, own):
    s = Deformation.of(states()).stretch()
    p = parameters(len(s), law, own)
    gradient = differences(lambda s: law.stretch_value(Stretch.of(s), p), s)
    np.testing.assert_allclose(stretch_gradient(law, Stretch.of(s), p), gradient, atol=1e-7)
    expected = differences(lambda s: stretch_gradient(law, Stretch.of(s), p), s)
    exact = stretch_hessian(law, Stretch.of(s), p, projected=False)
    np.testing.assert_allclose(exact, expected, atol=1e-6 * np.abs(exact).max())


@EVERY
def test_far_from_rest_derivatives_still_fit(law, own):
    """Crushed to a twentieth, turned inside out, torn: where logarithms and exponentials are continued."""
    rng = np.random.default_rng(13)
    cases = [np.diag([0.3, 0.5, 0.3]), np.diag([1.2, 0.8, -1.5]), np.diag([7.0, 2.0, 0.5]), np.diag([5.0, 4.0, -3.0])]
    F = np.array([random_rotation(rng) @ F @ random_rotation(rng) for F in cases])
    p = parameters(len(F), law, own)
    for of, at, value, gradient, curvature in (
        (Deformation.of, F, law.value, law.gradient, partial(hessian, law)),
        (
            Stretch.of,
            Deformation.of(F).stretch(),
            law.stretch_value,
            partial(stretch_gradient, law),
            partial(stretch_hessian, law),
        ),
    ):
        g = gradient(of(at), p).reshape(len(F), -1)
        H = curvature(of(at), p, projected=False)
        first = differences(lambda x: value(of(x), p), at)  # noqa: B023
        second = differences(lambda x: gradient(of(x), p).reshape(len(F), -1), at)  # noqa: B023
        first = first.reshape(g.shape)
        second = second.reshape(H.shape)
        for k in range(len(F)):
            np.testing.assert_allclose(g[k], first[k], atol=1e-7 * np.abs(g[k]).max())
            np.testing.assert_allclose(H[k], second[k], atol=1e-6 * np.abs(H[k]).max())


@EVERY
def test_what_no_number_can_hold_is_infinite(law, own):
    """The line searches refuse inf; NaN and minus infinity would hide what happened."""
    values = np.array([[1e160, 1.0, 1.0], [1e200, 1e200, -1e200], [1e200, 1e200, 1e200], [1e120, 1e120, 1e120]])
    F = np.array([np.diag(v) for v in values])
    s = np.column_stack([values, np.zeros((len(values), 3))])
    p = parameters(len(F), law, own)
    for value in (law.value(Deformation.of(F), p), law.stretch_value(Stretch.of(s), p)):
        assert not np.isnan(value).any()
        assert (value > 1e100).all()


def test_which_energies_are_at_ease_inside_out():
    """Green strain does not see a mirror; every other energy drives a mirrored tet back."""
    mirrored = np.diag([1.0, 1.0, -1.0])[None]
    at_ease = {
        name
        for name, law in ENERGIES.items()
        if np.abs(law.gradient(Deformation.of(mirrored), parameters(1, law))).max() < 1e-12
    }
    assert at_ease == {"stvk"}


@EVERY
def test_projection_is_the_nearest_semidefinite_matrix(law, own):
    """In the Frobenius metric of dF, and of dS (Mandel scaling: off-diagonals by sqrt 2)."""
    F = states()
    p = parameters(len(F), law, own)
    mandel = np.diag([1, 1, 1, 2**0.5, 2**0.5, 2**0.5])
    s = Deformation.of(F).stretch()
    for exact, projected in (
        (hessian(law, Deformation.of(F), p, projected=False), hessian(law, Deformation.of(F), p)),
        (
            np.linalg.inv(mandel) @ stretch_hessian(law, Stretch.of(s), p, projected=False) @ np.linalg.inv(mandel),
            np.linalg.inv(mandel) @ stretch_hessian(law, Stretch.of(s), p) @ np.linalg.inv(mandel),
        ),
    ):
        values, vectors = np.linalg.eigh(exact)
        nearest = np.einsum("nij,nj,nkj->nik", vectors, np.maximum(values, 0.0), vectors)
        np.testing.assert_allclose(projected, nearest, atol=1e-9 * np.abs(exact).max())


@EVERY
def test_forms_agree_on_stretches_without_inversion(law, own):
    """psi(F) = psi(S(F)), and dpsi/dF = R dpsi/dS (the linear energy agrees where there is no rotation)."""
    rng = np.random.default_rng(5)
    S = np.eye(3) + 0.1 * np.array([m + m.T for m in rng.normal(size=(20, 3, 3))])
    R = np.array([random_rotation(rng) for _ in S]) if law.rotation_invariant else np.tile(np.eye(3), (20, 1, 1))
    deformation = Deformation.of(R @ S)
    stretch = Stretch.of(deformation.stretch())
    p = parameters(len(S), law, own)
    np.testing.assert_allclose(law.value(deformation, p), law.stretch_value(stretch, p), rtol=1e-10)
    g = stretch_gradient(law, stretch, p)
    P = np.empty((20, 3, 3))
    for k, (i, j) in enumerate([(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)]):
        P[:, i, j] = P[:, j, i] = g[:, k] * (1.0 if k < 3 else 0.5)
    np.testing.assert_allclose(law.gradient(deformation, p), R @ P, atol=1e-9)


@EVERY
def test_rest_and_rotations_cost_nothing(law, own):
    rng = np.random.default_rng(7)
    turns = [np.eye(3)] + ([random_rotation(rng) for _ in range(10)] if law.rotation_invariant else [])
    F = np.array(turns)
    p = parameters(len(F), law, own)
    assert np.abs(law.value(Deformation.of(F), p)).max() < 1e-28
    assert np.abs(law.gradient(Deformation.of(F), p)).max() < 1e-13
    assert (
        np.abs(stretch_gradient(law, Stretch.of(np.tile([1.0, 1, 1, 0, 0, 0], (2, 1))), parameters(2, law, own))).max()
        < 1e-13
    )


@EVERY
def test_linearisation_at_rest_is_that_of_the_lame_parameters(law, own):
    """Hooke's law with mu and lambda; ARAP has lambda = 0 by definition."""
    lam = 0.0 if law.name == "arap" else LAM
    eye = np.eye(3)
    symmetrise = (np.einsum("ac,bd->abcd", eye, eye) + np.einsum("ad,bc->abcd", eye, eye)).reshape(9, 9)
    hooke = MU * symmetrise + lam * np.outer(eye.ravel(), eye.ravel())
    np.testing.assert_allclose(hessian(law, Deformation.of(eye[None]), parameters(1, law, own))[0], hooke, atol=1e-12)


@INVARIANT
def test_objectivity_and_isotropy(law, own):
    rng = np.random.default_rng(11)
    F = states()
    p = parameters(len(F), law, own)
    left, right = random_rotation(rng), random_rotation(rng)
    value = law.value(Deformation.of(F), p)
    # At rest the value is the square of round-off.
    np.testing.assert_allclose(law.value(Deformation.of(left @ F @ right), p), value, rtol=1e-11, atol=1e-24)


def test_unknown_energy_is_named():
    with pytest.raises(MaterialError, match="jelly.*stable_neo_hookean"):
        energy("jelly")
