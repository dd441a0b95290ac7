"""GPU drawing of the overlays; needs a current graphics context.

Tetrahedra are drawn in front of everything else, since the mesh around them would hide a slice: their depths are mapped
to the nearest hundredth. So are the marks while tetrahedra are shown.
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
"""Fraction of the distance by which marks are drawn nearer, so that their surface does not hide them."""
_DIM = 0.35
"""Factor on the colour of hidden marks."""
_HIDDEN = 0.3
"""Factor on the opacity of the hidden part of a ghost."""


class View:
    """Matrices of a viewport, as in ``RegionView3D``; ``in_front`` draws in front of the scene."""

    def __init__(self, view_matrix: Any, window_matrix: Any, in_front: bool = False) -> None:
        self.view, window = np.array(view_matrix, dtype=np.float64), np.array(window_matrix, dtype=np.float64)
        self._window = _FRONT @ window if in_front else window
        self._height = 0.0 if window[3, 3] == 0.0 else 2.0 / abs(window[1, 1])

    def to_clip(self, matrix: np.ndarray, nearer: float = 0.0) -> list[float]:
        """Return the matrix from object space to clip space, column-major. ``nearer`` moves points towards the viewer
        by a fraction of their distance, or of the view's height without perspective, at the same pixels.
        """
        lift = np.eye(4)
        if self._height:
            lift[2, 3] = nearer * self._height
        else:
            lift[:3] *= 1.0 - nearer
        return (self._window @ lift @ self.view @ matrix).T.ravel().tolist()


class Painter:
    """Drawing of overlays with shaders made at first use; PreviewError if the driver rejects one. ``matrix`` is an
    object's world matrix (4,4), colours are linear.
    """

    def __init__(self) -> None:
        self._shaders: dict[Callable[[], Any], Any] = {}

    def _shader(self, make: Callable[[], Any]) -> Any:
        if make not in self._shaders:
            self._shaders[make] = make()
        return self._shaders[make]

    def tets(self, batch: Any, view: View, matrix: np.ndarray) -> None:
        """Draw the tetrahedra of an object."""
        rows, state = normal_rows(view.view, matrix), {"depth_test": "LESS_EQUAL"}
        draw(self._shader(tets_shader), batch.draw, state, to_clip=view.to_clip(matrix), **rows)

    def ghost(self, batch: Any, view: View, matrix: np.ndarray, colour: Any) -> None:
        """Draw the ghost of an object: faint if hidden, and each pixel once elsewhere. The fourth component of
        ``colour`` is the opacity.
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
        """Draw a vibration of an object whose farthest point is displaced by ``part`` of the body's size."""
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
        """Draw LINES, or POINTS as one of ``FORMS`` with a width in pixels; hidden ones are smaller and dim. None draws
        nothing.
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
    """Return the triangles as a batch."""
    return batch_of("TRIS", vertices_of(**corners._asdict()))


def marks_batch(kind: str, points: np.ndarray) -> Any:
    """Return points (n,3) as a batch of POINTS or of ends of LINES; None without points. The fourth component of POINTS
    (n,4) blends from white to the colour.
    """
    if len(points) == 0:
        return None
    whole = np.column_stack([points, np.ones(len(points))])
    return batch_of(kind, vertices_of(position=whole[:, :4]))
