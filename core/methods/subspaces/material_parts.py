"""Parts of a body that a cubature cluster must not span: connected components (islands) and materials."""

from __future__ import annotations

import numpy as np

from ..model.model import Model

STEPS_A_DECADE = 2
"""Stiffness levels per factor of ten above the softest tet. In painted gradients they separate the parts."""


def material_parts(model: Model, islands: np.ndarray) -> np.ndarray:
    """Return each tet's part (m,), by island, energy and stiffness level; ``islands`` (n,) labels the vertices."""
    elastic = model.elastic
    E = elastic.youngs_modulus
    step = np.round(STEPS_A_DECADE * np.log10(E / E.min())).astype(np.int64)
    keys = np.column_stack([islands[model.mesh.tets[:, 0]], elastic.energy_of_tet, step])
    return np.unique(keys, axis=0, return_inverse=True)[1].ravel()
