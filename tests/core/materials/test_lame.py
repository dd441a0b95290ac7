"""Lamé parameters and presets."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.foundation.errors import MaterialError
from sinew.core.mechanics.materials.lame import lame_parameters
from sinew.core.mechanics.materials.presets import PRESETS


def test_bulk_and_youngs_modulus_come_back():
    youngs, ratio = np.array([1e3, 5e4, 1e9]), np.array([0.0, 0.45, 0.3])
    mu, lam = lame_parameters(youngs, ratio)
    np.testing.assert_allclose(mu * (3 * lam + 2 * mu) / (lam + mu), youngs)
    np.testing.assert_allclose(lam / (2 * (lam + mu)), ratio, atol=1e-15)


def test_one_ratio_serves_many_moduli():
    assert lame_parameters(np.ones(5), 0.25)[1].shape == (5,)


@pytest.mark.parametrize(
    ("youngs", "ratio"), [(0.0, 0.3), (-1.0, 0.3), (np.nan, 0.3), (1e5, 0.5), (1e5, -1.0), (1e5, np.nan)]
)
def test_unphysical_numbers_are_refused(youngs, ratio):
    with pytest.raises(MaterialError) as caught:
        lame_parameters(youngs, ratio)
    assert caught.value.remedy


def test_presets_are_named_once_and_span_flesh_to_steel():
    names = [preset.name for preset in PRESETS]
    assert len(set(names)) == len(names)
    by_name = {preset.name: preset for preset in PRESETS}
    assert by_name["Soft Flesh"].youngs_modulus == 5e4
    assert by_name["Bone"].youngs_modulus == 1e9
    assert by_name["Fat"].youngs_modulus < by_name["Soft Flesh"].youngs_modulus < by_name["Steel"].youngs_modulus
