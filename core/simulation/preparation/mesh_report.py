"""Report of a body's tetrahedra for the user: quality, mass, facts for advice, and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from ...foundation.events import Mesh
from ...foundation.kernels import THREADS_WARNING
from ...foundation.kernels.jit import cache_warning
from ...geometry.mesh.embedding import Embedding
from ...geometry.mesh.quality import mesh_quality
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.mesh.topology import components
from ...jobs.checks.body_facts import facts_of
from ...jobs.checks.layer_warnings import layer_warnings
from ...jobs.checks.node_warnings import node_warnings
from ...jobs.checks.overlaps import overlap_warnings
from ...jobs.checks.pin_rotations import pin_rotation_warnings
from ...jobs.checks.plausibility import scale_warnings
from ...jobs.checks.region_warnings import region_warnings
from ...jobs.checks.thin_warnings import thickness_of, thin_warnings
from ...jobs.checks.volume_warnings import volume_warnings
from ...jobs.job.job import Job
from ...jobs.store.cached_subspace import CachedSubspace
from ...mechanics.constraints.pins import PinnedSurface
from ...mechanics.materials.fields import MaterialFields
from ...methods.eigenfit.match_report import Match
from ...methods.subspaces.cubature_check import ENOUGH


def mesh_report(
    job: Job,
    mesh: TetMesh,
    embedding: Embedding,
    fields: MaterialFields,
    more_warnings: Sequence[str] = (),
    cached: CachedSubspace | None = None,
    match: Match | None = None,
    pinned: PinnedSurface | None = None,
) -> Mesh:
    """Return the event that reports a job's tetrahedra, with all warnings.

    ``more_warnings``: further warnings to include.
    ``cached``: subspace of the body, or None.
    ``match``: report of the match of the body's vibrations, or None.
    ``pinned``: pins of the body, to report on its kinematic regions.
    """
    figures = mesh_quality(mesh)
    thickness = thickness_of(job)
    thin = thin_warnings(job, thickness)
    of_resolution = [*thin, *volume_warnings(job, mesh)]
    points_warning, points_that_suffice = _of_cubature(cached)
    return Mesh(
        **asdict(facts_of(job, mesh, fields, thickness)),
        vertices=figures.vertices,
        outside=int(np.count_nonzero(embedding.outside)),
        components=figures.components,
        min_dihedral=figures.min_dihedral,
        max_dihedral=figures.max_dihedral,
        mass=float(fields.density @ mesh.body_volumes),
        volume=float(mesh.body_volumes.sum()),
        warnings=[
            *layer_warnings(job, mesh, fields),
            *scale_warnings(job),
            *overlap_warnings(job, mesh),
            *(() if job.body.is_rigid else _of_embedding(embedding)),
            *filter(None, [cache_warning(), THREADS_WARNING]),
            *_of_pins(job, mesh, embedding, pinned),
            *pin_rotation_warnings(job),
            *(region_warnings(job, pinned) if pinned else ()),
            *node_warnings(job, mesh, embedding),
            *of_resolution,
            *more_warnings,
            *filter(None, [points_warning]),
        ],
        of_resolution=of_resolution,
        is_thin=bool(thin),
        points_warning=points_warning,
        points_that_suffice=points_that_suffice,
        match=match.words if match else "",
        vibrations=[list(each) for each in match.vibrations] if match else [],
    )


def _of_embedding(embedding: Embedding) -> list[str]:
    far = int(np.count_nonzero(embedding.far_outside))
    return [f"{far} vertices lie well outside all tetrahedra, and each follows the nearest one."] if far else []


def _of_pins(job: Job, mesh: TetMesh, embedding: Embedding, pinned: PinnedSurface | None) -> list[str]:
    if not len(job.body.pinned_vertices):
        return []
    loose = _unpinned_parts(job, mesh, embedding, pinned)
    found = [f"{loose} separate parts have no pin and will fall."] if loose else []
    return (
        found
        if job.body.pin_held.any() or job.body.regions
        else [*found, "No pins: the body will fall. Pins are defined, but hold in no frame."]
    )


def _unpinned_parts(job: Job, mesh: TetMesh, embedding: Embedding, pinned: PinnedSurface | None) -> int:
    labels = components(mesh.tets, len(mesh.rest_positions))
    held = labels[embedding.tet_indices[job.body.pinned_vertices]]
    if pinned is not None:
        corners = pinned.schedule().corners
        held = np.concatenate([held, labels[np.isin(mesh.tets, corners).any(axis=1)]])
    return int(labels.max()) + 1 - len(np.unique(held))


def _of_cubature(cached: CachedSubspace | None) -> tuple[str, int]:
    """Return the warning about too few cubature points, or "", and the number that suffices, or 0."""
    if cached is None or cached.felt_share >= ENOUGH:
        return "", 0
    points, suffices = len(cached.subspace.parts.elements), cached.points_that_suffice
    remedy = f"Set Cubature Points to {suffices}, or fewer Modes." if suffices else "Set fewer Modes."
    return f"Too few cubature points ({points}): some motion will look too soft. {remedy}", suffices
