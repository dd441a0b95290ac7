"""Drawing of a vibration on the GPU, with vertex normals that follow its motion.

The vertices are at ``x = X + a d``, with rest positions X, amplitude a, and displacements d of the mode. The area
normal of vertex i, the sum of the cross products ``(x_j - x_i) × (x_k - x_i)`` over its triangles ijk, is then the
quadratic polynomial ``N0 + a N1 + a² N2``. So only ``a`` is sent to the GPU per frame.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.jobs.store.cached_shapes import Shapes
from .card import batch_of, vertices_of
from .preview_colours import weight_colours


def swing_batch(shapes: Shapes, number: int, matrix: np.ndarray) -> Any:
    """Return the GPU batch of a vibration.

    ``number``: index of the vibration, from 0.
    ``matrix`` (4,4): the object's world matrix, used to colour vertices by their displacement.
    """
    columns = {"position": shapes.rest, "shift": shapes.shapes[number]}
    columns |= zip(("normal", "turn", "bend"), normals(shapes.rest, shapes.shapes[number], shapes.triangles))
    # White vertices are at rest, red vertices move most.
    columns["colour"] = weight_colours(np.linalg.norm(shapes.shapes[number] @ matrix[:3, :3].T, axis=1))
    ones = np.ones(len(shapes.rest))
    vertices = vertices_of(**{name: np.column_stack([each, ones]) for name, each in columns.items()})
    return batch_of("TRIS", vertices, shapes.triangles)


def normals(rest: np.ndarray, shape: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return the coefficients N0, N1 and N2 of each vertex's normal, (3,n,3).

    At the amplitude a of a mode, the vertex normal points along N0 + a N1 + a² N2. Each vertex's coefficients are
    divided by the length of N0.

    ``rest`` (n,3): rest positions.
    ``shape`` (n,3): displacements of the mode.
    ``triangles`` (t,3): vertex indices.
    """
    rest, shape = rest.astype(np.float64), shape.astype(np.float64)
    (x, y), (d, e) = ([each[triangles[:, k]] - each[triangles[:, 0]] for k in (1, 2)] for each in (rest, shape))
    faces = (np.cross(x, y), np.cross(d, y) + np.cross(x, e), np.cross(d, e))
    flat, count = triangles.ravel(), len(rest)
    found = np.array([[np.bincount(flat, np.repeat(c, 3), count) for c in each.T] for each in faces]).swapaxes(1, 2)
    length = np.linalg.norm(found[0], axis=1, keepdims=True)
    return found / np.where(length > 0.0, length, 1.0)
