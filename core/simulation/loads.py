"""What acts on a job's body in each substep: its springs, ground, colliders and fields as loads of a step.

Targets and positions of colliders go straight from sample to sample of their tracks, strengths and accelerations from
frame to frame. What acts is a function of frame and substep alone: a bake that is resumed goes on with the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from ..constraints.pins import PinnedSurface
from ..contact.collider_pose import ColliderPose
from ..contact.collider_surface import ColliderSurface
from ..contact.contact_points import ContactPoints
from ..contact.mesh_collider import MeshCollider
from ..contact.obstacle import GroundPlane, Obstacle
from ..contact.penalty import Contact, ContactNumbers
from ..forces.acceleration_field import AccelerationField
from ..forces.force_fields import ForceFields, MassPoints
from ..forces.springs import Springs, shared_stiffness
from ..forces.step_potential import Load
from ..linear_solvers.protocol import DirectSolver
from ..materials.lame import youngs_modulus
from ..mesh.embedding import Embedding
from ..mesh.farthest_points import Chosen, farthest_points
from ..model.model import Model
from ..model.settings import Ground
from ..subspaces.carried_points import CarriedPoints
from ..subspaces.reduced_model import ReducedModel
from ..subspaces.space import Space
from ..tracks import on_the_way
from .absorber import Absorber
from .field_moments import Absorbing, moment_of
from .force_field import ForceField
from .job import Job
from .mass_points import mass_points
from .surface_to_body import SurfaceToBody
from .surroundings import Collider, Spring


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
    pinned : what springs hold of the surface

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
        pinned: PinnedSurface | None = None,
    ) -> None:
        self._substeps = job.solver.substeps
        self._movers: list[_Mover] = []
        if job.accelerations is not None:
            field = _ReducedField if isinstance(space, ReducedModel) else _MovingField
            self._movers.append(field(job.accelerations, space, embedding, solver))
        if job.ground is not None or job.colliders:
            self._movers += _contacts(job, model, space, choose, pinned)
        if job.force_fields:
            self._movers.append(_MovingForceFields(job.force_fields, job.absorbers, mass_points(model, space)))
        # Last: live mode's grabs come after them, and a bake that has these as springs sums in the same order.
        self._movers += [_MovingSpring(spring, space, embedding) for spring in job.springs]

    def at(self, frame: int, substep: int) -> tuple[Load, ...]:
        """What acts in a substep (1 to ``substeps``) on the way to a frame, counted from the job's first as 0."""
        begin, end = (substep - 1) / self._substeps, substep / self._substeps
        return tuple(mover.at(frame, begin, end) for mover in self._movers)


MakeContact = Callable[[Obstacle, float, int], Contact]
"""The contact with an obstacle of some friction, on the way to a frame."""


class _Mover(Protocol):
    def at(self, frame: int, begin: float, end: float) -> Load:
        """The load from one to another fraction of the way to a frame from the one before."""


def between(before: np.ndarray | float, after: np.ndarray | float, fraction: float) -> np.ndarray | float:
    """What goes straight from one frame to the next, at a fraction of the way."""
    return after if fraction == 1.0 else before + fraction * (after - before)


def _on_the_way(track: np.ndarray, frames: int, frame: int, fraction: float) -> np.ndarray:
    """A track of so many frames at a fraction of the way to one of them."""
    return between(*on_the_way(track, frames, frame, fraction))


class _MovingSpring:
    def __init__(self, spring: Spring, space: Space, embedding: Embedding) -> None:
        points, shares = space.points(embedding.take(spring.vertices)), shared_stiffness(1.0, spring.weights)
        targets = spring.targets
        if isinstance(points, CarriedPoints):
            points, shares, targets = points.condensed(shares, targets)
        self._points, self._shares, self._targets, self._stiffness = points, shares, targets, spring.stiffness

    def at(self, frame: int, _begin: float, end: float) -> Springs:
        frames = len(self._stiffness)
        stiffness = self._shares * _on_the_way(self._stiffness, frames, frame, end)
        return Springs(self._points, stiffness, _on_the_way(self._targets, frames, frame, end))


class _MovingField:
    def __init__(self, samples: np.ndarray, space: Space, embedding: Embedding, solver: type[DirectSolver]) -> None:
        self._samples, self._pull = samples, space.pull
        self._extension = SurfaceToBody(space.mesh, embedding, solver)

    def at(self, frame: int, _begin: float, end: float) -> AccelerationField:
        return AccelerationField(self._pull(self._extension.extend(self._now(frame, end))))

    def _now(self, frame: int, end: float) -> np.ndarray:
        return _on_the_way(self._samples, len(self._samples), frame, end)


class _ReducedField:
    """The same in a subspace: what the samples of every frame pull its unknowns with is found once."""

    def __init__(
        self, samples: np.ndarray, space: ReducedModel, embedding: Embedding, solver: type[DirectSolver]
    ) -> None:
        pulled = SurfaceToBody(space.mesh, embedding, solver).pulled(space.moved_mass)
        self._forces = np.stack([pulled @ frame for frame in samples])

    def at(self, frame: int, _begin: float, end: float) -> AccelerationField:
        return AccelerationField(_on_the_way(self._forces, len(self._forces), frame, end))


class _MovingForceFields:
    def __init__(self, fields: tuple[ForceField, ...], absorbers: tuple[Absorber, ...], body: MassPoints) -> None:
        self._fields, self._absorbing, self._body = fields, Absorbing(absorbers), body

    def at(self, frame: int, _begin: float, end: float) -> ForceFields:
        absorbing = self._absorbing.at(frame, end)
        return ForceFields(self._body, [moment_of(field, frame, end, absorbing) for field in self._fields])


class _StandingGround:
    def __init__(self, ground: Ground, contact: MakeContact) -> None:
        self._plane, self._friction = GroundPlane(ground.height, ground.thickness), ground.friction
        self._contact = contact

    def at(self, frame: int, _begin: float, _end: float) -> Contact:
        return self._contact(self._plane, self._friction, frame)


class _MovingCollider:
    def __init__(self, collider: Collider, frames: int, sheet_thickness: float, contact: MakeContact) -> None:
        self._collider, self._frames, self._contact, self._sheet_thickness = collider, frames, contact, sheet_thickness
        self._surface = ColliderSurface(collider.name, collider.triangles, collider.positions)
        self._last: tuple[np.ndarray, ColliderPose] | None = None

    def at(self, frame: int, begin: float, end: float) -> Contact:
        before, after = self._pose(frame, begin), self._pose(frame, end)
        collider = self._collider
        mesh = MeshCollider(self._surface, before, after, collider.thickness, self._sheet_thickness)
        return self._contact(mesh, collider.friction, frame)

    def _pose(self, frame: int, fraction: float) -> ColliderPose:
        """The end of one substep is the beginning of the next; what stands still has one pose."""
        positions = self._collider.positions
        still = len(positions) == 1
        now = positions[0] if still else _on_the_way(positions, self._frames, frame, fraction)
        if self._last is None or not np.array_equal(self._last[0], now):
            self._last = now, ColliderPose(self._surface, now)
        return self._last[1]


def _contacts(
    job: Job,
    model: Model,
    space: Space,
    choose: Callable[[np.ndarray, int], Chosen],
    pinned: PinnedSurface | None,
) -> list[_Mover]:
    moduli = youngs_modulus(*model.elastic.parameters.T)
    points = ContactPoints.of(job.surface, model.mesh, moduli, space.points, space.touching, choose)
    density = float(model.masses.sum() / model.mesh.body_volumes.sum())
    gravity = float(np.linalg.norm(job.solver.gravity))
    numbers = ContactNumbers.fitting(density, job.surface.size, gravity, job.time_step)

    def contact(obstacle: Obstacle, friction: float, frame: int) -> Contact:
        # What pins hold does not yield to what it touches.
        held = None if pinned is None else np.isin(points.tets, pinned.anchors(frame).embedding.tet_indices)
        return Contact(points, obstacle, friction, numbers, job.time_step, held)

    thickness = numbers.sheet_thickness
    movers: list[_Mover] = [_MovingCollider(each, job.frame_count, thickness, contact) for each in job.colliders]
    return movers if job.ground is None else [_StandingGround(job.ground, contact), *movers]
