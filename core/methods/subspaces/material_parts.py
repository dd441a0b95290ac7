"""Parts of a body that a cubature cluster must not span: connected components (islands) and materials."""

from __future__ import annotations

import numpy as np

from ..model.model import Model

STEPS_A_DECADE = 2
"""Number of stiffness levels per factor of ten in Young's modulus. Elements of different levels belong to different
parts, so a painted gradient is divided into several parts.
"""


def material_parts(model: Model, islands: np.ndarray) -> np.ndarray:
    """Return the index of each element's part, (e,): elements with the same island (connected component), elastic
    energy and stiffness level. ``islands`` (n,): index of the island of each vertex.
    """
    elastic = model.elastic
    E = elastic.youngs_modulus
    step = np.round(STEPS_A_DECADE * np.log10(E / E.min())).astype(np.int64)
    nodes = model.elements.nodes
    keys = np.column_stack([islands[nodes.vertices[nodes.starts[:-1]]], elastic.energy_index, step])
    return np.unique(keys, axis=0, return_inverse=True)[1].ravel()
