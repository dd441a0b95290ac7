"""Stress on the surface of a simulated body."""

from __future__ import annotations

import numpy as np

from ...jobs.job.job import Job
from ..preparation.prepare import Prepared
from .single_body import Frame


def surface_stress(job: Job, prepared: Prepared, frame: Frame) -> np.ndarray:
    """Return the von Mises stress of the elastic materials at the surface vertices, (n,) Pa.

    Fibres of muscles add no stress here. A subspace gives the displacements of all tets, and these the stress. A rigid
    body has none. Plastic elements have the stress of their elastic part. In a subspace, all elements of a cubature
    point's cluster have flowed alike.
    """
    state, mesh = frame.state, prepared.model.mesh
    if job.body.is_rigid:
        return np.zeros(len(job.body.surface.positions))
    model = prepared.model_at(job, frame.number - job.frame_start)
    elastic = model.elastic
    if state.plastic is not None:
        subspace = prepared.subspace
        plastic = state.plastic if subspace is None else state.plastic[subspace.parts.clusters]
        elastic = elastic.flowed(plastic)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # collapsed tets, which the mean leaves out
        of_elements = elastic.von_mises(elastic.deformation(prepared.space.vertices(state.positions)))
    return prepared.embedding.smoothed(of_elements[model.elements.of_tet], mesh.tets, mesh.elastic_volumes)
