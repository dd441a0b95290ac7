"""Muscles of a job's body: fibres in the elements of a space, and their load in each substep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ...foundation.errors import MaterialError, SettingsError, named
from ...foundation.schema.muscle_settings import MuscleSettings
from ...foundation.schema.settings import SolverSettings
from ...geometry.mesh.embedding import Embedding
from ...geometry.mesh.tet_mesh import TetMesh
from ...jobs.job.job import Job
from ...jobs.job.muscle import Muscle
from ...mechanics.constraints.pins import PinnedSurface, PinSprings
from ...mechanics.fibres.directions import FibreDirections, directions_along, directions_between
from ...mechanics.fibres.fibre_potential import FibrePotential
from ...mechanics.fibres.law import FibreTerms
from ...mechanics.fibres.registry import fibre_law
from ...mechanics.fibres.tubes import tube
from ...mechanics.forces.springs import Springs
from ...mechanics.materials.fields import MaterialFields
from ...mechanics.materials.layer import Layer
from ...mechanics.materials.surface_to_tet_transfer import transfer_map
from ...methods.eigenfit.vibrations import modes_in_space
from ...methods.model.model import ActivationModes, Model
from ...methods.solvers import make_solver
from ...methods.subspaces.reduced_model import Subspace
from .body_mesh import outer_surface

ACTIVATIONS = 0.02, 0.3, 0.6, 1.0
"""Activations whose static displacements become activation modes."""

STATIC_STEP, STATIC_ITERATIONS, STATIC_TOLERANCE = 100.0, 8, 1e-3
"""Time step, s, most iterations, and tolerance of such a static displacement. It need not be converged: all that counts
is the space that the displacements span.
"""

MANY, MOST_COLUMNS = 12, 36
"""MANY: largest number of muscles with modes of their own. MOST_COLUMNS: columns of the principal linear displacements
by more muscles.
"""

SHIFT = 1e-4
"""Stiffness per mass, 1/s², that holds a free body in linear displacements: that of the step ``STATIC_STEP``."""

LEAST = 0.05
"""Least weight of the muscle's material in a tet with fibres."""


class MuscleFibres(NamedTuple):
    """Fibres of one muscle in f tets.

    ``tets`` (f,): indices. ``directions``: rest directions and positions along the muscle. ``amount`` (f,): weight of
    the muscle's material, 0 to 1. ``map`` (f,): factor on the activation, 0 to 1.
    """

    tets: np.ndarray
    directions: FibreDirections
    amount: np.ndarray
    map: np.ndarray


def muscle_layers(muscles: Sequence[Muscle]) -> tuple[Layer, ...]:
    """Return the layers of the muscles whose curves have radii: tubes around the curves, of the muscle's material."""
    tubes = {
        muscle.material: tuple(tube(curve.points, curve.radii) for curve in muscle.curves if curve.radii.any())
        for muscle in muscles
    }
    return tuple(Layer(material, surfaces) for material, surfaces in tubes.items() if surfaces)


def muscle_fibres(job: Job, mesh: TetMesh, embedding: Embedding, fields: MaterialFields) -> tuple[MuscleFibres, ...]:
    """Return the fibres of each muscle of the job's body.

    Raises
    ------
    MaterialError
        A muscle has no tet, or no direction.
    """
    body, found, whole, embedding = job.body, [], mesh.whole, embedding.in_whole(mesh)
    for muscle in body.muscles:
        name = body.materials[muscle.material].name
        weights = fields.weights[mesh.firsts, muscle.material]
        tets = np.flatnonzero(weights > LEAST)
        if not len(tets):
            raise MaterialError(
                f"The muscle “{name}” contains no tetrahedron.", "Make it thicker, or raise the resolution."
            )
        with named(name):
            directions = _directions(muscle, whole, embedding, tets)
        scale = np.ones(len(tets))
        if muscle.map is not None:
            scale = transfer_map(whole, embedding, outer_surface(body), muscle.map)[tets]
        row = np.full(len(whole.tets), -1)
        row[tets] = np.arange(len(tets))
        copies = np.flatnonzero(row[mesh.origins] >= 0)
        own = row[mesh.origins[copies]]
        directions = FibreDirections(*(each[own] for each in directions))
        found.append(MuscleFibres(copies, directions, weights[tets][own], scale[own]))
    return tuple(found)


def fibres_of_tets(
    muscles: Sequence[Muscle], fibres: Sequence[MuscleFibres], count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each tet, for display: the fibre direction (count,3), the index (count,) of the muscle's material, and
    the position (count,) between the muscle's ends.

    Tets without fibres have the direction 0 and the index -1. Of several muscles in a tet, the last one counts.
    """
    directions, indices, parts = np.zeros((count, 3)), np.full(count, -1), np.zeros(count)
    for muscle, each in zip(muscles, fibres, strict=True):
        directions[each.tets], indices[each.tets] = each.directions.along, muscle.material
        parts[each.tets] = each.directions.part
    return directions, indices, parts


def _directions(muscle: Muscle, mesh: TetMesh, embedding: Embedding, tets: np.ndarray) -> FibreDirections:
    if muscle.curves:
        centres = mesh.rest_positions[mesh.tets[tets]].mean(axis=1)
        return directions_along(centres, [curve.points for curve in muscle.curves])
    ends = (np.unique(mesh.tets[embedding.tet_indices[end]]) for end in (muscle.origin, muscle.insertion))
    return directions_between(mesh, tets, *ends)


class _Part(NamedTuple):
    """Fibres ``rows`` that obey one law with the same settings.

    ``active`` (f,): factor on the activation of their muscle, whose index is ``muscle`` (f,).
    """

    rows: slice
    settings: MuscleSettings
    active: np.ndarray
    muscle: np.ndarray


class _Fibres(NamedTuple):
    """Fibres of one muscle with the same settings: elements (f,), directions (f,3), volumes (f,) m³, ``active`` (f,)
    and ``muscle`` (f,) as in :class:`_Part`.
    """

    elements: np.ndarray
    along: np.ndarray
    volumes: np.ndarray
    active: np.ndarray
    muscle: np.ndarray


class Muscles:
    """Fibres of all muscles of a body in a space, with their load in each substep.

    Parameters
    ----------
    job : Job
    fibres : fibres of each muscle (:func:`muscle_fibres`)
    model : full model of the body
    subspace : the subspace of the solver; None for the full space

    Raises
    ------
    MaterialError
        A muscle contains no element with a direction.
    """

    def __init__(self, job: Job, fibres: Sequence[MuscleFibres], model: Model, subspace: Subspace | None) -> None:
        self._activation = [np.resize(one.activation, job.frame_count) for one in job.body.muscles]
        self._set: list[float] = []
        found: dict[MuscleSettings, list[_Fibres]] = {}
        for k, (muscle, each) in enumerate(zip(job.body.muscles, fibres, strict=True)):
            share, direction, part, active = _in_elements(each, model)
            rows = np.flatnonzero(share > LEAST)
            if not len(rows):
                name = job.body.materials[muscle.material].name
                raise MaterialError(
                    f"The muscle “{name}” contains no element with a fibre direction.",
                    "Make it thicker, raise the resolution, or check that its fibres do not run in opposite ways.",
                )
            is_tendon = muscle.settings.is_tendon(part[rows])
            for own, settings in ((rows[~is_tendon], muscle.settings), (rows[is_tendon], muscle.settings.of_tendon)):
                factor = active[own] if settings is muscle.settings else np.zeros(len(own))
                volumes = (share * model.elastic.weights)[own]
                fibre = _Fibres(own, direction[own], volumes, factor, np.full(len(own), k))
                found.setdefault(settings, []).append(fibre)
        # Muscles of the same settings are evaluated together: a body may have hundreds.
        together = [_Fibres(*map(np.concatenate, zip(*each, strict=True))) for each in found.values()]
        ends = np.cumsum([len(each.elements) for each in together])
        self._parts = [
            _Part(slice(end - len(each.elements), end), settings, each.active, each.muscle)
            for end, settings, each in zip(ends, found, together, strict=True)
        ]
        chosen, directions, self._weights = (np.concatenate([each[i] for each in together]) for i in range(3))
        self.vectors = model.fibre_vectors(chosen, directions)
        if subspace is not None:
            self.vectors = subspace.model.fibre_vectors(self.vectors, directions)

    def load(self, activation: Sequence[float]) -> FibrePotential:
        """Return the load of the muscles at an ``activation`` per muscle, 0 to 1."""
        return FibrePotential(self.vectors, self._weights, self._law(activation))

    def set_activation(self, activation: Sequence[float]) -> None:
        """Set an activation that applies instead of the keyed one.

        ``activation``: one value per muscle, 0 to 1; empty to apply the keyed activation again.

        Raises SettingsError if a value is missing or out of range.
        """
        values = np.array(activation, dtype=np.float64)
        if len(values) and (len(values) != len(self._activation) or not ((values >= 0.0) & (values <= 1.0)).all()):
            raise SettingsError("The activation of a muscle is outside 0 to 1.", "Set it from 0 to 1.")
        self._set = [float(value) for value in values]

    def activation_at(self, frame: int, part: float) -> list[float]:
        """Return the activation of each muscle at the fraction ``part`` between the frames ``frame`` - 1 and ``frame``.

        Frames are counted from 0. The result of :meth:`set_activation` applies to all frames.
        """
        if self._set:
            return self._set
        before, after = max(frame - 1, 0), frame
        return [float((1.0 - part) * track[before] + part * track[after]) for track in self._activation]

    def _law(self, activation: Sequence[float]) -> Callable[[np.ndarray], FibreTerms]:
        values = np.asarray(activation, dtype=np.float64)
        active = [values[each.muscle] * each.active for each in self._parts]

        def law(stretch: np.ndarray) -> FibreTerms:
            parts = [
                fibre_law(each.settings.law).terms(stretch[each.rows], now, each.settings)
                for each, now in zip(self._parts, active, strict=True)
            ]
            return FibreTerms(*(np.concatenate(values) for values in zip(*parts, strict=True)))

        return law


def activation_modes(job: Job, fibres: Sequence[MuscleFibres], model: Model, pinned: PinnedSurface) -> ActivationModes:
    """Return the deformation of the body by its muscles, for subspaces.

    Modes are static displacements by each muscle alone at the ``ACTIVATIONS``. Their coordinates x, y, z are three
    scalar columns each, so that rotated deformations are in the subspace too. If the muscles are many, the modes are
    the displacements by all together, and the principal ones of the linear displacements by each.
    """
    muscles, count = Muscles(job, fibres, model, None), len(fibres)
    shares = sum(_in_elements(each, model)[0] for each in fibres)
    if count <= MANY:
        found = _static_displacements(job, muscles, np.eye(count), model, pinned)
        return ActivationModes(shares > LEAST, _columns(found), found)
    found = _static_displacements(job, muscles, np.ones((1, count)), model, pinned)
    rest = model.mesh.rest_positions
    pulls = [-muscles.load(ACTIVATIONS[0] * one).gradient(rest) for one in np.eye(count)]
    linear = _columns(modes_in_space(model, None, np.array(pulls), SHIFT))
    left, sizes, _ = np.linalg.svd(linear, full_matrices=False)
    principal = left[:, sizes > 1e-9 * sizes[0]][:, :MOST_COLUMNS]
    columns = np.hstack([_columns(found), principal / np.abs(principal).max(axis=0)])
    return ActivationModes(shares > LEAST, columns, found)


def _columns(displacements: np.ndarray) -> np.ndarray:
    """Return the coordinates of displacements (k,n,3) as columns (n,3k), each displacement scaled to a size of 1."""
    sizes = np.abs(displacements).max(axis=(1, 2), keepdims=True)
    return np.hstack(list(displacements / np.maximum(sizes, 1e-12 * max(float(sizes.max()), 1e-300))))


def _static_displacements(
    job: Job, muscles: Muscles, sets: np.ndarray, model: Model, pinned: PinnedSurface
) -> np.ndarray:
    """Return the static displacements (k,n,3), m, by sets of muscles at the ``ACTIVATIONS``.

    ``sets`` (s,muscles): 1 for the muscles of a set, else 0.
    """
    still = SolverSettings(gravity=(0.0, 0.0, 0.0), max_iterations=STATIC_ITERATIONS, tolerance=STATIC_TOLERANCE)
    rest = model.mesh.rest_positions
    springs = PinSprings(pinned, model.youngs_modulus, model.points).holding(
        min(1, job.frame_count - 1), np.ones(len(model.mesh.tets))
    )
    holding = [] if springs is None else [Springs(springs.points, springs.stiffness, springs.points.positions(rest))]
    displacements = []
    for one in sets:
        solver, state = make_solver(model, still), model.rest_state()
        for activation in ACTIVATIONS:
            load = muscles.load(activation * one)
            state, _report = solver.step(state, rest[model.pinned], STATIC_STEP, [load, *holding])
            state = model.state_at(state.positions)
            displacements.append(state.positions - rest)
    return np.array(displacements)


def _in_elements(fibres: MuscleFibres, model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return for each element the share of the muscle, the fibre direction, the position along it, and the map."""
    m = len(model.mesh.tets)
    values = np.zeros((m, 6))
    columns = (np.ones(len(fibres.tets)), *fibres.directions.along.T, fibres.directions.part, fibres.map)
    values[fibres.tets] = fibres.amount[:, None] * np.column_stack(columns)
    share, x, y, z, part, active = model.elements.mean(values).T
    along = np.column_stack([x, y, z])
    length = np.linalg.norm(along, axis=1)
    # Opposite directions in one element cancel: it gets no fibre.
    share = np.where(length > 0.5 * share, share, 0.0)
    some = np.maximum(share, LEAST)
    return share, along / np.maximum(length, 1e-12)[:, None], part / some, active / some
