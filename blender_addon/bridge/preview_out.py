"""The body of a subspace, drawn by the graphics card: only its handles are sent for a frame.

Numbers on the card are in sizes of the body around its centre, so 32 bits are exact however far it lies from the
world's origin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import gpu
import numpy as np
from mathutils import Matrix

from ...core.errors import PreviewError
from ...core.subspaces.skinning import Coordinates, skinned
from .preview_mesh import CardVertices, DrawnMesh, Skin, card_vertices
from .preview_shader import (
    attribute_count,
    body_shader,
    dots_shader,
    handle_rows,
    in_attributes,
    texels_each,
)

DOT = 7.0
"""Pixels across a dot of the mean volume."""


class Preview:
    """Draws a surface that follows handles, and dots that follow them too.

    Parameters
    ----------
    mesh : what is drawn, at rest (``preview_mesh.read_drawn_mesh``)
    skin : its rest positions, weights, centre and size
    metres : in one Blender unit (``mesh_in.unit_scale``)

    Use it where a graphics context is current, a draw handler above all::

        preview = Preview(read_drawn_mesh(obj, context, first), skin, unit_scale(scene))
        preview.set_handles(handles)                                # (h,4,3) m, once a frame
        preview.draw(region_3d.view_matrix, region_3d.window_matrix, obj.color[:3])    # once a viewport
        preview.show_colours(weight_colours(skin.weights[:, mode]))  # an overlay; None: the object's colour
        preview.set_dots(Skin(points_rest, points_weights, centre, size), volumes)
        preview.draw(..., dots=True)
        preview.positions()                                         # (n,3) m, on the processor: for picking

    Vertices, weights and triangles go to the card at the first of these calls, colours when they change. Whoever ends
    the drawing drops the object, and the card's memory is free.

    Raises
    ------
    PreviewError
        The graphics driver refuses the shaders (at the first drawing), or the body is too large for its textures.
    """

    def __init__(self, mesh: DrawnMesh, skin: Skin, metres: float = 1.0) -> None:
        self._skin, self._metres = skin, metres
        self._coordinates = Coordinates(np.asarray(skin.centre, dtype=np.float64), float(skin.size))
        self._handles = np.zeros((skin.weights.shape[1], 4, 3))
        self._card = card_vertices(mesh, skin)
        self._rows = np.zeros((handle_rows(len(self._handles)), 4), dtype=np.float32)
        self._sent: gpu.types.GPUUniformBuf | None = None
        self._body: _Batch | None = None
        self._dots: _Batch | None = None
        self._dots_of: tuple[Skin, np.ndarray] | None = None
        self._colours: np.ndarray | None = None
        self._colour_texture: Any = None

    @property
    def handles(self) -> np.ndarray:
        """The handles shown, (h,4,3), m."""
        return self._handles

    @property
    def card(self) -> CardVertices:
        """The vertices on the card."""
        return self._card

    @property
    def memory(self) -> int:
        """Bytes on the card: vertices, triangles, weights, colours."""
        colours = 16 * len(self._skin.rest) if self._colours is not None else 16
        return _bytes_of(len(self._card.vertices), len(self._handles)) + self._card.triangles.nbytes + colours

    def set_handles(self, handles: np.ndarray) -> None:
        """Show the body as handles (h,4,3), m, deform it."""
        self._handles = np.asarray(handles, dtype=np.float64)
        count = len(self._handles)
        # Rows as the shader reads them: a row a coordinate, by four numbers.
        self._rows[: 3 * count] = (self._handles / self._coordinates.size).transpose(0, 2, 1).reshape(-1, 4)
        if self._sent is not None:
            self._sent.update(self._rows)

    def positions(self) -> np.ndarray:
        """Where the handles shown move the mesh's vertices, (n,3), m, in world space; on the processor."""
        return skinned(self._skin.rest, self._skin.weights, self._coordinates, self._handles)

    def show_colours(self, colours: np.ndarray | None) -> None:
        """Linear colours (n,3) of the mesh's vertices, or None for one colour of the whole."""
        self._colours, self._colour_texture = colours, None

    def set_dots(self, skin: Skin | None, volumes: np.ndarray | None = None) -> None:
        """Points that follow the same handles, and the volumes that size their dots; None for none."""
        self._dots = None
        self._dots_of = None if skin is None else (skin, np.ones(len(skin.rest)) if volumes is None else volumes)

    def draw(
        self,
        view_matrix: Any,
        window_matrix: Any,
        colour: Any = (0.8, 0.8, 0.8),
        dots: bool = False,
        dot_colour: Any = (1.0, 0.75, 0.1),
        pixel_size: float = 1.0,
    ) -> None:
        """Draw into the frame buffer that is bound, with its depth; the state of the card is left as it was.

        Matrices as a ``RegionView3D`` has them; linear colours; ``pixel_size`` as in Blender's preferences.
        """
        body = self._ready()
        view = np.array(view_matrix, dtype=np.float64)
        to_clip = np.array(window_matrix, dtype=np.float64) @ view @ self._to_world()
        flat = to_clip.T.ravel().tolist()
        turn = Matrix(view_matrix).to_quaternion()
        one = 0.0 if self._colours is not None else 1.0
        shader = body.shader
        with _state(depth_test="LESS_EQUAL"):
            shader.bind()
            shader.uniform_float("to_clip", flat)
            shader.uniform_float("view_turn", (turn.x, turn.y, turn.z, turn.w))
            shader.uniform_float("tint", (*colour[:3], 1.0 - one))
            shader.uniform_sampler("colours", self._colour_texture)
            body.draw(self._sent)
        if dots and self._dots is not None:
            # Points lie inside the body: nothing hides them.
            with _state(depth_test="ALWAYS", depth_mask=False, sized_points=True):
                self._dots.shader.bind()
                self._dots.shader.uniform_float("to_clip", flat)
                self._dots.shader.uniform_float("tint", (*dot_colour[:3], pixel_size))
                self._dots.draw(self._sent)

    def _to_world(self) -> np.ndarray:
        """(4,4) from the card's frame of reference to Blender's units."""
        matrix = np.diag([self._coordinates.size / self._metres] * 3 + [1.0])
        matrix[:3, 3] = self._coordinates.centre / self._metres
        return matrix

    def _ready(self) -> _Batch:
        """All that is not on the card yet goes there."""
        if self._sent is None:
            self._sent = gpu.types.GPUUniformBuf(self._rows)
        if self._body is None:
            per_row = _most_in_a_row(len(self._skin.rest))
            card, skin = self._card, self._skin
            places = self._coordinates.of(skin.rest[card.vertices])[:, :3]
            normals = np.column_stack([card.normals, card.vertices])
            numbers = np.stack([skin.weights[card.vertices], *card.slopes], axis=2)
            self._body = _Batch(places, normals, numbers, card.triangles, partial(body_shader, colours_per_row=per_row))
            self._card = card._replace(slopes=card.slopes[:, :0])
        if self._colour_texture is None:
            colours = np.zeros((1, 3)) if self._colours is None else self._colours
            padded = np.column_stack([colours, np.ones(len(colours))])
            self._colour_texture = _texture(padded[:, None, :], _most_in_a_row(len(self._skin.rest)))
        if self._dots is None and self._dots_of is not None:
            skin, volumes = self._dots_of
            sizes = DOT * np.clip(np.cbrt(volumes / max(float(np.mean(volumes)), 1e-300)), 0.6, 2.0)
            normals = np.column_stack([np.tile([0.0, 0.0, 1.0], (len(sizes), 1)), sizes])
            numbers = np.stack([skin.weights, *np.zeros((2, *skin.weights.shape))], axis=2)
            self._dots = _Batch(self._coordinates.of(skin.rest)[:, :3], normals, numbers, None, dots_shader)
        return self._body


class _Batch:
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
        per_row = _most_in_a_row(count, texels_each(handles))
        self.shader = make_shader(handles, per_row)
        self._weights: Any = None
        numbers = numbers.reshape(count, 3 * handles)
        columns = {"position": np.column_stack([places, np.arange(count)]), "normal": normals}
        if in_attributes(handles):
            padded = _padded(numbers, 4 * attribute_count(handles))
            columns |= {f"weights{k}": padded[:, 4 * k : 4 * k + 4] for k in range(attribute_count(handles))}
        else:
            padded = _padded(numbers, 4 * texels_each(handles)).reshape(count, -1, 4)
            self._weights = _texture(padded, per_row)
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

    def draw(self, handles: Any) -> None:
        """Draw with the shader, which is bound."""
        self.shader.uniform_block("handles", handles)
        if self._weights is not None:
            self.shader.uniform_sampler("weights", self._weights)
        self._batch.draw(self.shader)


@contextmanager
def _state(depth_test: str, depth_mask: bool = True, sized_points: bool = False) -> Iterator[None]:
    """Every state that the drawing depends on, set; what can be asked for is put back, the rest set to its default."""
    before = gpu.state.blend_get(), gpu.state.depth_test_get(), gpu.state.depth_mask_get()
    gpu.state.blend_set("NONE")
    gpu.state.depth_test_set(depth_test)
    gpu.state.depth_mask_set(depth_mask)
    gpu.state.face_culling_set("NONE")
    gpu.state.front_facing_set(False)
    gpu.state.color_mask_set(True, True, True, True)
    gpu.state.program_point_size_set(sized_points)
    try:
        yield
    finally:
        gpu.state.program_point_size_set(False)
        gpu.state.blend_set(before[0])
        gpu.state.depth_test_set(before[1])
        gpu.state.depth_mask_set(before[2])


def _most_in_a_row(count: int, each: int = 1) -> int:
    """Items of that many texels that lie in a row of a texture."""
    return max(1, min(count, gpu.capabilities.max_texture_size_get() // each))


def _texture(texels: np.ndarray, per_row: int) -> Any:
    """Texels (n,e,4) of n items, ``per_row`` to a row, as 32-bit floats."""
    count, each = texels.shape[:2]
    rows, width = -(-count // per_row), min(per_row, count) * each
    most = gpu.capabilities.max_texture_size_get()
    if rows > most or width > most:
        raise PreviewError(
            f"{count} vertices with {each} texels do not fit into a texture of {most} x {most}.",
            "Set Modes lower, or switch the preview off.",
        )
    filled = np.zeros(rows * width * 4, dtype=np.float32)
    filled[: texels.size] = texels.ravel()
    data = gpu.types.Buffer("FLOAT", filled.size, filled)
    return gpu.types.GPUTexture((width, rows), format="RGBA32F", data=data)


def _padded(numbers: np.ndarray, width: int) -> np.ndarray:
    """Columns of zeros up to a width."""
    return np.pad(numbers, ((0, 0), (0, width - numbers.shape[1])))


def _bytes_of(count: int, handles: int) -> int:
    """Bytes of vertices with their weights."""
    return 16 * count * (2 + (attribute_count(handles) if in_attributes(handles) else texels_each(handles)))
