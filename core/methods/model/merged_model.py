"""Several bodies in one model, for those that can touch: their vertices, and their tets, one after the other.

Matrices are block-diagonal, so the bodies move as each alone but for what a step shares: its iterations end together,
and a line search takes the same part of the way for all. Solvers see one model. What acts on one of the bodies is made
of points of the whole (:func:`points_of`); what is given of each, states and targets of pins, goes in and out by
:class:`model.Slices`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from ...foundation.errors import CorruptFrameError
from ...geometry.mesh.embedding import Embedding
from ...geometry.mesh.tet_mesh import TetMesh
from ...mechanics.forces.elastic import ElasticPotential
from ...mechanics.forces.embedded_points import EmbeddedPoints
from .model import Model, Slices
from .nodes import Nodes, single_vertices
from .state import State


def merge_models(models: Sequence[Model]) -> Model:
    """Models of one body each as one whose ``slices`` tell them apart, in their order."""
    meshes, elastics = [model.mesh for model in models], [model.elastic for model in models]
    ends = np.cumsum([[0, 0], *([len(mesh.rest_positions), len(mesh.tets)] for mesh in meshes)], axis=0)
    slices = tuple(Slices(*(slice(int(a), int(b)) for a, b in zip(*ends[k : k + 2]))) for k in range(len(models)))
    first = [each.vertices.start for each in slices]
    mesh = TetMesh(
        np.concatenate([each.rest_positions for each in meshes]),
        np.concatenate([each.tets + start for each, start in zip(meshes, first)]),
        np.concatenate([each.fill for each in meshes]),
        np.concatenate([each.middle for each in meshes]),
    )
    names = tuple(dict.fromkeys(name for each in elastics for name in each.energies))
    energy_of_tet = [np.array([names.index(name) for name in each.energies])[each.energy_of_tet] for each in elastics]
    weights = np.concatenate([each.weights for each in elastics])
    parameters = concatenate_columns([each.parameters for each in elastics])
    elastic = ElasticPotential(
        mesh.rest_positions, mesh.tets, weights, names, np.concatenate(energy_of_tet), parameters
    )
    anchors = [sp.csr_matrix(each.mass.shape) if each.anchors is None else each.anchors for each in models]
    return Model(
        mesh,
        elastic,
        np.concatenate([each.masses for each in models]),
        sp.block_diag([each.mass for each in models], format="csr"),
        np.concatenate([each.pinned + start for each, start in zip(models, first)]),
        sp.block_diag(anchors, format="csr") if any(each.anchors is not None for each in models) else None,
        _joined_nodes(models, first),
        slices,
        any(model.grows for model in models),
    )


def _joined_nodes(models: Sequence[Model], first: Sequence[int]) -> Nodes | None:
    if all(model.nodes is None for model in models):
        return None
    none = np.zeros(0, dtype=np.int64)
    nodes = [model.nodes or single_vertices(none, model.unknowns) for model in models]
    centres = np.concatenate([each.centres + start for each, start in zip(nodes, first)])
    return Nodes(centres, sp.block_diag([each.rows for each in nodes], format="csr"))


def points_of(whole: Model, body: int, embedding: Embedding) -> EmbeddedPoints:
    """Points of one of the bodies, embedded in its own tets, as points of the whole."""
    return whole.points(replace(embedding, tet_indices=embedding.tet_indices + whole.slices[body].tets.start))


def merge_states(states: Sequence[State]) -> State:
    """States of the bodies as one of the whole; all are of one moment, and of steps of one length. CorruptFrameError
    where they cannot be.
    """
    arrays = [state.arrays() for state in states]
    if len({frozenset(each.keys() - {"colliders"}) for each in arrays}) > 1:
        raise CorruptFrameError("Saved states are of different steps.", "Bake from the start.")
    return State.from_arrays(
        {
            name: value if name == "previous_time_step" else np.concatenate([each[name] for each in arrays])
            for name, value in arrays[0].items()
            if name != "colliders"
        }
    )


def split_state(whole: Model, state: State) -> list[State]:
    """The state of each body."""
    return [
        State.from_arrays(
            {
                name: value
                if name == "previous_time_step"
                else value[each.tets if name == "stretch" else each.vertices]
                for name, value in state.arrays().items()
            }
        )
        for each in whole.slices
    ]


def concatenate_columns(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Arrays (m,k) one after the other, zeros behind where another has more columns."""
    width = max(each.shape[1] for each in rows)
    return np.concatenate([np.pad(each, ((0, 0), (0, width - each.shape[1]))) for each in rows])
