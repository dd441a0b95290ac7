"""GPU batches of the tetrahedra and fibres of a body, for the overlays."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from ..drawing.gpu_overlay import marks_batch, tets_batch
from ..drawing.layer import Made

if TYPE_CHECKING:
    from ..drawing.overlay_tets import ShownTets

LOOK = 0.5
"""Interval between checks of the disk for newer tetrahedra, s."""
PALE = 0.35
"""Share of the fibres' colour in the lines of a relaxed muscle; the rest is white."""


class TetsOf:
    """GPU batches of the tetrahedra of one body."""

    def __init__(self, uid: int) -> None:
        self.uid = uid
        self.tets: ShownTets | None = None
        self._looked = 0.0
        self._read, self._drawn, self._outside = Made(), Made(), Made()
        self._fibres: dict[int, Made[Any]] = {}

    def look(self, obj: Any) -> None:
        """Reload the body's tetrahedra if newer files are on disk. The disk is checked at most every ``LOOK`` s."""
        if time.monotonic() - self._looked < LOOK:
            return
        from ..drawing.overlay_tets import newest_store, read_tets

        store, times = newest_store(obj)
        self.tets = self._read.get((store and store.folder, times), lambda: None if store is None else read_tets(store))
        self._looked = time.monotonic()

    def batch(self, settings: Any) -> Any:
        """Return the batch of the tetrahedra's triangles, with the slice and colours in ``settings``."""
        wanted = settings.colour, self._slice(settings)
        return self._drawn.get((self.tets, wanted), lambda: tets_batch(self.tets.corners(*wanted)))

    def fibres(self, obj: Any, settings: Any) -> list[Any]:
        """Return a batch of lines per muscle. Lines are paler the less their muscle is activated."""
        wanted = self._slice(settings)
        batches = []
        for k in self.tets.muscles:
            active = obj.sinew.materials[k].muscle.activation if k < len(obj.sinew.materials) else 0.0
            made = self._fibres.setdefault(k, Made())
            shade = round(PALE + (1.0 - PALE) * active, 2)
            batches.append(made.get((self.tets, wanted, shade), lambda k=k, s=shade: self._fibre_batch(k, wanted, s)))
        return batches

    def _fibre_batch(self, material: int, cut: Any, shade: float) -> Any:
        lines = self.tets.fibres(material, cut)
        return marks_batch("LINES", np.column_stack([lines, np.full(len(lines), shade)]))

    def _slice(self, settings: Any) -> Any:
        from ..drawing.overlay_tets import Slice

        cut = Slice("XYZ".index(settings.slice_axis), settings.slice_offset, settings.slice_flip)
        return cut if settings.use_slice else None

    def outside(self) -> Any:
        """Return a batch of points at the badly embedded vertices, or None.

        A badly embedded vertex is far outside all tetrahedra.
        """
        return self._outside.get(self.tets, lambda: marks_batch("POINTS", self.tets.outside))
