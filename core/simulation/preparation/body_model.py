"""Model of a job's body on a tetrahedral mesh, with materials and pins."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ...geometry.mesh.embedding import Embedding
from ...geometry.mesh.tet_mesh import TetMesh
from ...jobs.job.job import Job
from ...mechanics.constraints.pins import PinnedSurface
from ...mechanics.materials.fields import MaterialFields, material_fields
from ...mechanics.materials.soft_stiff_interface import soften_at_interface
from ...methods.model.model import Model, build_model
from ...methods.model.nodes import Nodes, node_regions
from .body_mesh import outer_surface
from .muscles import muscle_layers
from .region_pins import with_regions

RIGID = 1e11
"""Young's modulus of rigid bodies, Pa. At 1e9 Pa, the angle of an arm at rest is off by 2e-4 degrees."""

A_MODE, IN_SUBSPACE = 4, 128
"""Limits of the number of pins that are sampled in a subspace.

The number is at most the larger of two limits: A_MODE pins per mode, and IN_SUBSPACE pins. A mode has A_MODE unknowns.
"""


def fields_of(job: Job, mesh: TetMesh, embedding: Embedding) -> MaterialFields:
    """Return the material parameters of each tet of a mesh.

    ``embedding``: embedding of the body's surface in the mesh.
    """
    body, tubes = job.body, muscle_layers(job.body.muscles)
    fields = material_fields(
        mesh.whole,
        embedding.in_whole(mesh),
        body.material_weights,
        body.materials,
        (*tubes, *body.layers),  # so that bones stay bones inside a muscle's tube
        outer_surface(body),
        body.stiffness_maps,
        body.tet_materials,
    )
    fields = fields if mesh.split is None else fields.of_tets(mesh.origins)
    return replace(fields, empty_layers=tuple(k - len(tubes) for k in fields.empty_layers if k >= len(tubes)))


def pinned_surface(job: Job, mesh: TetMesh, embedding: Embedding) -> PinnedSurface:
    """Return the pins and kinematic regions of the job, as surface vertices embedded in the mesh.

    In a subspace only a limited number of pins is sampled. This suffices, since the body deforms smoothly.
    """
    body, solver = job.body, job.body.solver
    most = max(A_MODE * solver.modes, IN_SUBSPACE) if solver.kind.takes_modes else math.inf
    if body.regions:
        return with_regions(job, mesh, embedding, most)
    surface = outer_surface(body)
    return PinnedSurface(surface, mesh, embedding, body.pinned_vertices, body.pin_positions, body.pin_held, most)


def dynamic_nodes(job: Job, mesh: TetMesh, embedding: Embedding, pinned: np.ndarray) -> Nodes | None:
    """Return the dynamic nodes of the solver ConJac, or None for other solvers.

    ConJac integrates the motion of the nodes in time. The rest of the body follows quasistatically. A node is a
    region around a tet vertex. For each surface vertex that the user chose, the node is centred at a corner of the
    containing tet: the corner with the largest barycentric weight among those not in ``pinned``. If all corners of the
    tet are in ``pinned``, no node is added.
    """
    if not job.body.solver.kind.takes_nodes:
        return None
    own = embedding.take(job.body.dynamic_nodes)
    corners = mesh.tets[own.tet_indices]
    share = np.where(np.isin(corners, pinned), -np.inf, own.barycentric)
    is_free = np.isfinite(share).any(axis=1)
    centres = np.take_along_axis(corners, share.argmax(axis=1)[:, None], axis=1)[is_free, 0]
    return node_regions(mesh, np.unique(centres).astype(np.int64), pinned)


def stiffness_of(job: Job, mesh: TetMesh, fields: MaterialFields) -> np.ndarray:
    """Return the Young's modulus of each tet, (m,), Pa.

    The moduli are reduced at interfaces of soft and stiff tets. Tets that the job itself provides keep the moduli of
    their materials, as in other finite element codes. Rigid bodies have the modulus ``RIGID``.
    """
    if job.body.is_rigid:
        return np.full(len(mesh.tets), RIGID)
    if job.body.tets is not None:
        return fields.youngs_modulus
    return soften_at_interface(mesh.whole, fields.youngs_modulus[mesh.firsts])[mesh.origins]


def body_model(job: Job, mesh: TetMesh, fields: MaterialFields, pinned: PinnedSurface) -> Model:
    """Return the model of the body on a mesh, with all pins that hold in any frame after the first."""
    stiffness, pinned = stiffness_of(job, mesh, fields), pinned.ever()
    model = build_model(
        mesh,
        stiffness,
        fields.poissons_ratio,
        fields.density,
        fields.energies,
        fields.energy,
        pinned.schedule().held_corners(0),
        fields.own,
        smoothed=job.body.resolution.elements == "smoothed",
        plasticity=fields.plasticity,
    )
    owners = None if pinned.regions is None else pinned.regions.owners
    return replace(model, anchors=pinned.holding(0, stiffness), pin_owners=owners)
