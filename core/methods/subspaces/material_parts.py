"""Parts of a body for cubature: connected components (islands) and materials. Clusters do not span parts."""

from __future__ import annotations

import numpy as np

from ..model.model import Model

STEPS_A_DECADE = 2
"""Number of stiffness levels per factor of ten in Young's modulus.

Elements of different levels belong to different parts, so a painted gradient is divided into several parts.
"""


def material_parts(model: Model, islands: np.ndarray) -> np.ndarray:
    """Return the index of each element's part, (e,).

    The elements of a part share an island (connected component), an elastic energy and a stiffness level. ``islands``
    (n,): index of the island of each vertex.
    """
    elastic = model.elastic
    E = elastic.youngs_modulus
    step = np.round(STEPS_A_DECADE * np.log10(E / E.min())).astype(np.int64)
    nodes = model.elements.nodes
    keys = np.column_stack([islands[nodes.vertices[nodes.starts[:-1]]], elastic.energy_index, step])
    return np.unique(keys, axis=0, return_inverse=True)[1].ravel()
