"""Dividers: scalar fields and Voronoi cells that split a solid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from .manifold_solids import bounded_cells, level_set_solid


@dataclass(frozen=True)
class Box:
    """Axis-aligned box around the body, ``low`` (3,) to ``high`` (3,), and the edge length of seam faces."""

    low: np.ndarray
    high: np.ndarray
    edge: float


class Divider(Protocol):
    """Division of space into cells, numbered from 0."""

    def cells(self, box: Box) -> Sequence[Any]:
        """Return the solids of the cells in a box. The last one may be None: the rest of the box."""

    def moved(self, offset: np.ndarray) -> Divider:
        """Return the divider displaced by ``offset`` (3,), much less than an edge."""

    def across(self, cells: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Return the cell on the other side of seam points, (p,).

        ``points`` (p,3): on the border of a cell. ``cells`` (p,): number of that cell.
        """

    def cut_frames(self, points: np.ndarray, edge: float) -> np.ndarray:
        """Return the frame in which the seam is cut at ``points`` (p,3), (p,); inf for never."""

    @property
    def tear_stress(self) -> float:
        """Force per area at which the seam tears, Pa; inf for never."""


@dataclass(frozen=True)
class FieldDivider:
    """Division by the sign of a scalar field: cell 0 where it is negative, cell 1 elsewhere.

    Attributes
    ----------
    values : function from points (p,3) to the field, (p,)
    frames : function from seam points (p,3) and their edge length to cut frames, (p,)
    tear_stress : Pa
    """

    values: Callable[[np.ndarray], np.ndarray]
    frames: Callable[[np.ndarray, float], np.ndarray] | None = None
    tear_stress: float = np.inf

    def cells(self, box: Box) -> Sequence[Any]:
        """Return the solid where the field is negative, and None."""
        return level_set_solid(self.values, box.low, box.high, box.edge), None

    def moved(self, offset: np.ndarray) -> FieldDivider:
        """Return the divider displaced by ``offset`` (3,)."""
        return replace(self, values=lambda points: self.values(points - offset)) if offset.any() else self

    def across(self, cells: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Return the other cell."""
        return 1 - cells

    def cut_frames(self, points: np.ndarray, edge: float) -> np.ndarray:
        """Return the cut frames of seam points."""
        return np.full(len(points), np.inf) if self.frames is None else self.frames(points, edge)


@dataclass(frozen=True)
class FragmentDivider:
    """Division into the Voronoi cells of ``seeds`` (s,3), held together by a seam that tears at ``tear_stress``, Pa."""

    seeds: np.ndarray
    tear_stress: float

    def cells(self, box: Box) -> Sequence[Any]:
        """Return the Voronoi cells."""
        return bounded_cells(self.seeds, box.low, box.high, box.edge)

    def moved(self, offset: np.ndarray) -> FragmentDivider:
        """Return the cells displaced by ``offset`` (3,)."""
        return replace(self, seeds=self.seeds + offset)

    def across(self, cells: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Return the nearest seed besides that of the cell itself."""
        away = np.linalg.norm(points[:, None] - self.seeds, axis=2)
        away[np.arange(len(points)), cells] = np.inf
        return away.argmin(axis=1)

    def cut_frames(self, points: np.ndarray, edge: float) -> np.ndarray:
        """Return inf: no cutter passes."""
        return np.full(len(points), np.inf)
