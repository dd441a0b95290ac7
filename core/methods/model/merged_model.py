"""Merged model of several bodies that may collide.

The vertices of all bodies are concatenated, and so are the tets. Matrices are block-diagonal. The bodies share the
iterations of a solver and the step size of its line searches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from ...foundation.errors import CorruptFrameError
from ...geometry.mesh.embedding import Embedding
from ...geometry.mesh.tet_mesh import TetMesh
from ...mechanics.assembly.elements import joined_elements
from ...mechanics.forces.elastic import ElasticDensity, ElasticPotential
from ...mechanics.forces.embedded_points import EmbeddedPoints
from ...mechanics.materials.plastic_flow import unflowed
from .model import Model, Slices
from .nodes import Nodes, single_vertices
from .state import State

OF_GROUP = {"colliders", "slow_steps", "broken"}
"""Arrays of a state that do not belong to one of several merged bodies."""


def merge_models(models: Sequence[Model]) -> Model:
    """Return the merged model of several bodies.

    ``slices`` of the result select the vertices and tets of each body.
    """
    meshes, elastics = [model.mesh for model in models], [model.elastic for model in models]
    counts = [
        (len(each.mesh.rest_positions), len(each.mesh.tets), len(each.elements), each.elements.nodes.block_starts[-1])
        for each in models
    ]
    ends = np.cumsum([[0, 0, 0, 0], *counts], axis=0)
    slices = tuple(Slices(*(slice(int(a), int(b)) for a, b in zip(*ends[k : k + 2]))) for k in range(len(models)))
    first = [each.vertices.start for each in slices]
    mesh = TetMesh(
        np.concatenate([each.rest_positions for each in meshes]),
        np.concatenate([each.tets + start for each, start in zip(meshes, first)]),
        np.concatenate([each.fill for each in meshes]),
        np.concatenate([each.middle for each in meshes]),
    )
    names = tuple(dict.fromkeys(name for each in elastics for name in each.energies))
    energy_index = [np.array([names.index(name) for name in each.energies])[each.energy_index] for each in elastics]
    weights = np.concatenate([each.weights for each in elastics])
    parameters = concatenate_columns([each.parameters for each in elastics])
    elements = joined_elements([each.elements for each in elastics])
    elastic = ElasticPotential(
        elements, weights, names, np.concatenate(energy_index), parameters, joined_plasticity(elastics)
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


def joined_plasticity(elastics: Sequence[ElasticDensity]) -> np.ndarray | None:
    """Return the plasticity (e,3) of all points of several bodies, or None if no point of any body flows."""
    own = [each.plasticity for each in elastics]
    if all(each is None for each in own):
        return None
    return np.concatenate(
        [np.zeros((len(one.weights), 3)) if each is None else each for each, one in zip(own, elastics)]
    )


def _joined_nodes(models: Sequence[Model], first: Sequence[int]) -> Nodes | None:
    if all(model.nodes is None for model in models):
        return None
    none = np.zeros(0, dtype=np.int64)
    nodes = [model.nodes or single_vertices(none, model.unknowns) for model in models]
    centres = np.concatenate([each.centres + start for each, start in zip(nodes, first)])
    return Nodes(centres, sp.block_diag([each.rows for each in nodes], format="csr"))


def points_of(whole: Model, body: int, embedding: Embedding) -> EmbeddedPoints:
    """Convert points embedded in the mesh of one body to points of the merged model of all bodies.

    ``whole``: the merged model. ``body``: index of the body. ``embedding``: embedding of the points in the body's own
    mesh.
    """
    return whole.points(embedding.shifted(whole.slices[body].tets.start))


def merge_states(states: Sequence[State]) -> State:
    """Return the state of the merged model from the ``states`` of its bodies.

    The states are in the order of the bodies. Positions of colliders are left out. Raises CorruptFrameError if some
    states hold a previous step and others do not.
    """
    if any(state.plastic is not None for state in states):
        states = [
            replace(each, plastic=unflowed(len(each.stretch))) if each.plastic is None else each for each in states
        ]
    arrays = [state.arrays() for state in states]
    if len({frozenset(each.keys() - OF_GROUP) for each in arrays}) > 1:
        raise CorruptFrameError("Some saved states hold a previous step and others do not.", "Bake from the start.")
    merged = State.from_arrays(
        {
            name: value if name == "previous_time_step" else np.concatenate([each[name] for each in arrays])
            for name, value in arrays[0].items()
            if name not in OF_GROUP
        }
    )
    return replace(merged, slow_steps=max(state.slow_steps for state in states))


def split_state(whole: Model, state: State) -> list[State]:
    """Return the state of each body from a ``state`` of the merged model ``whole``."""
    parts = [state.part(each.vertices, each.elements) for each in whole.slices]
    if state.plastic is not None:  # elastic bodies among plastic ones have no plastic state
        flows = [whole.elastic.plasticity[each.elements, 0].any() for each in whole.slices]
        parts = [part if flow else replace(part, plastic=None) for part, flow in zip(parts, flows)]
    return parts


def concatenate_columns(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Concatenate the rows of arrays (m_i,k_i) with different numbers of columns.

    Narrower arrays are padded with zeros on the right.
    """
    width = max(each.shape[1] for each in rows)
    return np.concatenate([np.pad(each, ((0, 0), (0, width - each.shape[1]))) for each in rows])
