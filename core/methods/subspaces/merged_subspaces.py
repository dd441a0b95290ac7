"""Merged reduced model of several bodies that may collide, each in a subspace."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np
from scipy.linalg import block_diag

from ...mechanics.forces.stabilization import ReducedStabilization
from ..model.merged_model import concatenate_columns
from ..model.model import Model
from .cubature import Cubature
from .reduced_model import ReducedModel, Subspace, in_basis


def merge_subspaces(whole: Model, subspaces: Sequence[Subspace]) -> ReducedModel:
    """Return the merged reduced model of several bodies, each in its subspace.

    ``whole``: merged full model, with the bodies in the same order. ``slices`` of the result select the unknowns and
    cubature points of each body.
    """
    spaces = [each.model for each in subspaces]
    first = np.cumsum([0, *(space.unknowns for space in spaces)])
    points = np.cumsum([0, *(len(each.parts.elements) for each in subspaces)])
    elements = np.concatenate(
        [each.parts.elements + body.elements.start for each, body in zip(subspaces, whole.slices)]
    )
    clusters = np.concatenate([each.parts.clusters + start for each, start in zip(subspaces, points)])
    cubature = Cubature(elements, np.concatenate([each.parts.volumes for each in subspaces]), clusters)
    pinned = np.concatenate([space.pinned + start for space, start in zip(spaces, first)])
    slices = tuple(
        body._replace(vertices=slice(int(a), int(b)), elements=slice(int(c), int(d)))
        for body, a, b, c, d in zip(whole.slices, first, first[1:], points, points[1:])
    )
    made = in_basis(whole, block_diag(*(space.basis for space in spaces)), pinned, cubature)
    return following(replace(made, slices=slices), spaces)


def following(whole: ReducedModel, spaces: Sequence[ReducedModel]) -> ReducedModel:
    """Return a copy of the merged model ``whole`` with the current parameters of its bodies.

    ``spaces``: current reduced models of the bodies. Their elastic parameters, stabilization and prescribed unknowns
    are taken over.
    """
    elastic = copy(whole.elastic)
    elastic.parameters = concatenate_columns([space.elastic.parameters for space in spaces])
    own = [space.elastic.stabilization for space in spaces]
    parts = [np.zeros(space.mass.shape) if each is None else each.stiffness for each, space in zip(own, spaces)]
    elastic.stabilization = ReducedStabilization(block_diag(*parts)) if any(own) else None
    given = [space.pinned + each.vertices.start for space, each in zip(spaces, whole.slices)]
    return replace(whole, elastic=elastic, pinned=np.concatenate(given))
