"""Interpolation of force fields in time.

All values of a field, and its noise, are interpolated linearly between frames. Sampled tracks have one value per frame,
or one for all frames. At the fraction f between two frames, the value is ``(1 - f) before + f after``. Interpolated
axes are normalised. Infinite limits of distance stay infinite. Noise is a hash of the seed and the frame number, not a
random sequence. So a resumed bake and another machine compute the same values.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from ...geometry.mesh.nearest_point import NearestPointSearch
from ...jobs.job.absorber import Absorber
from ...jobs.job.force_field import ForceField
from ...mechanics.forces.absorption import AbsorbingSurface
from ...mechanics.forces.evaluated_field import EvaluatedField
from ...mechanics.forces.field_coordinates import FieldNumbers
from ...mechanics.forces.field_samples import FieldSamples


class Absorbing:
    """Absorbing surfaces, interpolated between frames."""

    def __init__(self, absorbers: Sequence[Absorber]) -> None:
        self._absorbers = absorbers
        self._last: list[tuple[np.ndarray, float, AbsorbingSurface] | None] = [None] * len(absorbers)

    def at(self, frame: int, fraction: float) -> tuple[AbsorbingSurface, ...]:
        """Return all absorbing surfaces at a time between frames ``frame`` - 1 and ``frame``.

        Frames are counted from 0. ``fraction``, 0 to 1: position of the time between the two frames.
        """
        return tuple(self._surface(k, frame, fraction) for k in range(len(self._absorbers)))

    def _surface(self, k: int, frame: int, fraction: float) -> AbsorbingSurface:
        absorber, last = self._absorbers[k], self._last[k]
        positions = _between(absorber.positions, frame, fraction)
        absorption = float(_between(absorber.absorption, frame, fraction))
        if last is None or last[1] != absorption or not np.array_equal(last[0], positions):
            surface = AbsorbingSurface(positions, absorber.triangles, absorption, None if last is None else last[2])
            last = self._last[k] = positions, absorption, surface
        return last[2]


def interpolate_field(
    field: ForceField, frame: int, fraction: float, absorbing: Sequence[AbsorbingSurface] = ()
) -> EvaluatedField:
    """Return the force field at a time between frames ``frame`` - 1 and ``frame``.

    Frames are counted from 0.
    ``fraction``, 0 to 1: position of the time between the two frames.
    ``absorbing``: all absorbing surfaces of the job at that time.
    """

    def now(values: np.ndarray | None) -> np.ndarray | None:
        return None if values is None else _between(values, frame, fraction)

    axis = now(field.axes)
    length = float(np.linalg.norm(axis))
    # An axis that reverses has no direction half-way: use the axis of the later frame.
    axis = axis / length if length > 0.0 else field.axes[min(frame, len(field.axes) - 1)]
    vertices, samples = now(field.vertices), now(field.samples)
    return EvaluatedField(
        field.form,
        _numbers(field, frame, fraction),
        now(field.centres),
        axis,
        NearestPointSearch(vertices, field.triangles) if field.form.shape == "SURFACE" else None,
        vertices,
        now(field.normals),
        None if samples is None else FieldSamples(field.low, field.high, samples),
        tuple(absorbing[k] for k in field.absorbers),
    )


def _numbers(field: ForceField, frame: int, fraction: float) -> FieldNumbers:
    numbers = FieldNumbers(*(float(n) for n in _between(field.numbers, frame, fraction)))
    if numbers.noise == 0.0:
        return numbers
    wavering = (1.0 - fraction) * _waver(field.seed, frame - 1) + fraction * _waver(field.seed, frame)
    # The noise also varies the two coefficients of drag and the damping of a harmonic field.
    damping = numbers.damping + numbers.noise * wavering * (field.form.kind in ("DRAG", "HARMONIC"))
    return numbers._replace(strength=numbers.strength + numbers.noise * wavering, damping=damping)


def _between(values: np.ndarray, frame: int, fraction: float) -> np.ndarray:
    if len(values) == 1 or fraction == 1.0:
        return values[min(frame, len(values) - 1)]
    before, after = values[frame - 1], values[frame]
    with np.errstate(invalid="ignore"):  # infinite bounds stay infinite
        return np.where(before == after, after, before + fraction * (after - before))


def _waver(seed: int, frame: int) -> float:
    """Return the noise of a seed at a frame, from -1 to 1."""
    return int.from_bytes(hashlib.sha256(f"{seed} {frame}".encode()).digest()[:6]) / 2**47 - 1.0
