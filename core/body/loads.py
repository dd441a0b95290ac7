"""What acts on a job's body in each substep: its springs, colliders and fields as loads of a step.

Targets and positions of colliders go straight from sample to sample of their tracks, strengths and accelerations from
frame to frame. What acts is a function of frame and substep alone: a bake that is resumed goes on with the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from copy import copy
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np

from ..constraints.anchors import Anchors
from ..contact.collider_pose import ColliderPose
from ..contact.collider_surface import ColliderSurface
from ..contact.contact_points import ContactPoints
from ..contact.mesh_collider import MeshCollider
from ..contact.obstacle import GroundPlane, Obstacle
from ..contact.penalty import PenaltyContact, PenaltyParameters
from ..forces.acceleration_field import AccelerationField
from ..forces.force_fields import ForceFields, MassPoints
from ..forces.springs import Springs, goal_stiffness, shared_stiffness
from ..forces.step_potential import Load
from ..job.absorber import Absorber
from ..job.force_field import ForceField
from ..job.job import Job
from ..job.pair import PairSettings
from ..job.surroundings import Collider, Ground, Spring
from ..linear_solvers.protocol import DirectSolver
from ..mesh.embedding import Embedding
from ..mesh.farthest_points import Chosen, farthest_points
from ..model.model import Model
from ..settings import ContactSettings, moduli
from ..subspaces.reduced_model import ReducedModel
from ..subspaces.space import Space
from ..tracks import on_the_way
from .field_moments import Absorbing, moment_of
from .mass_points import mass_points
from .surface_to_body import SurfaceToBody

LEAST = ContactSettings.__dataclass_fields__["thickness"].metadata["range"][0]
"""Distance, m, that settings allow of colliders."""


class Loads:
    """Loads of a prepared job.

    Parameters
    ----------
    job : Job
    model : Model
    space : the model itself, or its subspace
    embedding : of the job's surface in the model's mesh
    solver : the direct solver that carries accelerations into the body
    choose : which points of many touch, as :func:`farthest_points`

    Raises
    ------
    ColliderError, FieldError, SpringError
        One of them cannot act.
    """

    def __init__(
        self,
        job: Job,
        model: Model,
        space: Space,
        embedding: Embedding,
        solver: type[DirectSolver],
        choose: Callable[[np.ndarray, int], Chosen] = farthest_points,
    ) -> None:
        body = job.body
        self._substeps = body.solver.substeps
        self._movers: list[_Mover] = []
        self._touching: ContactPoints | None = None
        self._contacts: list[_Mover] = []
        if body.accelerations is not None:
            field = _ReducedField if space.is_reduced else _MovingField
            self._movers.append(field(body.accelerations, space, embedding, solver))
        if body.colliders:
            self._touching = _touching(job, model, space, choose)
            self._contacts = _contacts(job, model, self._touching)
            self._movers += self._contacts
        if body.force_fields:
            self._movers.append(_MovingForceFields(body.force_fields, body.absorbers, mass_points(model, space)))
        if (goal := body.goal) is not None:
            # Not the softest tet: what beside a bone makes up for coarse tets would depend on their size.
            each = goal_stiffness(body.surface, goal.vertices, goal.weights, min(moduli(body.materials)))
            self._movers.append(_MovingSpring(goal, each, space, embedding))
        # Last: live mode's grabs come after them, and a bake that has these as springs sums in the same order.
        shares = (shared_stiffness(1.0, spring.weights) for spring in body.springs)
        self._movers += [_MovingSpring(*each, space, embedding) for each in zip(body.springs, shares)]

    def without(self, colliders: Collection[int]) -> Loads:
        """The same, where something else keeps the body off some of its colliders, by their numbers."""
        left, gone = copy(self), [self._contacts[k] for k in colliders]
        left._movers = [mover for mover in self._movers if mover not in gone]
        left._touching = self._touching if len(gone) < len(self._contacts) else None
        return left

    def held(self, given: np.ndarray, springs: Anchors) -> np.ndarray | None:
        """Which of the points that may touch something pins hold, (p,) bool, by unknowns that are given or by springs;
        None where nothing is to be touched.
        """
        if self._touching is None:
            return None
        in_springs = np.isin(self._touching.tets, springs.embedding.tet_indices)
        return in_springs | self._touching.points.held(given)

    def loads_at(
        self, frame: int, substep: int, held: np.ndarray | None = None, theta: float = 1.0
    ) -> tuple[Load, ...]:
        """What acts in a substep (1 to ``substeps``) on the way to a frame, counted from the job's first as 0, while
        pins hold the points ``held``, as :meth:`held` tells; obstacles at its end, what pulls after its part ``theta``.
        """
        begin, end = (substep - 1) / self._substeps, substep / self._substeps
        step = _Substep(frame, begin, lerp(begin, end, theta), end, held)
        return tuple(mover.at(step) for mover in self._movers)


class _Substep(NamedTuple):
    """From one to another fraction of the way to a frame from the one before; forces are those of ``now``."""

    frame: int
    begin: float
    now: float
    end: float
    held: np.ndarray | None


MakeContact = Callable[[Obstacle, float, np.ndarray | None], PenaltyContact]
"""The contact with an obstacle of some friction, while pins hold some points."""


class _Mover(Protocol):
    def at(self, step: _Substep) -> Load:
        """The load in a substep."""


def lerp(before: np.ndarray | float, after: np.ndarray | float, fraction: float) -> np.ndarray | float:
    """What goes straight from one frame to the next, at a fraction of the way."""
    return after if fraction == 1.0 else before + fraction * (after - before)


def track_at(track: np.ndarray, frames: int, frame: int, fraction: float) -> np.ndarray:
    """A track of so many frames at a fraction of the way to one of them."""
    return lerp(*on_the_way(track, frames, frame, fraction))


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
        self._samples, self._pull = samples, space.pull
        self._shape = space.mesh.rest_positions.shape
        self._extension = None if _is_uniform(samples) else SurfaceToBody(space.mesh, embedding, solver)

    def at(self, step: _Substep) -> AccelerationField:
        now = track_at(self._samples, len(self._samples), step.frame, step.now)
        inside = np.broadcast_to(now, self._shape) if self._extension is None else self._extension.extend(now)
        return AccelerationField(self._pull(inside))


class _ReducedField:
    """The same in a subspace: what the samples of every frame pull its unknowns with is found once."""

    def __init__(
        self, samples: np.ndarray, space: ReducedModel, embedding: Embedding, solver: type[DirectSolver]
    ) -> None:
        if _is_uniform(samples):
            pulled = np.asarray(space.moved_mass.sum(axis=0)).reshape(-1, 1)
        else:
            pulled = SurfaceToBody(space.mesh, embedding, solver).pulled(space.moved_mass)
        self._forces = np.stack([pulled @ frame for frame in samples])

    def at(self, step: _Substep) -> AccelerationField:
        return AccelerationField(track_at(self._forces, len(self._forces), step.frame, step.now))


def _is_uniform(samples: np.ndarray) -> bool:
    """Return whether accelerations (frames, n or 1, 3) are given once for all of the body."""
    return samples.shape[1] == 1


class _MovingForceFields:
    def __init__(self, fields: tuple[ForceField, ...], absorbers: tuple[Absorber, ...], body: MassPoints) -> None:
        self._fields, self._absorbing, self._body = fields, Absorbing(absorbers), body

    def at(self, step: _Substep) -> ForceFields:
        absorbing = self._absorbing.at(step.frame, step.now)
        return ForceFields(self._body, [moment_of(field, step.frame, step.now, absorbing) for field in self._fields])


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
        """The end of one substep is the beginning of the next; what stands still has one pose."""
        positions = self._collider.positions
        still = len(positions) == 1
        now = positions[0] if still else track_at(positions, self._frames, frame, fraction)
        if self._last is None or not np.array_equal(self._last[0], now):
            self._last = now, ColliderPose.of(self._surface, now)
        return self._last[1]


def _touching(job: Job, model: Model, space: Space, choose: Callable[[np.ndarray, int], Chosen]) -> ContactPoints:
    stiffness = model.elastic.youngs_modulus
    return ContactPoints.of(job.body.surface, model.mesh, stiffness, space.points, space.touching, choose)


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
    """A collider with what a body tells of itself and it."""
    told = next((pair.told for pair in pairs if pair.other == collider.name), {})
    if "thickness" in told:
        told["thickness"] = max(told["thickness"], collider.thickness if isinstance(collider, Ground) else LEAST)
    return replace(collider, **told) if told else collider
