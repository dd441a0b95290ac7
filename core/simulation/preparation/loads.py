"""Loads on a body in each substep: springs, penalty contact with colliders, accelerations and force fields.

Spring targets and collider positions are interpolated linearly between the samples of their tracks. Strengths and
accelerations are interpolated between frames. Loads depend on frame and substep only, so a resumed bake computes the
same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...contact.penalty.collider_pose import ColliderPose
from ...contact.penalty.collider_surface import ColliderSurface
from ...contact.penalty.contact_points import ContactPoints
from ...contact.penalty.mesh_collider import MeshCollider
from ...contact.penalty.obstacle import GroundPlane, Obstacle
from ...contact.penalty.penalty import PenaltyContact, PenaltyParameters
from ...foundation.schema.settings import ColliderSettings, moduli
from ...foundation.schema.tracks import samples_at
from ...geometry.mesh.embedding import Embedding
from ...geometry.mesh.farthest_points import Chosen, farthest_points
from ...geometry.mesh.surface_mesh import SurfaceMesh, signed_volume
from ...jobs.job.absorber import Absorber
from ...jobs.job.chamber import Chamber
from ...jobs.job.environment import Collider, Ground, Spring
from ...jobs.job.force_field import ForceField
from ...jobs.job.job import Job
from ...jobs.job.pair import PairSettings
from ...mechanics.fibres.fibre_potential import FibrePotential
from ...mechanics.forces.acceleration_field import AccelerationField
from ...mechanics.forces.chamber_pressure import ChamberPressure
from ...mechanics.forces.force_fields import ForceFields, MassPoints
from ...mechanics.forces.springs import Springs, goal_stiffness, shared_stiffness
from ...mechanics.forces.step_potential import Load
from ...mechanics.ties.glue import Glue
from ...methods.model.model import Model
from ...methods.subspaces.reduced_model import ReducedModel
from ...methods.subspaces.space import Space
from ...numerics.linear_solvers.protocol import DirectSolver
from .field_interpolation import Absorbing, interpolate_field
from .mass_points import mass_points
from .muscles import Muscles
from .seam_springs import SeamSprings
from .surface_to_body import SurfaceToBody

LEAST = ColliderSettings.__dataclass_fields__["thickness"].metadata["range"][0]
"""Smallest thickness of a collider in the settings, m."""


class Loads:
    """Loads of a prepared job, evaluated per substep.

    Parameters
    ----------
    job : Job
    model : Model
    space : the model itself, or its subspace
    embedding : embedding of the job's surface in the model's mesh
    solver : class of the direct linear solver for the extension of accelerations from the surface into the body
    muscles : muscles of the body, or None
    choose : function that selects a given number of contact points, called like :func:`farthest_points`

    Attributes
    ----------
    seams : springs between the pieces of a split body, or None without a seam

    Raises
    ------
    ColliderError, FieldError, SpringError
        A collider, force field or spring of the job cannot act.
    """

    def __init__(
        self,
        job: Job,
        model: Model,
        space: Space,
        embedding: Embedding,
        solver: type[DirectSolver],
        choose: Callable[[np.ndarray, int], Chosen] = farthest_points,
        muscles: Muscles | None = None,
    ) -> None:
        body = job.body
        self._substeps = body.solver.substeps
        self._movers: list[_Mover] = []
        self._touching: ContactPoints | None = None
        self._contacts: list[_Mover] = []
        if body.accelerations is not None:
            field = _ReducedField if space.is_reduced else _MovingField
            self._movers.append(field(body.accelerations, space, embedding, solver))
        self.muscles = muscles
        if muscles is not None:
            self._movers.append(_Contracting(muscles))
        if body.colliders:
            self._touching = _touching(job, model, space, choose)
            self._contacts = _contacts(job, model, self._touching)
            self._movers += self._contacts
        if body.force_fields:
            self._movers.append(_MovingForceFields(body.force_fields, body.absorbers, mass_points(model, space)))
        if body.chamber is not None:
            self._movers += _chambers(body.chamber, body.surface, space, embedding, job.frame_count)
        has_seams = body.seams is not None and bool(body.seams.seam_faces.any())
        self.seams = SeamSprings(job, model, space) if has_seams else None
        if self.seams is not None:
            self._movers.append(_HoldingPieces(self.seams))
        if (goal := body.goal) is not None:
            # The softest material, not the softest tet: moduli of tets at soft-stiff interfaces depend on tet size.
            each = goal_stiffness(body.surface, goal.vertices, goal.weights, min(moduli(body.materials)))
            self._movers.append(_MovingSpring(goal, each, space, embedding))
        # Springs come last, as the grabs of live mode do: a bake with a take's grabs as springs sums in the same order.
        shares = (shared_stiffness(1.0, spring.weights) for spring in body.springs)
        self._movers += [_MovingSpring(*each, space, embedding) for each in zip(body.springs, shares)]

    def without(self, colliders: Collection[int]) -> Loads:
        """Return the loads without penalty contact for some colliders.

        These colliders have an IPC barrier instead. ``colliders``: their indices in ``Body.colliders``.
        """
        left, gone = copy(self), [self._contacts[k] for k in colliders]
        left._movers = [mover for mover in self._movers if mover not in gone]
        left._touching = self._touching if len(gone) < len(self._contacts) else None
        return left

    def held(self, given: np.ndarray, pinned_tets: np.ndarray) -> np.ndarray | None:
        """Return the mask (p,) bool of the contact points that pins hold.

        Pins hold a point if its unknowns are prescribed, or if its tet contains a pin spring. Return None for a body
        without contact points.

        ``given``: indices of the prescribed unknowns.
        ``pinned_tets``: indices of the tets with pin springs.
        """
        if self._touching is None:
            return None
        in_springs = np.isin(self._touching.tets, pinned_tets)
        return in_springs | self._touching.points.held(given)

    def loads_at(
        self, frame: int, substep: int, held: np.ndarray | None = None, theta: float = 1.0
    ) -> tuple[Load, ...]:
        """Return the loads in a substep between frames ``frame`` - 1 and ``frame``.

        Frames are counted from 0. Obstacles are at their positions at the end of the substep. Other loads are evaluated
        at the fraction ``theta`` of the substep.

        ``substep``: number from 1 to the number of substeps.
        ``held`` (p,) bool: contact points that pins hold (:meth:`held`).
        """
        begin, end = (substep - 1) / self._substeps, substep / self._substeps
        step = _Substep(frame, begin, lerp(begin, end, theta), end, held)
        return tuple(mover.at(step) for mover in self._movers)


class _Substep(NamedTuple):
    """Substep from the fraction ``begin`` to ``end`` of a frame interval, with forces evaluated at ``now``."""

    frame: int
    begin: float
    now: float
    end: float
    held: np.ndarray | None


MakeContact = Callable[[Obstacle, float, np.ndarray | None], PenaltyContact]
"""Function that returns the penalty contact with an obstacle.

Its arguments are the obstacle, the coefficient of friction, and the mask (p,) bool of contact points that pins hold.
"""


class _Mover(Protocol):
    def at(self, step: _Substep) -> Load:
        """Return the load in a substep."""


def lerp(before: np.ndarray | float, after: np.ndarray | float, fraction: float) -> np.ndarray | float:
    """Return the linear interpolation from ``before`` to ``after``.

    ``fraction``: 0 to 1. At 1 the result is exactly ``after``.
    """
    return after if fraction == 1.0 else before + fraction * (after - before)


def track_at(track: np.ndarray, frames: int, frame: int, fraction: float) -> np.ndarray:
    """Return the values of a track at a time between frames ``frame`` - 1 and ``frame``.

    Values are interpolated linearly between the track's samples. Frames are counted from 0.

    ``frames``: number of frames.
    ``fraction``, 0 to 1: position of the time between the two frames.
    """
    return lerp(*samples_at(track, frames, frame, fraction))


class _Chamber:
    """Pressure in a chamber whose surface has the ``triangles`` of ``points``."""

    def __init__(self, chamber: Chamber, points: Any, triangles: np.ndarray, volume: float, frames: int) -> None:
        self._chamber, self._points, self._triangles, self._frames = chamber, points, triangles, frames
        self._volume = volume

    def at(self, step: _Substep) -> ChamberPressure:
        """Return the load in a substep."""
        pressure = pressure_at(self._chamber, self._frames, step.frame, step.now)
        volume = self._volume if self._chamber.is_gas else None
        return ChamberPressure(self._points, self._triangles, pressure, volume)


def pressure_at(chamber: Chamber, frames: int, frame: int, fraction: float) -> float:
    """Return the pressure that a chamber is given at a time, Pa, as in :func:`track_at`."""
    track = chamber.pressure
    return float(track[0] if len(track) == 1 else track_at(track, frames, frame, fraction))


def _chambers(
    chamber: Chamber, surface: SurfaceMesh, space: Space, embedding: Embedding, frames: int
) -> list[_Chamber]:
    """Return the pressure in each chamber of a body."""
    found = []
    for faces in chamber.surfaces(surface):
        used, triangles = np.unique(faces, return_inverse=True)
        volume = signed_volume(surface.positions, faces)
        points = space.points(embedding.take(used))
        found.append(_Chamber(chamber, points, triangles.reshape(-1, 3), volume, frames))
    return found


class _MovingSpring:
    def __init__(self, spring: Spring, shares: np.ndarray, space: Space, embedding: Embedding) -> None:
        points, targets = space.points(embedding.take(spring.vertices)), spring.targets
        if space.is_reduced:
            points, shares, matrix = points.condensing(shares)
            targets = targets if matrix is None else np.stack([matrix @ sample for sample in targets])
        self._points, self._shares, self._targets, self._stiffness = points, shares, targets, spring.stiffness

    def at(self, step: _Substep) -> Springs:
        frames = len(self._stiffness)
        stiffness = self._shares * track_at(self._stiffness, frames, step.frame, step.now)
        return Springs(self._points, stiffness, track_at(self._targets, frames, step.frame, step.now))


class _MovingField:
    def __init__(self, samples: np.ndarray, space: Space, embedding: Embedding, solver: type[DirectSolver]) -> None:
        self._samples, self._pull = samples, space.generalized_force
        self._shape = space.mesh.rest_positions.shape
        self._extension = None if _is_uniform(samples) else SurfaceToBody(space.mesh, embedding, solver)

    def at(self, step: _Substep) -> AccelerationField:
        now = track_at(self._samples, len(self._samples), step.frame, step.now)
        inside = np.broadcast_to(now, self._shape) if self._extension is None else self._extension.extend(now)
        return AccelerationField(self._pull(inside))


class _ReducedField:
    """Acceleration field of a body in a subspace, with generalised forces precomputed for all frames."""

    def __init__(
        self, samples: np.ndarray, space: ReducedModel, embedding: Embedding, solver: type[DirectSolver]
    ) -> None:
        if _is_uniform(samples):
            pulled = np.asarray(space.moved_mass.sum(axis=0)).reshape(-1, 1)
        else:
            pulled = SurfaceToBody(space.mesh, embedding, solver).transpose_product(space.moved_mass)
        self._forces = np.stack([pulled @ frame for frame in samples])

    def at(self, step: _Substep) -> AccelerationField:
        return AccelerationField(track_at(self._forces, len(self._forces), step.frame, step.now))


def _is_uniform(samples: np.ndarray) -> bool:
    """Return True if accelerations have one value per frame, (frames,1,3), not one per vertex."""
    return samples.shape[1] == 1


class _MovingForceFields:
    def __init__(self, fields: tuple[ForceField, ...], absorbers: tuple[Absorber, ...], body: MassPoints) -> None:
        self._fields, self._absorbing, self._body = fields, Absorbing(absorbers), body

    def at(self, step: _Substep) -> ForceFields:
        absorbing = self._absorbing.at(step.frame, step.now)
        return ForceFields(
            self._body, [interpolate_field(field, step.frame, step.now, absorbing) for field in self._fields]
        )


class _Contracting:
    def __init__(self, muscles: Muscles) -> None:
        self._muscles = muscles

    def at(self, step: _Substep) -> FibrePotential:
        return self._muscles.load(self._muscles.activation_at(step.frame, step.now))


class _HoldingPieces:
    def __init__(self, seams: SeamSprings) -> None:
        self._seams = seams

    def at(self, step: _Substep) -> Glue:
        return self._seams.at(step.frame, step.end)


class _StandingGround:
    def __init__(self, ground: Ground, contact: MakeContact) -> None:
        self._plane, self._friction = GroundPlane(ground.height, ground.thickness), ground.friction
        self._contact = contact

    def at(self, step: _Substep) -> PenaltyContact:
        return self._contact(self._plane, self._friction, step.held)


class _MovingCollider:
    def __init__(self, collider: Collider, frames: int, sheet_thickness: float, contact: MakeContact) -> None:
        self._collider, self._frames, self._contact, self._sheet_thickness = collider, frames, contact, sheet_thickness
        self._surface = ColliderSurface(collider.name, collider.triangles, collider.positions)
        self._last: tuple[np.ndarray, ColliderPose] | None = None

    def at(self, step: _Substep) -> PenaltyContact:
        before, after = self._pose(step.frame, step.begin), self._pose(step.frame, step.end)
        collider = self._collider
        mesh = MeshCollider(self._surface, before, after, collider.thickness, self._sheet_thickness)
        return self._contact(mesh, collider.friction, step.held)

    def _pose(self, frame: int, fraction: float) -> ColliderPose:
        """Return the collider's pose at a time between frames ``frame`` - 1 and ``frame``."""
        positions = self._collider.positions
        still = len(positions) == 1
        now = positions[0] if still else track_at(positions, self._frames, frame, fraction)
        if self._last is None or not np.array_equal(self._last[0], now):
            self._last = now, ColliderPose.of(self._surface, now)
        return self._last[1]


def _touching(job: Job, model: Model, space: Space, choose: Callable[[np.ndarray, int], Chosen]) -> ContactPoints:
    stiffness = model.youngs_modulus
    surface, pieces = job.body.surface, None if job.body.seams is None else job.body.seams.pieces
    return ContactPoints.of(surface, model.mesh, stiffness, space.points, space.contact_point_budget, choose, pieces)


def _contacts(job: Job, model: Model, points: ContactPoints) -> list[_Mover]:
    density = float(model.masses.sum() / model.mesh.body_volumes.sum())
    gravity = float(np.linalg.norm(job.body.solver.gravity))
    numbers = PenaltyParameters.for_body(density, job.body.surface.size, gravity, job.time_step)

    def contact(obstacle: Obstacle, friction: float, held: np.ndarray | None) -> PenaltyContact:
        return PenaltyContact(points, obstacle, friction, numbers, job.time_step, held)

    def mover(collider: Ground | Collider) -> _Mover:
        if isinstance(collider, Ground):
            return _StandingGround(collider, contact)
        return _MovingCollider(collider, job.frame_count, numbers.sheet_thickness, contact)

    return [mover(_as_paired(each, job.body.pairs)) for each in job.body.colliders]


def _as_paired(collider: Ground | Collider, pairs: tuple[PairSettings, ...]) -> Ground | Collider:
    """Return a collider with the friction and thickness of its contact pair."""
    overrides = next((pair.overrides for pair in pairs if pair.other == collider.name), {})
    if "thickness" in overrides:
        overrides["thickness"] = max(
            overrides["thickness"], collider.thickness if isinstance(collider, Ground) else LEAST
        )
    return replace(collider, **overrides) if overrides else collider
