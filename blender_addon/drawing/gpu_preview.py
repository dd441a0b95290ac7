"""Preview of a body in live mode on the GPU.

Handles (affine displacements) deform the body, blended by skinning weights. In a subspace without Subdivision, only the
handles are sent to the GPU per frame. Otherwise all vertices are sent. GPU coordinates are relative to the body's
centre and size, so that 32 bits suffice far from the world's origin.
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
"""Diameter, pixels, of the dot at a cubature point of mean volume. The diameter grows with the point's volume."""

WIRE = 0.6
"""Opacity of edges that makes them look like Blender's wires, which are thinner than a pixel."""

NEARER = 1e-3
"""Shift of edges toward the viewer, as a fraction of their distance, so that faces do not hide their own edges."""


class Preview:
    """Preview of a surface, and of points drawn as dots, both deformed by handles (affine displacements).

    Parameters
    ----------
    mesh : mesh to draw, at rest (``preview_mesh.read_drawn_mesh``)
    skin : rest positions and skinning weights of the mesh's vertices, centre and size of the body
    metres : length of a Blender unit (``mesh_in.unit_scale``)
    lights : lights fixed to the view; by default the lights of Solid mode
    fine : subdivided mesh to draw instead of ``mesh``. Arguments of methods still have one value per vertex of ``mesh``

    Attributes
    ----------
    handles : displayed handles (h,4,3), m
    card : vertex data for the graphics card (``preview_mesh.CardVertices``). The array ``card.slopes`` has derivatives
        of the skinning weights. This array is empty after the upload to the GPU, to save memory.

    Draw where a graphics context is current, as in a draw handler; everything else can be called anywhere::

        preview = Preview(read_drawn_mesh(obj, context, first), skin, unit_scale(scene))
        preview.set_handles(handles)                                # (h,4,3) m, once a frame
        preview.draw(region_3d.view_matrix, region_3d.window_matrix, obj.color[:3])    # once a viewport
        preview.show_colours(weight_colours(skin.weights[:, mode]))  # an overlay; None: the object's colour
        preview.set_dots(Skin(points_rest, points_weights, centre, size), volumes)
        preview.draw(..., manner=Manner(0.5))                        # X-ray; wires and more: Manner
        preview.draw(..., dots=True)
        preview.set_positions(positions)                            # instead of handles, without a subspace
        preview.positions()                                         # (n,3) m, on the CPU: for picking

    Vertices, weights and triangles are uploaded at the first drawing, handles and colours when they change. Dropping
    the object frees the GPU memory.

    Raises
    ------
    PreviewError
        The driver rejects the shaders (at the first drawing), or the body is too large for the GPU's textures.
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
        """Show the body deformed by handles, from the next drawing on.

        A handle H_k (4,3), m, is an affine displacement. A point moves by ``sum_k w_k c @ H_k``, with the point's
        skinning weights w_k and homogeneous coordinates c (4,), which have no unit.

        ``handles`` (h,4,3), m: handles.
        """
        self.handles = np.asarray(handles, dtype=np.float64)
        count = len(self.handles)
        # The shader reads a row of four floats per coordinate.
        self._rows[: 3 * count] = (self.handles / self._coordinates.size).transpose(0, 2, 1).reshape(-1, 4)
        self._changed = True
        if self._fine is not None:
            self._body = None

    def set_positions(self, positions: np.ndarray) -> None:
        """Show the mesh at vertex positions, instead of a shape deformed by handles (affine displacements).

        All skinning weights must be zero.

        ``positions`` (n,3), m: vertex positions.
        """
        if self._fine is None:
            self._bent = self._bent or BentCard(self.card, self._skin)
        self._skin = self._skin._replace(rest=np.asarray(positions, dtype=np.float64))
        self._body = None

    @property
    def shape(self) -> tuple[np.ndarray, np.ndarray]:
        """Displayed shape of the body, as two arrays.

        First array (n,3), m: vertex positions without the displacements by handles.
        Second array (h,4,3), m: handles (affine displacements, blended by the skinning weights).
        """
        return self._skin.rest, self.handles

    def positions(self, shape: tuple[np.ndarray, np.ndarray] | None = None, vertices: Any = slice(None)) -> np.ndarray:
        """Return vertex positions of the mesh in world space, (n,3) m, computed on the CPU.

        ``shape``: shape of the mesh, as two arrays like :attr:`shape`. The default is the displayed shape.
        ``vertices``: indices of the vertices. The default is all vertices.
        """
        positions, handles = shape or self.shape
        return skinned(positions[vertices], self._skin.weights[vertices], self._coordinates, handles)

    def surface(self, shape: tuple[np.ndarray, np.ndarray] | None = None) -> np.ndarray:
        """Return the vertex positions of the drawn surface in world space, (m,3) m.

        The drawn surface is the mesh or its Subdivision. The attribute ``triangles`` has the surface's triangles.

        ``shape``: shape of the mesh, as two arrays like :attr:`shape`. The default is the displayed shape.
        """
        positions = self.positions(shape)
        return positions if self._fine is None else self._fine.matrix @ positions

    def marked(self, vertices: list[int]) -> np.ndarray:
        """Return one position on the drawn surface per mesh vertex, (k,3) m.

        With a Subdivision, this is the position of the subdivided vertex that depends most on the mesh vertex. Without
        a Subdivision, this is the position of the mesh vertex.

        ``vertices``: indices of the k mesh vertices.
        """
        if self._fine is None:
            return self.positions(vertices=vertices)
        return self._fine.matrix[self._fine.anchors[vertices]] @ self.positions()

    def carrier_of(self, vertex: int) -> int:
        """Return the mesh vertex with the largest influence on a vertex of the drawn surface, as an index."""
        return vertex if self._fine is None else self._fine.carrier_of(vertex)

    def show_colours(self, colours: np.ndarray | None) -> None:
        """Show colours at the mesh's vertices.

        ``colours`` (n,3): linear colours, or None for the single colour given to :meth:`draw`.
        """
        blended = colours is not None and self._fine is not None
        self._colours, self._colour_texture = self._fine.matrix @ colours if blended else colours, None

    def set_dots(self, skin: Skin, volumes: np.ndarray) -> None:
        """Set the points that are drawn as dots.

        The body's handles move the points too.

        ``volumes``: volumes of the points, for the sizes of the dots.
        """
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
        """Draw the body into the bound frame buffer, with depth.

        The GPU state is restored.

        ``view_matrix``, ``window_matrix``: matrices of a ``RegionView3D``.
        ``colour``, ``dot_colour``: linear colours.
        ``dots``: True to draw the points of :meth:`set_dots`.
        ``pixel_size``: pixel size of Blender's preferences, a factor on the size of dots.
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
            # The dots lie inside the body, which must not hide them.
            state = {"depth_test": "ALWAYS", "depth_mask": False, "sized_points": True}
            batch = self._dots.get(None, lambda: self._make_dots(*self._dots_of))
            self._draw_plain(batch, to_clip, (*dot_colour[:3], pixel_size), state)

    def _draw_plain(
        self, batch: SkinnedBatch, to_clip: list[float], tint: Any, state: dict[str, Any], opacity: float = 1.0
    ) -> None:
        """Draw a batch in the single colour ``tint``, without lighting."""
        constants = {"to_clip": to_clip, "tint": tint, "opacity": opacity}
        draw(batch.shader, lambda _shader: batch.draw(self.sent), state, **constants)

    def _to_world(self) -> np.ndarray:
        """Return the matrix from GPU coordinates to world space in Blender units, (4,4)."""
        matrix = np.diag([self._coordinates.size / self._metres] * 3 + [1.0])
        matrix[:3, 3] = self._coordinates.centre / self._metres
        return matrix

    def ready(self) -> SkinnedBatch:
        """Upload all changes, and return the body's batch.

        A current graphics context is necessary.
        """
        if self.sent is None:
            self.sent = gpu.types.GPUUniformBuf(self._rows)
        elif self._changed:
            self.sent.update(self._rows)
        self._changed = False
        colours_per_row = most_in_a_row(len(self._skin.rest) if self._fine is None else self._fine.matrix.shape[0])
        if self._body is None:
            card, positions, weights = self._at_rest() if self._fine is None else self._at_present()
            normals = np.column_stack([card.normals, card.vertices])
            numbers = np.stack([weights, *card.slopes], axis=2)
            make_shader = partial(self._body_shader, colours_per_row=colours_per_row, lights=self._lights)
            elements = self._elements.get(None, partial(elements_of, "TRIS", card.triangles))
            self._body = Skinned(positions, normals, numbers).batch("TRIS", elements, make_shader)
            # The slopes are on the GPU now.
            self.card = card._replace(slopes=card.slopes[:, :0])
        if self._colour_texture is None:
            colours = np.zeros((1, 3)) if self._colours is None else self._colours
            texels = np.column_stack([colours, np.ones(len(colours))])[:, None, :]
            self._colour_texture = texture_of(texels, min(colours_per_row, len(colours)))
        return self._body

    def _at_rest(self) -> tuple[CardVertices, np.ndarray, np.ndarray]:
        """Return the GPU vertices, their undisplaced positions (g,3), and their skinning weights (g,h).

        Positions are relative to the body's centre, in units of the body's size.
        """
        card = self.card if self._bent is None else self._bent.at(self._skin.rest)
        positions = self._coordinates.of(self._skin.rest[card.vertices])[:, :3]
        return card, positions, self._skin.weights[card.vertices]

    def _at_present(self) -> tuple[CardVertices, np.ndarray, np.ndarray]:
        """Return the GPU vertices of the Subdivision, their positions (g,3), and zero skinning weights (g,1).

        Positions are relative to the body's centre, in units of the body's size.
        """
        positions = self._fine.positions_of(self._coordinates.of(self.positions())[:, :3])
        card = self._fine.at(positions)
        return card, positions[card.vertices], card.slopes[0]

    def _make_dots(self, skin: Skin, volumes: np.ndarray) -> SkinnedBatch:
        sizes = DOT * np.clip(np.cbrt(volumes / volumes.mean()), 0.6, 2.0)
        normals = np.column_stack([np.tile([0.0, 0.0, 1.0], (len(sizes), 1)), sizes])
        numbers = np.stack([skin.weights, *np.zeros((2, *skin.weights.shape))], axis=2)
        return Skinned(self._coordinates.of(skin.rest)[:, :3], normals, numbers).batch("POINTS", None, dots_shader)


def _passes(manner: Manner) -> list[dict[str, Any]]:
    """Return the GPU state of each pass that draws the faces, in drawing order."""
    if manner.opacity >= 1.0:
        return [{"depth_test": "LESS_EQUAL"}]
    if manner.hides:
        return [{"depth_test": "LESS_EQUAL", "colour": False}]
    through = {"depth_test": "LESS_EQUAL", "depth_mask": False, "blend": "ALPHA"}
    # Back faces first: they lie behind, except in folds.
    return [{**through, "culled": side} for side in ("FRONT", "BACK")] if manner.opacity > 0.0 else []
