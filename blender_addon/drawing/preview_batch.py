"""Vertices that handles (affine displacements blended by weights) deform on the GPU, and textures with their data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import gpu
import numpy as np

from ...core.foundation.errors import PreviewError
from .card import batch_of, vertices_of
from .preview_shader import attribute_count, in_attributes, texels_each


class Skinned:
    """Vertex buffer of g vertices deformed by h handles.

    ``positions`` (g,3): positions.
    ``normals`` (g,4): normals. The fourth component depends on the shader.
    ``numbers`` (g,h,3): skinning weight per vertex and handle, and derivatives along the vertex's two tangents.
    """

    def __init__(self, positions: np.ndarray, normals: np.ndarray, numbers: np.ndarray) -> None:
        count, self.handles = numbers.shape[:2]
        self.per_row = most_in_a_row(count, texels_each(self.handles))
        self._weights: Any = None
        numbers = numbers.astype(np.float32).reshape(count, 3 * self.handles)
        columns = {"position": np.column_stack([positions, np.arange(count)]), "normal": normals}
        if in_attributes(self.handles):
            slots = attribute_count(self.handles)
            padded = _padded(numbers, 4 * slots)
            columns |= {f"weights{k}": padded[:, 4 * k : 4 * k + 4] for k in range(slots)}
        else:
            padded = _padded(numbers, 4 * texels_each(self.handles)).reshape(count, -1, 4)
            self._weights = texture_of(padded, self.per_row)
        self.vertices = vertices_of(**columns)

    def bind(self, shader: Any, handles: Any) -> None:
        """Set the inputs of a bound shader.

        ``handles``: uniform buffer of the handles.
        """
        shader.uniform_block("handles", handles)
        if self._weights is not None:
            shader.uniform_sampler("weights", self._weights)

    def batch(self, kind: str, corners: Any, make_shader: Callable[[int, int], Any]) -> SkinnedBatch:
        """Return a batch of primitives with its shader.

        ``kind``, ``corners``: kind and vertex indices of the primitives, as in :func:`card.batch_of`.
        ``make_shader``: function of the number of handles and the number of vertices per row of the weight texture.
        """
        return SkinnedBatch(self, make_shader(self.handles, self.per_row), batch_of(kind, self.vertices, corners))


class SkinnedBatch(NamedTuple):
    """Batch of vertices deformed by handles, with its shader."""

    skinned: Skinned
    shader: Any
    batch: Any

    def draw(self, handles: Any) -> None:
        """Draw with ``self.shader``, which must be bound.

        ``handles``: uniform buffer of the handles.
        """
        self.skinned.bind(self.shader, handles)
        self.batch.draw(self.shader)


def most_in_a_row(count: int, each: int = 1) -> int:
    """Return how many items fit into a row of a texture, at most ``count``.

    ``each``: texels per item.
    """
    return max(1, min(count, gpu.capabilities.max_texture_size_get() // each))


def texture_of(texels: np.ndarray, per_row: int) -> Any:
    """Return a texture of 32-bit floats with ``per_row`` items per row.

    Raises PreviewError if the graphics card cannot store the texture.

    ``texels`` (n,e,4): e texels per item.
    """
    count, each = texels.shape[:2]
    rows, width = -(-count // per_row), min(per_row, count) * each
    most = gpu.capabilities.max_texture_size_get()
    try:
        if max(rows, width) > most:
            raise RuntimeError(f"they do not fit into a texture of {most} x {most}")
        filled = np.zeros(rows * width * 4, dtype=np.float32)
        filled[: texels.size] = texels.ravel()
        data = gpu.types.Buffer("FLOAT", filled.size, filled)
        return gpu.types.GPUTexture((width, rows), format="RGBA32F", data=data)
    except RuntimeError as error:
        raise PreviewError(
            f"The graphics card cannot store {count} vertices with {each} texels each ({error}).",
            "Reduce Modes, or set Preview to Mesh.",
        ) from error


def _padded(numbers: np.ndarray, width: int) -> np.ndarray:
    """Return ``numbers`` (n,k) with zero columns appended, up to (n,width)."""
    return np.pad(numbers, ((0, 0), (0, width - numbers.shape[1])))
