"""Draws overlays on the graphics card, where a graphics context is current.

Tetrahedra lie before all else in the view, since the mesh around them would hide a slice: their depths are pressed into
the nearest hundredth. Marks do so too while tetrahedra are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gpu
import numpy as np

from .card_state import drawing
from .overlay_shader import batch_of, dots_shader, lines_shader, normal_rows, tets_shader

if TYPE_CHECKING:
    from .overlay_tets import Corners

_FRONT = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.01, -0.99], [0.0, 0.0, 0.0, 1.0]])
_LIFT = 0.004
"""Part of the distance by which marks are drawn nearer, so that the surface they lie on does not hide them."""
_DIM = 0.35
"""Of a mark's colour where something hides it."""


class View:
    """The matrices of a viewport, as a ``RegionView3D`` has them; ``in_front``: nothing of the scene hides."""

    def __init__(self, view_matrix: Any, window_matrix: Any, in_front: bool = False) -> None:
        self.view, window = np.array(view_matrix, dtype=np.float64), np.array(window_matrix, dtype=np.float64)
        self._window = _FRONT @ window if in_front else window
        self._lift = _lift(window)

    def to_clip(self, matrix: np.ndarray, lifted: bool = False) -> list[float]:
        """From the coordinates of an object with this world matrix, by columns."""
        lift = self._lift if lifted else np.eye(4)
        return (self._window @ lift @ self.view @ matrix).T.ravel().tolist()


def _lift(window: np.ndarray) -> np.ndarray:
    """Moves points of the view's frame towards the viewer and leaves their pixels where they are."""
    if window[3, 3] == 0.0:  # a perspective
        return np.diag([1.0 - _LIFT] * 3 + [1.0])
    lift = np.eye(4)
    lift[2, 3] = 2.0 * _LIFT / abs(window[1, 1])
    return lift


class Painter:
    """Makes the shaders at first use, and batches; PreviewError where the driver refuses a shader."""

    def __init__(self) -> None:
        self._tets: Any = None
        self._dots: Any = None
        self._lines: Any = None

    def tets(self, batch: Any, view: View, matrix: np.ndarray) -> None:
        """Tetrahedra of an object with this world matrix (4,4)."""
        self._tets = self._tets or tets_shader()
        rows = normal_rows(view.view, matrix)
        with drawing(depth_test="LESS_EQUAL"):
            self._tets.bind()
            self._tets.uniform_float("to_clip", view.to_clip(matrix))
            for name, row in zip("xyz", rows, strict=True):
                self._tets.uniform_float(f"normal_{name}", row)
            batch.draw(self._tets)

    def dots(self, batch: Any, view: View, matrix: np.ndarray, colour: Any, width: float) -> None:
        """Dots that far across in pixels; what is hidden is smaller and dim."""
        self._dots = self._dots or dots_shader()
        flat = view.to_clip(matrix, lifted=True)
        for depth, tint in _passes(colour):
            with drawing(depth_test=depth, depth_mask=False, sized_points=True):
                self._dots.bind()
                self._dots.uniform_float("to_clip", flat)
                self._dots.uniform_float("tint", (*tint, width if depth != "ALWAYS" else 0.6 * width))
                batch.draw(self._dots)

    def lines(self, batch: Any, view: View, matrix: np.ndarray, colour: Any) -> None:
        """Lines; what is hidden is dim."""
        self._lines = self._lines or lines_shader()
        flat = view.to_clip(matrix, lifted=True)
        for depth, tint in _passes(colour):
            with drawing(depth_test=depth, depth_mask=False):
                gpu.state.line_width_set(1.0)
                self._lines.bind()
                self._lines.uniform_float("to_clip", flat)
                self._lines.uniform_float("tint", (*tint, 1.0))
                batch.draw(self._lines)


def _passes(colour: Any) -> tuple[tuple[str, Any], ...]:
    return ("ALWAYS", tuple(_DIM * c for c in colour)), ("LESS_EQUAL", tuple(colour))


def tets_batch(corners: Corners) -> Any:
    """Triangles on the card."""
    return batch_of("TRIS", **corners._asdict())


def marks_batch(kind: str, points: np.ndarray) -> Any:
    """Points (n,3) on the card, as POINTS or as the ends of LINES; None without any."""
    if len(points) == 0:
        return None
    return batch_of(kind, position=np.column_stack([points, np.ones(len(points))]))
