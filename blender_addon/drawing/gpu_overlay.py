"""Draws overlays on the graphics card, where a graphics context is current.

Tetrahedra lie before all else in the view, since the mesh around them would hide a slice: their depths are pressed into
the nearest hundredth. Marks do so too while tetrahedra are shown.
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
"""Part of the distance by which marks are drawn nearer, so that the surface they lie on does not hide them."""
_DIM = 0.35
"""Factor on a mark's colour where something hides it."""
_HIDDEN = 0.3
"""Part of its opacity that is left of a ghost behind something."""


class View:
    """The matrices of a viewport, as a ``RegionView3D`` has them; ``in_front``: nothing of the scene hides."""

    def __init__(self, view_matrix: Any, window_matrix: Any, in_front: bool = False) -> None:
        self.view, window = np.array(view_matrix, dtype=np.float64), np.array(window_matrix, dtype=np.float64)
        self._window = _FRONT @ window if in_front else window
        self._height = 0.0 if window[3, 3] == 0.0 else 2.0 / abs(window[1, 1])

    def to_clip(self, matrix: np.ndarray, nearer: float = 0.0) -> list[float]:
        """From the coordinates of an object with this world matrix, by columns; brought ``nearer`` by this part of the
        distance, or of the view's height where that has no perspective, and left at its pixels.
        """
        lift = np.eye(4)
        if self._height:
            lift[2, 3] = nearer * self._height
        else:
            lift[:3] *= 1.0 - nearer
        return (self._window @ lift @ self.view @ matrix).T.ravel().tolist()


class Painter:
    """Makes shaders at first use, and draws with them; PreviewError where the driver refuses one. Objects are told by
    their world matrix (4,4), colours are linear.
    """

    def __init__(self) -> None:
        self._shaders: dict[Callable[[], Any], Any] = {}

    def _shader(self, make: Callable[[], Any]) -> Any:
        if make not in self._shaders:
            self._shaders[make] = make()
        return self._shaders[make]

    def tets(self, batch: Any, view: View, matrix: np.ndarray) -> None:
        """Tetrahedra of an object."""
        rows, state = normal_rows(view.view, matrix), {"depth_test": "LESS_EQUAL"}
        draw(self._shader(tets_shader), batch.draw, state, to_clip=view.to_clip(matrix), **rows)

    def ghost(self, batch: Any, view: View, matrix: np.ndarray, colour: Any) -> None:
        """The ghost of an object: faint where something hides it, and each place once where nothing does. The fourth
        number of its ``colour`` is the opacity.
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
        """The vibration of an object, as it is when its farthest point has swung by this part of the body's size."""
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
        """LINES, or POINTS as marks of one of ``FORMS`` that far across in pixels, if there are any; what is hidden is
        smaller and dim.
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
    """Triangles on the card."""
    return batch_of("TRIS", vertices_of(**corners._asdict()))


def marks_batch(kind: str, points: np.ndarray) -> Any:
    """Points (n,3) on the card, as POINTS or as the ends of LINES; of POINTS (n,4) the last number is how far each is
    from white to its colour. None without any.
    """
    if len(points) == 0:
        return None
    whole = np.column_stack([points, np.ones(len(points))])
    return batch_of(kind, vertices_of(position=whole[:, :4]))
