"""Models refuse what cannot be simulated, and mix energies in one body."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.foundation.errors import MaterialError, MeshError, PinError
from sinew.core.geometry.mesh.tet_mesh import TetMesh
from sinew.core.methods.model.model import build_model

TET = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
TWO = TetMesh(np.vstack([TET, [[1.0, 1, 1]]]), np.array([[0, 1, 2, 3], [1, 2, 3, 4]]))


@pytest.mark.parametrize(
    ("error", "said", "make"),
    [
        (MeshError, "no tetrahedra", lambda: build_model(TetMesh(TET, np.empty((0, 4))), 1e5, 0.3, 1e3)),
        (MeshError, "does not exist", lambda: build_model(TetMesh(TET, np.array([[0, 1, 2, 9]])), 1e5, 0.3, 1e3)),
        (MeshError, "Tet 0", lambda: build_model(TetMesh(TET, np.array([[0, 2, 1, 3]])), 1e5, 0.3, 1e3)),
        (MeshError, "Vertex 4", lambda: build_model(TetMesh(TWO.rest_positions, TWO.tets[:1]), 1e5, 0.3, 1e3)),
        (MaterialError, "Tet 1 has stiffness", lambda: build_model(TWO, np.array([1e5, 0.0]), 0.3, 1e3)),
        (MaterialError, "Poisson", lambda: build_model(TWO, 1e5, 0.5, 1e3)),
        (MaterialError, "density", lambda: build_model(TWO, 1e5, 0.3, np.array([1e3, np.nan]))),
        (MaterialError, "shape", lambda: build_model(TWO, np.ones(3), 0.3, 1e3)),
        (MaterialError, "jelly", lambda: build_model(TWO, 1e5, 0.3, 1e3, "jelly")),
        (MaterialError, "wrong shape or range", lambda: build_model(TWO, 1e5, 0.3, 1e3, ("arap",), np.array([0, 1]))),
        (PinError, "not a vertex of the mesh", lambda: build_model(TWO, 1e5, 0.3, 1e3, pinned=[7])),
        (PinError, "nothing is left", lambda: build_model(TWO, 1e5, 0.3, 1e3, pinned=range(5))),
    ],
)
def test_what_cannot_be_simulated_is_refused(error, said, make):
    with pytest.raises(error, match=said) as raised:
        make()
    assert raised.value.remedy


def test_energies_mix_in_one_body():
    """A body of two energies has the sum of its parts' energies, gradients and Hessians."""
    rng = np.random.default_rng(0)
    x = TWO.rest_positions + 0.1 * rng.normal(size=(5, 3))
    mixed = build_model(TWO, 1e5, 0.3, 1e3, ("arap", "fixed_corotated"), np.array([0, 1])).elastic
    at = mixed.deformation(x)
    for row, name in enumerate(("arap", "fixed_corotated")):
        alone = build_model(TWO, 1e5, 0.3, 1e3, name).elastic
        np.testing.assert_array_equal(mixed.stress(at)[row], alone.stress(at)[row])
        for together, single in zip(mixed.tangent(at), alone.tangent(at)):
            np.testing.assert_array_equal(together[row], single[row])
    step = 1e-6
    for v, i in ((0, 0), (2, 1), (4, 2)):
        d = np.zeros_like(x)
        d[v, i] = step
        numeric = (mixed.value(mixed.deformation(x + d)) - mixed.value(mixed.deformation(x - d))) / (2 * step)
        assert numeric == pytest.approx(mixed.gradient(at)[v, i], rel=1e-6)
