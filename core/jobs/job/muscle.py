"""Muscle of a body: a material whose tets contain fibres, with their direction and activation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...foundation.errors import MaterialError
from ...foundation.schema.declared_types import coerce
from ...foundation.schema.field_metadata import field_spec
from ...foundation.schema.muscle_settings import MuscleSettings
from ...foundation.schema.settings import MaterialSettings

SAMPLES, OVERLAP = 17, 0.3
"""Points of a curve that are tested against other muscles, and the fraction of them that may lie inside another one."""


@dataclass(frozen=True)
class FibreCurve:
    """Polyline along which fibres run.

    Attributes
    ----------
    points : (k,3) float64
        Points from the origin to the insertion of the muscle, in the body's space, m; at least two.
    radii : (k,) float64
        Radius of the muscle at each point, m. Tets within the radius get the muscle's material. All 0: none do.
    """

    points: np.ndarray = field_spec("points", dtype=np.float64)
    radii: np.ndarray = field_spec("radius", dtype=np.float64)

    def __post_init__(self) -> None:
        coerce(self, MaterialError, "Fibre curve")
        if self.points.ndim != 2 or self.points.shape[1:] != (3,) or not np.isfinite(self.points).all():
            raise MaterialError("The points of a muscle's curve are not finite.", "Give (k,3) finite coordinates.")
        steps = np.linalg.norm(np.diff(self.points, axis=0), axis=1)
        if not (steps > 0.0).any():
            raise MaterialError("A muscle's curve has no length.", "Move its points apart.")
        radii = self.radii
        if radii.shape != (len(self.points),) or not np.isfinite(radii).all() or (radii < 0.0).any():
            raise MaterialError("The radius of a muscle's curve is negative or not a number.", "Set it to 0 or more.")
        if radii.any() and not radii.all():
            raise MaterialError(
                "The radius of a muscle's curve is 0 at some of its points.",
                "Set a radius above 0 at each point, or 0 at all points to use the painted material.",
            )
        keep = np.concatenate([[True], steps > 0.0])
        object.__setattr__(self, "points", self.points[keep])
        object.__setattr__(self, "radii", radii[keep])


@dataclass(frozen=True)
class Muscle:
    """Fibres in the tets of one material.

    Attributes
    ----------
    material : int
        Index of the material among the body's materials.
    settings : MuscleSettings
    activation : (frames,) float64
        Activation at each frame, 0 to 1; or a single value.
    origin, insertion : (k,) int32
        Surface vertices at the two ends, between which the fibres run. Ignored if there are curves.
    curves : tuple of FibreCurve
        Curves along which the fibres run; each tet follows the nearest curve.
    map : (n,) float64 or None
        Factor on the activation at each surface vertex, 0 to 1; None: 1.
    """

    material: int
    settings: MuscleSettings = field_spec("", default_factory=MuscleSettings)
    activation: np.ndarray = field_spec("activation", default=(0.0,), dtype=np.float64, over_frames=True, once=True)
    origin: np.ndarray = field_spec("origin", default=(), dtype=np.int32, counted=True)
    insertion: np.ndarray = field_spec("insertion", default=(), dtype=np.int32, counted=True)
    curves: tuple[FibreCurve, ...] = field_spec("curve", default=())
    map: np.ndarray | None = field_spec("activation map", default=None, dtype=np.float64)

    def __post_init__(self) -> None:
        coerce(self, MaterialError, "Muscle")
        values = np.atleast_1d(self.activation)
        object.__setattr__(self, "activation", values)
        if values.ndim != 1 or not ((values >= 0.0) & (values <= 1.0)).all():
            raise MaterialError("The activation of a muscle is outside 0 to 1.", "Key values from 0 to 1.")
        if self.map is not None and not ((self.map >= 0.0) & (self.map <= 1.0)).all():
            raise MaterialError("The activation map of a muscle is outside 0 to 1.", "Paint values from 0 to 1.")


def check_muscles(muscles: Sequence[Muscle], materials: Sequence[MaterialSettings], vertices: int, frames: int) -> None:
    """Raise MaterialError if the muscles do not fit a body.

    ``materials``: materials of the body. ``vertices``: number of its surface vertices. ``frames``: number of frames.
    """
    used = [muscle.material for muscle in muscles]
    if any(not 0 <= material < len(materials) for material in used):
        raise MaterialError("A muscle uses a material that does not exist.", "Choose its material again.")
    if len(set(used)) < len(used):
        name = materials[max(used, key=used.count)].name
        raise MaterialError(f"Two muscles use the material “{name}”.", "Give each muscle a material of its own.")
    for muscle in muscles:
        _check(muscle, f"The muscle “{materials[muscle.material].name}”", vertices, frames)


def overlap_words(muscles: Sequence[Muscle], materials: Sequence[MaterialSettings]) -> str:
    """Return a warning about muscles along curves of which a large part lies inside another muscle, or ""."""
    from scipy.spatial import cKDTree  # slow to import

    samples = [
        (k, *_samples(curve)) for k, muscle in enumerate(muscles) for curve in muscle.curves if curve.radii.any()
    ]
    if len({k for k, *_ in samples}) < 2:
        return ""
    owners = np.concatenate([np.full(len(points), k) for k, points, _ in samples])
    points, radii = (np.concatenate([each[part] for each in samples]) for part in (1, 2))
    tree = cKDTree(points)
    found = []
    for k in np.unique(owners):
        own = np.flatnonzero(owners == k)
        near = tree.query_ball_point(points[own], radii.max())
        counts: dict[int, int] = {}
        for sample, others in zip(own, near, strict=True):
            distance = np.linalg.norm(points[others] - points[sample], axis=1)
            for other in set(owners[others][distance < radii[others]].tolist()) - {int(k)}:
                counts[other] = counts.get(other, 0) + 1
        found += [(k, other) for other, count in counts.items() if other > k and count > OVERLAP * len(own)]
    names = [materials[muscle.material].name for muscle in muscles]
    return " ".join(
        f"The muscles “{names[a]}” and “{names[b]}” overlap: the lower in the list of materials gets the flesh."
        for a, b in found
    )


def _samples(curve: FibreCurve) -> tuple[np.ndarray, np.ndarray]:
    """Return evenly spaced points (s,3) along a curve, and the radii (s,) there."""
    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(curve.points, axis=0), axis=1))])
    at = np.linspace(0.0, lengths[-1], SAMPLES)
    points = np.column_stack([np.interp(at, lengths, curve.points[:, axis]) for axis in range(3)])
    return points, np.interp(at, lengths, curve.radii)


def _check(muscle: Muscle, words: str, vertices: int, frames: int) -> None:
    if len(muscle.activation) not in (1, frames):
        raise MaterialError(
            f"{words} has its activation at {len(muscle.activation)} frames, not {frames}.",
            "Give one value per frame, or a single value.",
        )
    if muscle.map is not None and muscle.map.shape != (vertices,):
        raise MaterialError(
            f"{words} has an activation map of shape {muscle.map.shape}, not {(vertices,)}.", "Paint the map again."
        )
    if muscle.curves:
        return
    for end, chosen in (("origin", muscle.origin), ("insertion", muscle.insertion)):
        if chosen.ndim != 1 or (len(chosen) and not 0 <= chosen.min() <= chosen.max() < vertices):
            raise MaterialError(f"{words}: its {end} names vertices that do not exist.", "Choose them again.")
        if not len(chosen):
            raise MaterialError(
                f"{words} has no {end}, so its fibres have no direction.",
                "Paint a vertex group for each of its two ends, or choose a curve.",
            )
    if len(both := np.intersect1d(muscle.origin, muscle.insertion)):
        raise MaterialError(
            f"{words}: vertex {both[0]} belongs to its origin and its insertion.",
            "Remove it from one of the two vertex groups.",
        )
