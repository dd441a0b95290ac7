"""Vertices on the graphics card that follow handles, and the textures of what belongs to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gpu
import numpy as np

from ...core.errors import PreviewError
from .preview_shader import attribute_count, in_attributes, texels_each, wires_shader


class SkinnedBatch:
    """Vertices that follow handles, with their shader.

    ``places`` (g,3) and ``normals`` (g,4), whose last is the shader's own; ``numbers`` (g,h,3): weights and their
    derivatives along the tangents; ``make_shader(handles, per_row)``; points where there are no triangles.
    """

    def __init__(
        self,
        places: np.ndarray,
        normals: np.ndarray,
        numbers: np.ndarray,
        triangles: np.ndarray | None,
        make_shader: Callable[[int, int], Any],
    ) -> None:
        count, handles = numbers.shape[:2]
        self.per_row = most_in_a_row(count, texels_each(handles))
        self.shader = make_shader(handles, self.per_row)
        self._weights: Any = None
        numbers = numbers.astype(np.float32).reshape(count, 3 * handles)
        columns = {"position": np.column_stack([places, np.arange(count)]), "normal": normals}
        if in_attributes(handles):
            padded = _padded(numbers, 4 * attribute_count(handles))
            columns |= {f"weights{k}": padded[:, 4 * k : 4 * k + 4] for k in range(attribute_count(handles))}
        else:
            padded = _padded(numbers, 4 * texels_each(handles)).reshape(count, -1, 4)
            self._weights = texture_of(padded, self.per_row)
        form = gpu.types.GPUVertFormat()
        for name in columns:
            form.attr_add(id=name, comp_type="F32", len=4, fetch_mode="FLOAT")
        self.vertices = gpu.types.GPUVertBuf(form, len=count)
        for name, values in columns.items():
            self.vertices.attr_fill(id=name, data=np.ascontiguousarray(values, dtype=np.float32))
        if triangles is None:
            self._batch = gpu.types.GPUBatch(type="POINTS", buf=self.vertices)
        else:
            elements = gpu.types.GPUIndexBuf(type="TRIS", seq=np.ascontiguousarray(triangles, dtype=np.int32))
            self._batch = gpu.types.GPUBatch(type="TRIS", buf=self.vertices, elem=elements)

    def bind(self, shader: Any, handles: Any) -> None:
        """Give a bound shader the handles' uniform buffer and the weights."""
        shader.uniform_block("handles", handles)
        if self._weights is not None:
            shader.uniform_sampler("weights", self._weights)

    def draw(self, handles: Any) -> None:
        """Draw with the own shader, which is bound."""
        self.bind(self.shader, handles)
        self._batch.draw(self.shader)


class Wires:
    """Edges (e,2) between the vertices of a batch."""

    def __init__(self, body: SkinnedBatch, handles: int, edges: np.ndarray) -> None:
        self._body, self.shader = body, wires_shader(handles, body.per_row)
        elements = gpu.types.GPUIndexBuf(type="LINES", seq=np.ascontiguousarray(edges, dtype=np.int32))
        self._batch = gpu.types.GPUBatch(type="LINES", buf=body.vertices, elem=elements)

    def draw(self, handles: Any) -> None:
        """Draw with the own shader, which is bound."""
        self._body.bind(self.shader, handles)
        self._batch.draw(self.shader)


def most_in_a_row(count: int, each: int = 1) -> int:
    """Items of that many texels that lie in a row of a texture."""
    return max(1, min(count, gpu.capabilities.max_texture_size_get() // each))


def texture_of(texels: np.ndarray, per_row: int) -> Any:
    """Texels (n,e,4) of n items, ``per_row`` to a row, as 32-bit floats."""
    count, each = texels.shape[:2]
    rows, width = -(-count // per_row), min(per_row, count) * each
    most = gpu.capabilities.max_texture_size_get()
    if rows > most or width > most:
        raise PreviewError(
            f"{count} vertices with {each} texels do not fit into a texture of {most} x {most}.",
            "Set Modes lower, or Preview to Mesh.",
        )
    filled = np.zeros(rows * width * 4, dtype=np.float32)
    filled[: texels.size] = texels.ravel()
    data = gpu.types.Buffer("FLOAT", filled.size, filled)
    try:
        return gpu.types.GPUTexture((width, rows), format="RGBA32F", data=data)
    except RuntimeError as error:
        raise PreviewError(
            f"The graphics card has no room for {count} vertices with {each} texels ({error}).",
            "Set Modes lower, or Preview to Mesh.",
        ) from error


def _padded(numbers: np.ndarray, width: int) -> np.ndarray:
    """Columns of zeros up to a width."""
    return np.pad(numbers, ((0, 0), (0, width - numbers.shape[1])))


def bytes_of(count: int, handles: int) -> int:
    """Bytes of vertices with their weights."""
    return 16 * count * (2 + (attribute_count(handles) if in_attributes(handles) else texels_each(handles)))
