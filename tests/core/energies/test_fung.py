"""Fung's exponential with other numbers of its own than the usual one."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.mechanics.energies import energy
from sinew.core.mechanics.energies.kinematics import Deformation
from sinew.core.mechanics.materials.lame import lame_parameters


@pytest.mark.parametrize("b", [0.1, 0.5, 2.0, 8.0])
def test_a_pull_is_that_of_the_closed_form(b):
    """Demiray 1972: along a pull that keeps the volume ``T11 - T22 = mu (l^2 - 1/l) exp(b (l^2 + 2/l - 3))``."""
    length, mu = np.linspace(0.7, 1.6, 10), 3.0
    F = np.zeros((10, 3, 3))
    F[:, 0, 0], F[:, 1, 1], F[:, 2, 2] = length, length**-0.5, length**-0.5
    stress = energy("fung").gradient(Deformation.of(F), np.tile([mu, 7.0, b], (10, 1))) @ F.transpose(0, 2, 1)
    pull = mu * (length**2 - 1.0 / length) * np.exp(b * (length**2 + 2.0 / length - 3.0))
    np.testing.assert_allclose(stress[:, 0, 0] - stress[:, 1, 1], pull, rtol=1e-11)


@pytest.mark.parametrize("ratio", [0.0, 0.3, 0.45])
@pytest.mark.parametrize("b", [0.05, 0.5, 2.0, 20.0])
def test_nothing_is_easier_than_rest(b, ratio):
    """Crushed, pulled, turned inside out: also where Poisson's ratio is too small for so large a number."""
    F = np.random.default_rng(2).uniform(-2.0, 2.0, (2000, 3))[:, :, None] * np.eye(3)
    F = np.concatenate([F, np.linspace(0.0, 2.0, 41)[:, None, None] * np.eye(3)])
    away = np.abs(F - np.eye(3)).max(axis=(1, 2)) > 0.01
    numbers = np.tile([*lame_parameters(1.0, ratio), b], (len(F), 1))
    value = energy("fung").value(Deformation.of(F), numbers)
    assert (value[away] > 1e-6).all()
