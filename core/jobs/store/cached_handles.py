"""Handles of a bake: a few affine maps per frame, blended by constant vertex weights.

Handles are stored beside the frames. All data are in the object's local coordinates, so that the object's animation
still moves the result. User interfaces read handles without loading the code that computes them (``fit_handles``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..job.job import Job
from .cached_arrays import sides_of
from .frame_store import FrameStore

HANDLES_FORMAT = 2
"""Version in the cache key. Raise it when the same frames and modes give other handles than before."""

_SCHEMA = {
    "frames": "i4 f",
    "weights": "f4 n h",
    "handles": "f4 f k 4 3",
    "centre": "f4 3",
    "size": "f4 1",
    "errors": "f8 f 2",
}

APART = 0.02
"""Largest error of the drawn handles, relative to the body's size, at which live mode gives no warning."""

CLOSE = 0.01
"""Largest acceptable error, relative to the body's size. For a larger error, more handles are fitted.

With a larger error, parts in contact can show through one another.
"""

EXACT = 1e-6
"""Largest error, relative to the body's size, that counts as round-off of 32-bit numbers."""


class Handles(NamedTuple):
    """Skinning handles that reproduce the frames of a bake by blended affine maps.

    The maps are blended by h weights and the constant weight 1.

    Attributes
    ----------
    frames : (f,) int32, frame numbers
    weights : (n,h) float32, at the surface's n vertices; the largest value of each weight is 1
    handles : (f,1+h,4,3) float32, affine maps in the object's local coordinates; the map of the constant weight is
        first
    centre : (3,) float32; size : (1,) float32, which normalise a point p to ``c(p) = [(p - centre) / size, 1]``
    errors : (f,2) float64, m: distance of the vertices from their baked positions, root mean square and maximum
    """

    frames: np.ndarray
    weights: np.ndarray
    handles: np.ndarray
    centre: np.ndarray
    size: np.ndarray
    errors: np.ndarray

    @property
    def largest_error(self) -> float:
        """Largest distance, m, of a vertex from its baked position in any frame."""
        return float(self.errors[:, 1].max(initial=0.0))

    @property
    def _worst(self) -> int:
        return int(self.frames[self.errors[:, 1].argmax()])

    def crossing_words(self, size: float) -> str:
        """Return a warning that surfaces in contact may visibly intersect, or "" if the error is small.

        ``size``: size of the body, m.
        """
        most = self.largest_error / size
        if most <= CLOSE:
            return ""
        return (
            f"The result uses shape keys. With Geometry Nodes, vertices would be off by {100 * most:.2g} % of the "
            f"body's size (frame {self._worst}), and parts in contact would show through one another. Set Result to "
            "Shape Keys or Mesh Cache."
        )

    def error_words(self, size: float) -> str:
        """Return the mean and the largest error, relative to the body's ``size``, m, as text."""
        mean, most = np.sqrt(np.mean(self.errors[:, 0] ** 2)) / size, self.largest_error / size
        if most < EXACT:
            return "The result equals the baked frames up to round-off."
        most_words = f"{100 * most:.2g} % at most (frame {self._worst})"
        remedy = " Parts in contact may show through one another; Shape Keys avoid this." if most > CLOSE else ""
        return f"Deviates from the bake by {100 * mean:.2g} % of the size on average, by {most_words}.{remedy}"


def cache_handles(store: FrameStore, modes: int, handles: Handles) -> None:
    """Store skinning ``handles`` fitted to the frames of a bake.

    ``modes``: requested number of skinning modes, or 0 for handles from a subspace solver; stored for later validation.
    """
    store.write_cached("handles", handles._asdict(), {"key": [HANDLES_FORMAT, modes]})


def cached_handles(job: Job, store: FrameStore, modes: int) -> Handles | None:
    """Return the stored handles if they belong to exactly the frames in the store, or None.

    ``modes``: requested number of skinning modes.

    Valid handles were computed for this number of modes, or come from a subspace solver.
    """
    cached = store.read_cached("handles")
    if cached is None or cached[1].get("key") not in ([HANDLES_FORMAT, 0], [HANDLES_FORMAT, modes]):
        return None
    sides = sides_of(cached[0], _SCHEMA, n=len(job.body.surface.positions))
    if sides is None or sides["k"] != 1 + sides["h"]:
        return None
    found = Handles(**cached[0])
    return found if found.frames.tolist() == store.frames() and found.size[0] > 0.0 else None
