"""The body of a subspace, drawn by the graphics card: only its handles are sent for a frame.

Numbers on the card are in sizes of the body around its centre, so 32 bits are exact however far it lies from the
world's origin.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import gpu
import numpy as np
from mathutils import Matrix

from ...core.subspaces.skinning import Coordinates, skinned
from .card_state import drawing
from .preview_batch import SkinnedBatch, Wires, bytes_of, most_in_a_row, texture_of
from .preview_light import STUDIO, Light
from .preview_manner import SOLID, Manner
from .preview_mesh import CardVertices, DrawnMesh, Skin, card_vertices
from .preview_shader import body_shader, dots_shader, handle_rows

DOT = 7.0
"""Pixels across a dot of the mean volume."""

WIRE = 0.6
"""Opacity of wires: as dark as Blender's, which are thinner than a pixel."""

NEARER = 1e-3
"""Part of the distance, or of the size, by which wires lie before the faces they belong to."""


class Preview:
    """Draws a surface that follows handles, and dots that follow them too.

    Parameters
    ----------
    mesh : what is drawn, at rest (``preview_mesh.read_drawn_mesh``)
    skin : its rest positions, weights, centre and size
    metres : in one Blender unit (``mesh_in.unit_scale``)
    lights : fixed to the view; Solid mode's own by ``preview_light.studio_lights``

    Draw where a graphics context is current, in a draw handler above all; the rest can be called anywhere::

        lights = studio_lights(context.preferences)
        preview = Preview(read_drawn_mesh(obj, context, first), skin, unit_scale(scene), lights)
        preview.set_handles(handles)                                # (h,4,3) m, once a frame
        preview.draw(region_3d.view_matrix, region_3d.window_matrix, obj.color[:3])    # once a viewport
        preview.show_colours(weight_colours(skin.weights[:, mode]))  # an overlay; None: the object's colour
        preview.set_dots(Skin(points_rest, points_weights, centre, size), volumes)
        preview.draw(..., manner=Manner(0.5))                        # X-ray; wires and more: Manner
        preview.draw(..., dots=True)
        preview.positions()                                         # (n,3) m, on the processor: for picking

    Vertices, weights and triangles go to the card at the first drawing, handles and colours when they have changed.
    Whoever ends the drawing drops the object, and the card's memory is free.

    Raises
    ------
    PreviewError
        The graphics driver refuses the shaders (at the first drawing), or the body is too large for its textures.
    """

    def __init__(self, mesh: DrawnMesh, skin: Skin, metres: float = 1.0, lights: tuple[Light, ...] = STUDIO) -> None:
        self._skin, self._metres, self._lights = skin, metres, lights
        self._coordinates = Coordinates(np.asarray(skin.centre, dtype=np.float64), float(skin.size))
        self._handles = np.zeros((skin.weights.shape[1], 4, 3))
        self._card = card_vertices(mesh, skin)
        self._rows = np.zeros((handle_rows(len(self._handles)), 4), dtype=np.float32)
        self._changed = False
        self._sent: Any = None
        self._body: SkinnedBatch | None = None
        self._wires: Wires | None = None
        self._dots: SkinnedBatch | None = None
        self._dots_of: tuple[Skin, np.ndarray] | None = None
        self._colours: np.ndarray | None = None
        self._colour_texture: Any = None

    @property
    def handles(self) -> np.ndarray:
        """The handles shown, (h,4,3), m."""
        return self._handles

    @property
    def card(self) -> CardVertices:
        """The vertices on the card; their slopes only till they are there."""
        return self._card

    @property
    def batch(self) -> SkinnedBatch:
        """The card's own vertices, where a graphics context is current."""
        return self._ready()

    @property
    def handle_buffer(self) -> Any:
        """The uniform buffer with the handles shown, where a graphics context is current."""
        self._ready()
        return self._sent

    @property
    def memory(self) -> int:
        """Bytes on the card: vertices, triangles, weights, colours."""
        colours = 16 * len(self._skin.rest) if self._colours is not None else 16
        return bytes_of(len(self._card.vertices), len(self._handles)) + self._card.triangles.nbytes + colours

    def set_handles(self, handles: np.ndarray) -> None:
        """Show the body as handles (h,4,3), m, deform it."""
        self._handles = np.asarray(handles, dtype=np.float64)
        count = len(self._handles)
        # Rows as the shader reads them: a row a coordinate, by four numbers.
        self._rows[: 3 * count] = (self._handles / self._coordinates.size).transpose(0, 2, 1).reshape(-1, 4)
        self._changed = True

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
        manner: Manner = SOLID,
        dots: bool = False,
        dot_colour: Any = (1.0, 0.75, 0.1),
        pixel_size: float = 1.0,
    ) -> None:
        """Draw into the frame buffer that is bound, with its depth; the state of the card is left as it was.

        Matrices as a ``RegionView3D`` has them; linear colours; ``pixel_size`` as in Blender's preferences.
        """
        body = self._ready()
        view, window = (np.array(matrix, dtype=np.float64) for matrix in (view_matrix, window_matrix))
        to_clip = _flat(window @ view @ self._to_world())
        turn = Matrix(view_matrix).to_quaternion()
        for state in _passes(manner):
            with drawing(**state):
                body.shader.bind()
                body.shader.uniform_float("to_clip", to_clip)
                body.shader.uniform_float("view_turn", (turn.x, turn.y, turn.z, turn.w))
                body.shader.uniform_float("tint", (*colour[:3], 0.0 if self._colours is None else 1.0))
                body.shader.uniform_float("opacity", manner.opacity)
                body.shader.uniform_sampler("colours", self._colour_texture)
                body.draw(self._sent)
        if manner.wires is not None and len(self._card.edges):
            nearer = _flat(window @ self._nearer(window) @ view @ self._to_world())
            state = {"depth_mask": False, "blend": "ALPHA"}
            for depth_test, part in (("LESS_EQUAL", 1.0), ("GREATER", manner.behind if manner.hides else 0.0)):
                if part > 0.0:
                    tint, drawn = (*manner.wires, 0.0), {**state, "depth_test": depth_test}
                    self._draw_plain(self._ready_wires(body), nearer, tint, drawn, WIRE * part)
        if dots and self._dots_of is not None:
            # They lie inside the body: nothing hides them.
            state = {"depth_test": "ALWAYS", "depth_mask": False, "sized_points": True}
            self._draw_plain(self._ready_dots(*self._dots_of), to_clip, (*dot_colour[:3], pixel_size), state)

    def _draw_plain(
        self, batch: SkinnedBatch | Wires, to_clip: list[float], tint: Any, state: dict[str, Any], opacity: float = 1.0
    ) -> None:
        """Draw what is not lit."""
        with drawing(**state):
            batch.shader.bind()
            batch.shader.uniform_float("to_clip", to_clip)
            batch.shader.uniform_float("tint", tint)
            batch.shader.uniform_float("opacity", opacity)
            batch.draw(self._sent)

    def _nearer(self, window: np.ndarray) -> np.ndarray:
        """(4,4) that brings what a view sees a little nearer, and leaves it at its pixel."""
        if window[3, 3] == 0.0:
            return np.diag([1.0 - NEARER] * 3 + [1.0])
        matrix = np.eye(4)
        matrix[2, 3] = NEARER * self._coordinates.size / self._metres
        return matrix

    def _to_world(self) -> np.ndarray:
        """(4,4) from the card's frame of reference to Blender's units."""
        matrix = np.diag([self._coordinates.size / self._metres] * 3 + [1.0])
        matrix[:3, 3] = self._coordinates.centre / self._metres
        return matrix

    def _ready(self) -> SkinnedBatch:
        """The body, when all that has changed is on the card."""
        if self._sent is None:
            self._sent = gpu.types.GPUUniformBuf(self._rows)
        elif self._changed:
            self._sent.update(self._rows)
        self._changed = False
        colours_per_row = most_in_a_row(len(self._skin.rest))
        if self._body is None:
            card, skin = self._card, self._skin
            places = self._coordinates.of(skin.rest[card.vertices])[:, :3]
            normals = np.column_stack([card.normals, card.vertices])
            numbers = np.stack([skin.weights[card.vertices], *card.slopes], axis=2)
            make_shader = partial(body_shader, colours_per_row=colours_per_row, lights=self._lights)
            self._body = SkinnedBatch(places, normals, numbers, card.triangles, make_shader)
            # They are on the card now.
            self._card = card._replace(slopes=card.slopes[:, :0])
        if self._colour_texture is None:
            colours = np.zeros((1, 3)) if self._colours is None else self._colours
            texels = np.column_stack([colours, np.ones(len(colours))])[:, None, :]
            self._colour_texture = texture_of(texels, min(colours_per_row, len(colours)))
        return self._body

    def _ready_wires(self, body: SkinnedBatch) -> Wires:
        """The edges, on the card."""
        if self._wires is None:
            self._wires = Wires(body, len(self._handles), self._card.edges)
        return self._wires

    def _ready_dots(self, skin: Skin, volumes: np.ndarray) -> SkinnedBatch:
        """The dots, on the card."""
        if self._dots is None:
            sizes = DOT * np.clip(np.cbrt(volumes / volumes.mean()), 0.6, 2.0)
            normals = np.column_stack([np.tile([0.0, 0.0, 1.0], (len(sizes), 1)), sizes])
            numbers = np.stack([skin.weights, *np.zeros((2, *skin.weights.shape))], axis=2)
            self._dots = SkinnedBatch(self._coordinates.of(skin.rest)[:, :3], normals, numbers, None, dots_shader)
        return self._dots


def _passes(manner: Manner) -> list[dict[str, Any]]:
    """States in which the faces are drawn, one after the other."""
    if manner.opacity >= 1.0:
        return [{"depth_test": "LESS_EQUAL"}]
    if manner.hides:
        return [{"depth_test": "LESS_EQUAL", "colour": False}]
    through = {"depth_test": "LESS_EQUAL", "depth_mask": False, "blend": "ALPHA"}
    # What looks away first: it lies behind, but for folds.
    return [{**through, "culled": side} for side in ("FRONT", "BACK")] if manner.opacity > 0.0 else []


def _flat(matrix: np.ndarray) -> list[float]:
    return matrix.T.ravel().tolist()
