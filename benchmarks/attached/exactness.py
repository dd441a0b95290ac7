"""Flesh within a region: distance from its targets in every solver, and energy against pins set tet by tet."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from ...core.foundation.schema.settings import SolverSettings
from ...core.foundation.schema.solver_kinds import SOLVER_KINDS
from ...core.jobs.job.body import Body
from ...core.jobs.job.job import Job
from ...core.mechanics.constraints.kinematic_region import KinematicRegion
from ...core.simulation.frame_loop.single_body import simulate_body
from ...core.simulation.preparation.prepare import prepare
from ..bodies import block
from ..pictures import Snapshot, draw
from ..registry import Case, Row, row
from .bones import FLESH, SIZE, bent_bone, box, limb, rigid_bone, swinging

SHORT = 7


def cases(data: Path | None) -> Iterator[Case]:
    """Yield one case per solver, and the comparison with pins."""
    for solver in SOLVER_KINDS:
        yield Case(f"targets_{solver}", partial(_targets, solver))
    yield Case("energy", _energy)


def _targets(solver: str) -> Iterator[Row]:
    kind = SOLVER_KINDS[solver]
    bones = {"rigid": rigid_bone(SHORT)} if kind.takes_modes else {"rigid": rigid_bone(SHORT), "bent": bent_bone(SHORT)}
    for name, bone in bones.items():
        job = limb(solver, bone, 16, SHORT, **({"modes": 8} if kind.takes_modes else {}))
        if kind.takes_nodes:
            job = job.with_body(dynamic_nodes=np.array([0, len(job.body.surface.positions) - 1]))
        prepared, off = prepare(job), 0.0
        own = prepared.pin_springs.pinned.regions.owners >= 0
        goals = bone.follow(prepared.model.mesh.rest_positions[own])
        for frame, goal in zip(simulate_body(job, prepared), goals, strict=True):
            off = max(off, float(np.abs(prepared.space.vertices(frame.state.positions)[own] - goal).max()))
        yield row(f"targets_{solver}", f"{name} bone: off its targets", off / SIZE[0], "size", at_most=1e-9)
        x = prepared.space.vertices(frame.state.positions)
        draw("attached", f"targets_{solver}", [Snapshot(f"{name} bone", x, prepared.model.mesh.tets)])


def _energy() -> Iterator[Row]:
    """Compare a region along the faces of given tets with pins at the vertices within it."""
    mesh = block((16, 4, 4), SIZE)
    surface = box((0.5, 0.1, 0.1), (10, 2, 2), (0.05, 0.05, 0.05))
    bone = KinematicRegion("Bone", surface, swinging(surface.positions, SHORT))
    X = mesh.rest_positions
    inside = np.flatnonzero(bone.contains(X))
    pins = {"pinned_vertices": inside, "pin_positions": bone.follow(X[inside])}
    for solver in ("newton", "mixed_fem"):
        settings = SolverSettings(solver=solver, max_iterations=100, tolerance=1e-11)
        energies, ends = [], []
        for held in ({"regions": bone}, pins):
            body = Body.of_tets(X, mesh.tets, materials=FLESH, solver=settings, **held)
            job = Job(bodies=body, frame_end=SHORT)
            prepared = prepare(job)
            states = [frame.state.positions for frame in simulate_body(job, prepared)]
            elastic = prepared.model.elastic
            energies.append([elastic.densities(elastic.deformation(x)) @ elastic.weights for x in states[1:]])
            ends.append(states[-1])
        off = np.abs(np.array(energies[0]) / energies[1] - 1.0).max()
        yield row("energy", f"{solver}: energy, relative difference", float(off), at_most=1e-9)
        draw("attached", "energy", [Snapshot(solver, ends[-1], mesh.tets)])
        apart = float(np.abs(ends[0] - ends[1]).max())
        yield row("energy", f"{solver}: vertices apart", apart / SIZE[0], "size", at_most=1e-9)
