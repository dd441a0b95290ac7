"""Tets that the border of a region cuts: bone two cells thick in flesh bends as quadratic hexahedra do."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.benchmarks.physics.inclusion import BAR, TURNS, bending_compliance
from sinew.core.geometry.mesh.surface_depth import SurfaceDepth
from sinew.core.geometry.tetrahedra.lattice import lattice_tets
from sinew.core.mechanics.materials.fields import CUT_EXPONENT, ModulusBlend
from sinew.core.mechanics.materials.layers import fraction_inside


@pytest.mark.parametrize("turn", ("aligned", "turned by 0.4 rad"))
@pytest.mark.parametrize("name, contrast, through", (("slab", 1e6, 1.85), ("beside", 1e2, 2.05), ("beside", 1e6, 1.95)))
def test_bone_of_two_cells_bends_as_it_should(name, contrast, through, turn):
    assert abs(bending_compliance(name, contrast, through, TURNS[turn]) - 1.0) <= BAR


@pytest.mark.parametrize("shift", (0.0, 0.013, 0.029))
def test_a_region_covers_its_volume_wherever_it_lies(bar, make_box, shift):
    """Within a percent; of a slab a third of a cell thick within five."""
    mesh, below = lattice_tets(bar, 24), SurfaceDepth(bar)
    for thickness, off in ((0.5, 0.01), (0.05, 0.05)):
        region = make_box((3.0, 2.0, thickness), (0.5, -0.5, 0.2 + shift))
        part = fraction_inside(mesh, (region,), below)
        assert part @ mesh.body_volumes == pytest.approx(3.0 * thickness, rel=off)


def test_moduli_of_cut_tets_scale_with_their_materials():
    """A factor on all moduli is one on the tets'; bounds are those of the materials; others blend in the logarithm."""
    weights = np.array([(0.5, 0.5), (0.5, 0.5), (1.0, 0.0), (0.0, 1.0)])
    blend = ModulusBlend(weights, np.array([True, False, True, False]), np.array([1e4, 1e8]))
    E = blend.youngs_modulus()
    np.testing.assert_allclose(E[1:], [1e6, 1e4, 1e8])
    assert E[0] == pytest.approx((0.5 * 1e4**CUT_EXPONENT + 0.5 * 1e8**CUT_EXPONENT) ** (1 / CUT_EXPONENT))
    np.testing.assert_allclose(blend.youngs_modulus(np.log([3.0, 3.0])), 3.0 * E)
