"""Parts of a body that cubature must not mix: islands and materials."""

from __future__ import annotations

import numpy as np

from ..model.model import Model

STEPS_A_DECADE = 2
"""Steps of stiffness per factor of ten above the softest. They serve as borders in painted gradients."""


def material_parts(model: Model, islands: np.ndarray) -> np.ndarray:
    """Return a label of each tet, (m,), from its island, its energy and its stiffness step; ``islands`` (n,) are of
    vertices.
    """
    elastic = model.elastic
    E = elastic.youngs_modulus
    step = np.round(STEPS_A_DECADE * np.log10(E / E.min())).astype(np.int64)
    keys = np.column_stack([islands[model.mesh.tets[:, 0]], elastic.energy_of_tet, step])
    return np.unique(keys, axis=0, return_inverse=True)[1].ravel()
