"""Force field of a job, sampled at every frame.

``field_interpolation.py`` interpolates the field at any time. This module must not load compiled kernels, since kernels
would delay Blender's start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...foundation.errors import FieldError
from ...foundation.schema.declared_types import coerce
from ...foundation.schema.field_metadata import field_spec, leaves, lengths
from ...mechanics.forces.field_coordinates import FALLOFFS, SHAPES, Z_DIRECTIONS, FieldForm, FieldNumbers
from ...mechanics.forces.field_formulas import FORMULAS, SAMPLED
from .absorber import Absorber

UNBOUNDED = ("distance_max", "radial_max")
"""Names of the :class:`FieldNumbers` that may be infinite."""


@dataclass(frozen=True)
class ForceField:
    """Force field in world space, static or animated.

    The number of frames is f, or 1 for constant values.

    Attributes
    ----------
    name : str
        Name in messages.
    form : FieldForm
        Type of the field, its shape, and the type of its falloff.
    numbers : (f,12) float64
        Strength, damping, falloff and other parameters, in the order of :class:`FieldNumbers`. Lengths are in units of
        the form's ``unit_length``.
    centres : (f,3) m; axes : (f,3) unit vectors
    seed : int
        Seed of the noise.
    vertices : (f,k,3) m, normals : (f,k,3) unit vectors, triangles : (t,3)
        Mesh of the shape ``SURFACE`` (without normals) or ``POINTS`` (without triangles); None for other shapes.
    low, high : (3,) m; samples : (f,a,b,c,k)
        Corners of a box, and k values at each of the a x b x c knots of a grid in the box
        (:class:`forces.field_samples.FieldSamples`). Only field types without a formula, such as textures, have a grid.
        For other types, ``low``, ``high`` and ``samples`` are None.
    absorbers : tuple of int
        Indices into ``Body.absorbers``. Each of these surfaces weakens the field in the region behind the surface.
    """

    name: str
    form: FieldForm = field_spec("kind")
    numbers: np.ndarray = field_spec("strength", dtype=np.float64, over_frames=True, once=True)
    centres: np.ndarray = field_spec("movement", dtype=np.float64, over_frames=True, once=True)
    axes: np.ndarray = field_spec("movement", dtype=np.float64, over_frames=True, once=True)
    seed: int = 0
    vertices: np.ndarray | None = field_spec("shape", default=None, dtype=np.float64, over_frames=True, once=True)
    normals: np.ndarray | None = field_spec("shape", default=None, dtype=np.float64, over_frames=True, once=True)
    triangles: np.ndarray | None = field_spec("shape", default=None, dtype=np.int32)
    low: np.ndarray | None = field_spec("samples", default=None, dtype=np.float64)
    high: np.ndarray | None = field_spec("samples", default=None, dtype=np.float64)
    samples: np.ndarray | None = field_spec("samples", default=None, dtype=np.float64, over_frames=True, once=True)
    absorbers: tuple[int, ...] = field_spec("absorbed by", default=(), names_of="absorbers")

    def __post_init__(self) -> None:
        store = object.__setattr__
        if not isinstance(self.form, tuple) or len(self.form) != len(FieldForm._fields):
            raise FieldError("Force field: form is not a FieldForm.", f"Give {', '.join(FieldForm._fields)}.")
        store(self, "form", FieldForm(*self.form))
        coerce(self, FieldError, "Force field")
        self._validate_form()
        self._validate_shapes()
        self._validate_values()

    def _refuse(self, problem: str, remedy: str) -> FieldError:
        return FieldError(f"The force field “{self.name}” {problem}.", remedy)

    def _validate_form(self) -> None:
        form, known = self.form, (*FORMULAS, *SAMPLED)
        for value, names in (
            (form.kind, known),
            (form.shape, SHAPES),
            (form.falloff, FALLOFFS),
            (form.z_direction, Z_DIRECTIONS),
        ):
            if value not in names:
                raise self._refuse(f"has the unknown option {value!r}", f"Choose one of {', '.join(names)}.")
        unit = form.unit_length
        if type(form.gravitation) is not bool or not isinstance(unit, float) or not 0.0 < unit < np.inf:
            raise self._refuse(
                "has an invalid form", "Set gravitation to True or False, and unit_length to a number above 0."
            )

    def _validate_shapes(self) -> None:
        shapes = {"numbers": (len(FieldNumbers._fields),), "centres": (3,), "axes": (3,)}
        if any(getattr(self, name).shape[1:] != shape for name, shape in shapes.items()):
            raise self._refuse("has arrays of wrong shapes", "Give numbers (frames, 12), centres and axes (frames, 3).")
        if self.form.shape in ("SURFACE", "POINTS"):
            has = self.vertices is not None and self.vertices.ndim == 3 and self.vertices.shape[1] > 0
            if not has or self.vertices.shape[2] != 3:
                raise self._refuse("has no vertices", "Give its object a mesh, or choose another shape.")
        if self.form.shape == "POINTS" and (self.normals is None or self.normals.shape[1:] != self.vertices.shape[1:]):
            raise self._refuse("has no normals", "Give one normal per vertex.")
        if self.form.shape == "SURFACE":
            t = self.triangles
            if t is None or t.ndim != 2 or t.shape[1] != 3 or len(t) == 0:
                raise self._refuse("has no faces", "Give its object a mesh with faces, or choose another shape.")
            if t.min() < 0 or t.max() >= self.vertices.shape[1]:
                raise self._refuse("has a face with a vertex that does not exist", "Check its mesh.")
        if self.form.kind in SAMPLED:
            grid = self.samples
            count = SAMPLED[self.form.kind]
            if grid is None or grid.ndim != 5 or grid.shape[4] != count or min(grid.shape[1:4]) < 2:
                raise self._refuse("has no samples", f"Give samples of {count} numbers at each knot of a grid.")
            if self.low is None or self.high is None or self.low.shape != (3,) or not (self.low < self.high).all():
                raise self._refuse("has a grid without a valid box", "Give the corners low and high, with low < high.")

    def _validate_values(self) -> None:
        numbers = FieldNumbers(*self.numbers.T)
        for name, values in numbers._asdict().items():
            if not (np.isfinite(values) | ((values == np.inf) if name in UNBOUNDED else False)).all():
                raise self._refuse(f"has a {name.replace('_', ' ')} that is not a number", "Check its animation.")
        arrays = [leaf.value for leaf in leaves(self) if isinstance(leaf.value, np.ndarray)]
        if not all(np.isfinite(array).all() for array in arrays if array is not self.numbers):
            raise self._refuse("has a position that is not a number", "Check its animation and its mesh.")
        if np.abs(np.linalg.norm(self.axes, axis=1) - 1.0).max() > 1e-6:
            raise self._refuse("has an axis of zero length", "Give its object a scale other than zero.")


def check_fields(fields: Sequence[ForceField], absorbers: Sequence[Absorber], frames: int) -> None:
    """Raise FieldError if the force ``fields`` and their ``absorbers`` do not fit each other over all frames."""
    if any(not 0 <= k < len(absorbers) for each in fields for k in each.absorbers):
        raise FieldError(
            "A force field names an absorber that does not exist.", "Give the index of an absorber, from 0."
        )
    for each in (*fields, *absorbers):
        if wrong := lengths(each) - {1, frames}:
            raise FieldError(
                f"“{each.name}” has values at {max(wrong)} frames, not {frames}.",
                "Give values at every frame, or once if they never change.",
            )
