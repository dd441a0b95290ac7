"""GPU drawing of the overlays. A current graphics context is necessary.

Tetrahedra are drawn in front of everything else: their depths are mapped into the front 1 % of the depth range. Without
this mapping, the body's surface would hide the tetrahedra inside it. While tetrahedra are shown, marks (pins, springs,
dynamic nodes) are drawn in front too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .card import batch_of, draw, vertices_of
from .overlay_shader import FORMS, dots_shader, ghost_shader, lines_shader, normal_rows, swing_shader, tets_shader

if TYPE_CHECKING:
    from .overlay_tets import Corners

_FRONT = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.01, -0.99], [0.0, 0.0, 0.0, 1.0]])
_LIFT = 0.004
"""Shift of marks and ghosts (translucent surfaces of bakes) toward the viewer, as a fraction of their distance from the
viewer. In orthographic views, the shift is a fraction of the view's height. Without the shift, the surface at the same
position would hide the mark.
"""
_DIM = 0.35
"""Factor on the colour of marks that are hidden by a surface."""
_HIDDEN = 0.3
"""Factor on the opacity of a ghost (translucent surface of a bake) behind other surfaces."""


class View:
    """View and window matrices of a 3D View, from its ``RegionView3D``.

    With ``in_front``, drawings cover the scene.
    """

    def __init__(self, view_matrix: Any, window_matrix: Any, in_front: bool = False) -> None:
        self.view, window = np.array(view_matrix, dtype=np.float64), np.array(window_matrix, dtype=np.float64)
        self._window = _FRONT @ window if in_front else window
        self._height = 0.0 if window[3, 3] == 0.0 else 2.0 / abs(window[1, 1])

    def to_clip(self, matrix: np.ndarray, nearer: float = 0.0) -> list[float]:
        """Return the matrix from an object's coordinates to clip space, 16 floats, column-major.

        ``matrix`` (4,4): the object's world matrix.
        ``nearer``: shift of points along their line of sight toward the viewer, as a fraction of their distance. In
            orthographic views, the shift is a fraction of the view's height.
        """
        lift = np.eye(4)
        if self._height:
            lift[2, 3] = nearer * self._height
        else:
            lift[:3] *= 1.0 - nearer
        return (self._window @ lift @ self.view @ matrix).T.ravel().tolist()


class Painter:
    """Drawer of overlays, with shaders that are compiled at first use.

    Methods raise PreviewError if the driver rejects a shader. Colours are linear.

    ``matrix`` (4,4), argument of the methods: the object's world matrix.
    """

    def __init__(self) -> None:
        self._shaders: dict[Callable[[], Any], Any] = {}

    def _shader(self, make: Callable[[], Any]) -> Any:
        if make not in self._shaders:
            self._shaders[make] = make()
        return self._shaders[make]

    def tets(self, batch: Any, view: View, matrix: np.ndarray) -> None:
        """Draw the tetrahedra of a batch.

        ``batch``: result of :func:`tets_batch`.
        ``matrix`` (4,4): the object's world matrix.
        """
        rows, state = normal_rows(view.view, matrix), {"depth_test": "LESS_EQUAL"}
        draw(self._shader(tets_shader), batch.draw, state, to_clip=view.to_clip(matrix), **rows)

    def ghost(self, batch: Any, view: View, matrix: np.ndarray, colour: Any) -> None:
        """Draw the foremost layer of a bake's translucent surface.

        The surface is drawn faintly behind other objects. The fourth component of ``colour`` is the opacity.
        """
        faint, flat = _HIDDEN * colour[3], view.to_clip(matrix, _LIFT)
        passes = (
            ({"depth_test": "GREATER", "depth_mask": False, "blend": "ALPHA", "culled": "BACK"}, faint),
            ({"depth_test": "LESS_EQUAL", "colour": False}, faint),
            ({"depth_test": "EQUAL", "depth_mask": False, "blend": "ALPHA"}, colour[3]),
        )
        rows = normal_rows(view.view, matrix, colour[:3])
        for state, opacity in passes:
            draw(self._shader(ghost_shader), batch.draw, state, to_clip=flat, opacity=opacity, **rows)

    def swing(self, batch: Any, view: View, matrix: np.ndarray, part: float) -> None:
        """Draw a vibration.

        ``batch``: result of ``gpu_mode.swing_batch``.
        ``matrix`` (4,4): the object's world matrix.
        ``part``: current displacement at the point of largest amplitude, as a signed fraction of the body's size.
        """
        rows = normal_rows(view.view, matrix, (part, 0.0, 0.0))
        draw(self._shader(swing_shader), batch.draw, {"depth_test": "LESS_EQUAL"}, to_clip=view.to_clip(matrix), **rows)

    def marks(
        self,
        kind: str,
        batch: Any,
        view: View,
        matrix: np.ndarray,
        colour: Any,
        width: float = 1.0,
        form: str = "ROUND",
    ) -> None:
        """Draw marks as points or lines.

        Marks behind surfaces are dimmer. Points behind surfaces are also smaller.

        ``kind``: POINTS or LINES.
        ``batch``: result of :func:`marks_batch`, or None to draw nothing.
        ``width``: width of points, pixels.
        ``form``: shape of points, one of ``FORMS``.
        """
        if batch is None:
            return
        are_points = kind == "POINTS"
        shader = self._shader(dots_shader if are_points else lines_shader)
        given = {"form": (float(FORMS.index(form)), 0.0, 0.0, 0.0)} if are_points else {}
        flat = view.to_clip(matrix, _LIFT)
        for depth, part, across in (("ALWAYS", _DIM, 0.6), ("LESS_EQUAL", 1.0, 1.0)):
            tint = (*(part * c for c in colour), across * width)
            state = {"depth_test": depth, "depth_mask": False, "sized_points": True}
            draw(shader, batch.draw, state, to_clip=flat, tint=tint, **given)


def tets_batch(corners: Corners) -> Any:
    """Return a GPU batch of the tetrahedra's triangles.

    ``corners``: vertex attributes of the triangles' corners.
    """
    return batch_of("TRIS", vertices_of(**corners._asdict()))


def marks_batch(kind: str, points: np.ndarray) -> Any:
    """Return a GPU batch of marks, or None without points.

    ``kind``: POINTS or LINES. The ends of lines are successive pairs of ``points``.
    ``points`` (n,3) or (n,4): positions and, as fourth column, weights from 0 to 1. Weights blend from white to the
        mark's colour.
    """
    if len(points) == 0:
        return None
    whole = np.column_stack([points, np.ones(len(points))])
    return batch_of(kind, vertices_of(position=whole[:, :4]))
