"""GPU batches of the tetrahedra and fibres of a body, for the overlays."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.foundation.errors import StoreError
from ..drawing.gpu_overlay import marks_batch, tets_batch
from ..drawing.layer import Made
from ..scene_import.muscles_in import muscle_settings, muscle_values

if TYPE_CHECKING:
    from ..drawing.overlay_tets import ShownTets

LOOK = 0.5
"""Interval between checks of the disk for newer tetrahedra, s."""
SHORT, LONG = 0.6, 1.2
"""Stretches of fibres that are red and white, if the colour shows their shortening."""
PALE = 0.35
"""Share of the fibres' colour in the lines of a relaxed muscle; the rest is white."""


class TetsOf:
    """GPU batches of the tetrahedra of one body."""

    def __init__(self, uid: int) -> None:
        self.uid = uid
        self.tets: ShownTets | None = None
        self._looked = 0.0
        self._read, self._drawn, self._outside = Made(), Made(), Made()
        self._store: Any = None
        self._vertices: Made[Any] = Made()
        self._fibres: dict[int, Made[Any]] = {}

    def look(self, obj: Any) -> None:
        """Reload the body's tetrahedra if newer files are on disk. The disk is checked at most every ``LOOK`` s."""
        if time.monotonic() - self._looked < LOOK:
            return
        from ..drawing.overlay_tets import newest_store, read_tets

        store, times = newest_store(obj)
        self.tets = self._read.get((store and store.folder, times), lambda: None if store is None else read_tets(store))
        self._store, self._looked = store, time.monotonic()

    def batch(self, settings: Any) -> Any:
        """Return the batch of the tetrahedra's triangles, with the slice and colours in ``settings``."""
        wanted = settings.colour, self._slice(settings)
        return self._drawn.get((self.tets, wanted), lambda: tets_batch(self.tets.corners(*wanted)))

    def fibres(self, obj: Any, settings: Any, frame: int) -> list[Any]:
        """Return a batch of lines per muscle, as the bake deforms them at a frame. Paler lines have less of what
        ``settings.fibre_colour`` names.
        """
        cut, colour = self._slice(settings), settings.fibre_colour
        vertices = self._vertices.get((self.tets, self._store, frame), lambda: self._read_vertices(frame))
        batches = []
        for k in self.tets.muscles:
            if k >= len(obj.sinew.materials):
                continue
            muscle = obj.sinew.materials[k].muscle
            at = None if vertices is None else frame
            key = self.tets, at, cut, colour, muscle_values(muscle), round(muscle.activation, 2)
            make = partial(self._fibre_batch, k, muscle, cut, colour, vertices)
            batches.append(self._fibres.setdefault(k, Made()).get(key, make))
        return batches

    def _fibre_batch(self, material: int, muscle: Any, cut: Any, colour: str, vertices: Any) -> Any:
        found = self.tets.fibres(material, cut, vertices)
        if colour == "ACTIVATION":
            amount = np.full(len(found.stretch), muscle.activation)
        elif colour == "STRETCH":
            amount = (LONG - found.stretch) / (LONG - SHORT)
        else:
            settings = muscle_settings(muscle)
            amount = found.tension(settings, muscle.activation) / settings.strength
        shades = PALE + (1.0 - PALE) * np.clip(amount, 0.0, 1.0)
        return marks_batch("LINES", np.column_stack([found.ends, np.repeat(shades, 2)]))

    def _read_vertices(self, frame: int) -> np.ndarray | None:
        """Return the tet vertices at a frame of the bake, or None."""
        try:
            return None if self._store is None else self._store.vertices(frame)
        except StoreError:
            return None

    def _slice(self, settings: Any) -> Any:
        from ..drawing.overlay_tets import Slice

        cut = Slice("XYZ".index(settings.slice_axis), settings.slice_offset, settings.slice_flip)
        return cut if settings.use_slice else None

    def outside(self) -> Any:
        """Return a batch of points at the badly embedded vertices, or None.

        A badly embedded vertex is far outside all tetrahedra.
        """
        return self._outside.get(self.tets, lambda: marks_batch("POINTS", self.tets.outside))
