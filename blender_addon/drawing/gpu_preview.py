"""A body drawn by the graphics card: of one in a subspace only its handles are sent for a frame, of any other all
vertices.

Numbers on the card are in sizes of the body around its centre, so 32 bits are exact however far it lies from the
world's origin.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import bpy
import gpu
import numpy as np
from mathutils import Matrix

from ...core.methods.subspaces.skinning import Coordinates, skinned
from .card import draw, elements_of
from .display_mode import SOLID, Manner
from .gpu_overlay import View
from .layer import Made
from .preview_batch import Skinned, SkinnedBatch, most_in_a_row, texture_of
from .preview_fine import FineCard
from .preview_light import Light, studio_lights
from .preview_mesh import BentCard, CardVertices, DrawnMesh, Skin, card_vertices
from .preview_shader import body_shader, dots_shader, handle_rows, wires_shader

DOT = 7.0
"""Pixels across a dot of the mean volume."""

WIRE = 0.6
"""Opacity of wires: as dark as Blender's, which are thinner than a pixel."""

NEARER = 1e-3
"""Part of the distance by which wires lie before the faces they belong to."""


class Preview:
    """Draws a surface that follows handles, and dots that follow them too.

    Parameters
    ----------
    mesh : what is drawn, at rest (``preview_mesh.read_drawn_mesh``)
    skin : its rest positions, weights, centre and size
    metres : in one Blender unit (``mesh_in.unit_scale``)
    lights : fixed to the view; those of Solid mode unless given
    fine : the mesh's Subdivision, which is drawn in its place; places and colours are always the mesh's

    ``handles`` (h,4,3), m, are those shown; ``card`` the vertices on the card, their slopes only till they are there;
    ``shape`` what :meth:`positions` are made of.

    Draw where a graphics context is current, in a draw handler above all; the rest can be called anywhere::

        preview = Preview(read_drawn_mesh(obj, context, first), skin, unit_scale(scene))
        preview.set_handles(handles)                                # (h,4,3) m, once a frame
        preview.draw(region_3d.view_matrix, region_3d.window_matrix, obj.color[:3])    # once a viewport
        preview.show_colours(weight_colours(skin.weights[:, mode]))  # an overlay; None: the object's colour
        preview.set_dots(Skin(points_rest, points_weights, centre, size), volumes)
        preview.draw(..., manner=Manner(0.5))                        # X-ray; wires and more: Manner
        preview.draw(..., dots=True)
        preview.set_positions(positions)                            # instead, where nothing follows handles
        preview.positions()                                         # (n,3) m, on the processor: for picking

    Vertices, weights and triangles go to the card at the first drawing, handles and colours when they have changed.
    Whoever ends the drawing drops the object, and the card's memory is free.

    Raises
    ------
    PreviewError
        The graphics driver refuses the shaders (at the first drawing), or the body is too large for its textures.
    """

    def __init__(
        self,
        mesh: DrawnMesh,
        skin: Skin,
        metres: float = 1.0,
        lights: tuple[Light, ...] = (),
        fine: FineCard | None = None,
    ) -> None:
        self._skin, self._metres, self._fine = skin, metres, fine
        self._lights = lights or studio_lights(bpy.context.preferences)
        self._coordinates = Coordinates(np.asarray(skin.centre, dtype=np.float64), float(skin.size))
        self.handles = np.zeros((skin.weights.shape[1], 4, 3))
        self.card = card_vertices(mesh, skin) if fine is None else fine.card
        self.triangles = mesh.triangles if fine is None else fine.triangles
        self._rows = np.zeros((handle_rows(len(self.handles)), 4), dtype=np.float32)
        self._changed = False
        self.sent: Any = None
        self._body: SkinnedBatch | None = None
        self._elements: Made[Any] = Made()
        self._bent: BentCard | None = None
        self._body_shader, self._wires_shader = cache(body_shader), cache(wires_shader)
        self._wires: Made[SkinnedBatch] = Made()
        self._dots: Made[SkinnedBatch] = Made()
        self._dots_of: tuple[Skin, np.ndarray] | None = None
        self._colours: np.ndarray | None = None
        self._colour_texture: Any = None

    def set_handles(self, handles: np.ndarray) -> None:
        """Show the body as handles (h,4,3), m, deform it."""
        self.handles = np.asarray(handles, dtype=np.float64)
        count = len(self.handles)
        # Rows as the shader reads them: a row a coordinate, by four numbers.
        self._rows[: 3 * count] = (self.handles / self._coordinates.size).transpose(0, 2, 1).reshape(-1, 4)
        self._changed = True
        if self._fine is not None:
            self._body = None

    def set_positions(self, positions: np.ndarray) -> None:
        """Show the body at positions (n,3), m, instead of those at rest; its weights must be zero."""
        if self._fine is None:
            self._bent = self._bent or BentCard(self.card, self._skin)
        self._skin = self._skin._replace(rest=np.asarray(positions, dtype=np.float64))
        self._body = None

    @property
    def shape(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the displayed shape: positions (n,3), m, and the handles (h,4,3), m, that move them."""
        return self._skin.rest, self.handles

    def positions(self, shape: tuple[np.ndarray, np.ndarray] | None = None, vertices: Any = slice(None)) -> np.ndarray:
        """Return the mesh's vertex positions (n,3), m, world space, in the displayed shape or another; computed on the
        CPU.
        """
        places, handles = shape or self.shape
        return skinned(places[vertices], self._skin.weights[vertices], self._coordinates, handles)

    def surface(self, shape: tuple[np.ndarray, np.ndarray] | None = None) -> np.ndarray:
        """Return the positions (m,3), m, and ``triangles`` (t,3) of the drawn surface: the mesh, or its Subdivision."""
        positions = self.positions(shape)
        return positions if self._fine is None else self._fine.matrix @ positions

    def marked(self, vertices: list[int]) -> np.ndarray:
        """The places (k,3), m, of the surface that belong to vertices of the mesh: those that they move most."""
        if self._fine is None:
            return self.positions(vertices=vertices)
        return self._fine.matrix[self._fine.anchors[vertices]] @ self.positions()

    def carrier_of(self, vertex: int) -> int:
        """The mesh's vertex that moves one of the surface most."""
        return vertex if self._fine is None else self._fine.carrier_of(vertex)

    def show_colours(self, colours: np.ndarray | None) -> None:
        """Linear colours (n,3) of the mesh's vertices, or None for one colour of the whole."""
        blended = colours is not None and self._fine is not None
        self._colours, self._colour_texture = self._fine.matrix @ colours if blended else colours, None

    def set_dots(self, skin: Skin, volumes: np.ndarray) -> None:
        """Points that follow the same handles, and the volumes that size their dots."""
        self._dots, self._dots_of = Made(), (skin, volumes)

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
        body = self.ready()
        view, to_world = View(view_matrix, window_matrix), self._to_world()
        to_clip = view.to_clip(to_world)
        turn = Matrix(view_matrix).to_quaternion()
        constants = {
            "to_clip": to_clip,
            "view_turn": (turn.x, turn.y, turn.z, turn.w),
            "tint": (*colour[:3], 0.0 if self._colours is None else 1.0),
            "opacity": manner.opacity,
        }

        def draw_body(shader: Any) -> None:
            shader.uniform_sampler("colours", self._colour_texture)
            body.draw(self.sent)

        for state in _passes(manner):
            draw(body.shader, draw_body, state, **constants)
        if manner.wires is not None and len(self.card.edges):
            nearer = view.to_clip(to_world, NEARER)
            make = partial(body.skinned.batch, "LINES", self.card.edges, self._wires_shader)
            wires = self._wires.get(body.skinned, make)
            state = {"depth_mask": False, "blend": "ALPHA"}
            for depth_test, part in (("LESS_EQUAL", 1.0), ("GREATER", manner.behind if manner.hides else 0.0)):
                if part > 0.0:
                    tint, drawn = (*manner.wires, 0.0), {**state, "depth_test": depth_test}
                    self._draw_plain(wires, nearer, tint, drawn, WIRE * part)
        if dots and self._dots_of is not None:
            # They lie inside the body: nothing hides them.
            state = {"depth_test": "ALWAYS", "depth_mask": False, "sized_points": True}
            batch = self._dots.get(None, lambda: self._make_dots(*self._dots_of))
            self._draw_plain(batch, to_clip, (*dot_colour[:3], pixel_size), state)

    def _draw_plain(
        self, batch: SkinnedBatch, to_clip: list[float], tint: Any, state: dict[str, Any], opacity: float = 1.0
    ) -> None:
        """Draw what is not lit."""
        constants = {"to_clip": to_clip, "tint": tint, "opacity": opacity}
        draw(batch.shader, lambda _shader: batch.draw(self.sent), state, **constants)

    def _to_world(self) -> np.ndarray:
        """(4,4) from the card's frame of reference to Blender's units."""
        matrix = np.diag([self._coordinates.size / self._metres] * 3 + [1.0])
        matrix[:3, 3] = self._coordinates.centre / self._metres
        return matrix

    def ready(self) -> SkinnedBatch:
        """The body, when all that has changed is on the card; where a graphics context is current."""
        if self.sent is None:
            self.sent = gpu.types.GPUUniformBuf(self._rows)
        elif self._changed:
            self.sent.update(self._rows)
        self._changed = False
        colours_per_row = most_in_a_row(len(self._skin.rest) if self._fine is None else self._fine.matrix.shape[0])
        if self._body is None:
            card, places, weights = self._at_rest() if self._fine is None else self._at_present()
            normals = np.column_stack([card.normals, card.vertices])
            numbers = np.stack([weights, *card.slopes], axis=2)
            make_shader = partial(self._body_shader, colours_per_row=colours_per_row, lights=self._lights)
            elements = self._elements.get(None, partial(elements_of, "TRIS", card.triangles))
            self._body = Skinned(places, normals, numbers).batch("TRIS", elements, make_shader)
            # They are on the card now.
            self.card = card._replace(slopes=card.slopes[:, :0])
        if self._colour_texture is None:
            colours = np.zeros((1, 3)) if self._colours is None else self._colours
            texels = np.column_stack([colours, np.ones(len(colours))])[:, None, :]
            self._colour_texture = texture_of(texels, min(colours_per_row, len(colours)))
        return self._body

    def _at_rest(self) -> tuple[CardVertices, np.ndarray, np.ndarray]:
        """The card's vertices, their places (g,3), which handles move, and weights (g,h)."""
        card = self.card if self._bent is None else self._bent.at(self._skin.rest)
        places = self._coordinates.of(self._skin.rest[card.vertices])[:, :3]
        return card, places, self._skin.weights[card.vertices]

    def _at_present(self) -> tuple[CardVertices, np.ndarray, np.ndarray]:
        """The same of the Subdivision, which no handle moves."""
        places = self._fine.places(self._coordinates.of(self.positions())[:, :3])
        card = self._fine.at(places)
        return card, places[card.vertices], card.slopes[0]

    def _make_dots(self, skin: Skin, volumes: np.ndarray) -> SkinnedBatch:
        sizes = DOT * np.clip(np.cbrt(volumes / volumes.mean()), 0.6, 2.0)
        normals = np.column_stack([np.tile([0.0, 0.0, 1.0], (len(sizes), 1)), sizes])
        numbers = np.stack([skin.weights, *np.zeros((2, *skin.weights.shape))], axis=2)
        return Skinned(self._coordinates.of(skin.rest)[:, :3], normals, numbers).batch("POINTS", None, dots_shader)


def _passes(manner: Manner) -> list[dict[str, Any]]:
    """States in which the faces are drawn, one after the other."""
    if manner.opacity >= 1.0:
        return [{"depth_test": "LESS_EQUAL"}]
    if manner.hides:
        return [{"depth_test": "LESS_EQUAL", "colour": False}]
    through = {"depth_test": "LESS_EQUAL", "depth_mask": False, "blend": "ALPHA"}
    # What looks away first: it lies behind, but for folds.
    return [{**through, "culled": side} for side in ("FRONT", "BACK")] if manner.opacity > 0.0 else []
