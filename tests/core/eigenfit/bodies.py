"""Bodies whose vibrations are looked at, and their stiffness as dense matrices."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sinew.benchmarks.bodies import block, held_end
from sinew.core.geometry.mesh.embedding import embed
from sinew.core.mechanics.forces.step_potential import Motion
from sinew.core.methods.eigenfit.matching import Matching, Spectra, find_spectra, pair
from sinew.core.methods.eigenfit.stretch_potential import StretchModes
from sinew.core.methods.eigenfit.vibrations import Springs, rigid_count, vibrations
from sinew.core.methods.model.model import Model, build_model
from sinew.core.methods.subspaces.reduced_model import ReducedModel, skinning_subspace
from sinew.core.methods.subspaces.reduced_stiffness import symmetric

COUNT = 8
"""Modes that are matched."""


def bar(energy: str = "stable_neo_hookean", hold: str = "free", size=(0.4, 0.08, 0.1), modulus=1e5) -> Model:
    """A bar, ``free``, ``clamped`` at x = 0, or held there by ``springs``."""
    mesh = block((6, 2, 2), size)
    held = held_end(mesh)
    model = build_model(mesh, modulus, 0.45, 1e3, energy, pinned=held if hold == "clamped" else ())
    return model if hold != "springs" else replace(model, anchors=_anchors(model))


SPRINGS = 400.0
"""N/m, of each spring at the held end."""


def _anchors(model: Model) -> sp.csr_matrix:
    held = np.isin(np.arange(model.unknowns), held_end(model.mesh))
    return sp.diags(SPRINGS * held).tocsr()


def springs_of(model: Model, space: Model | ReducedModel) -> Springs | None:
    """The springs that hold a bar, at what moves in a space."""
    if model.anchors is None:
        return None
    places = model.mesh.rest_positions[held_end(model.mesh)]
    return Springs(space.points(embed(places, model.mesh)), np.full(len(places), SPRINGS))


@cache
def reduced(energy: str = "stable_neo_hookean", hold: str = "free", modes: int = 6) -> tuple[Model, ReducedModel]:
    """A bar with a subspace of it, too stiff in most vibrations by so few modes, not by which tets cubature chose."""
    model = bar(energy, hold)
    return model, skinning_subspace(model, modes, 120).model


@cache
def matched(energy: str = "stable_neo_hookean", hold: str = "free", count: int = COUNT, modes: int = 6) -> Matching:
    """Return the match of that subspace."""
    model, space = reduced(energy, hold, modes)
    spectra = find_spectra(model, space, count)
    return Matching(space, spectra, pair(spectra, count))


def modes_of(model: Model, count: int = COUNT) -> tuple[np.ndarray, np.ndarray, StretchModes]:
    """Eigenvalues, modes and coordinates of a model in all its vertices."""
    rigid = rigid_count(model)
    found = vibrations(model, rigid + count).after(rigid, count)
    stretch = StretchModes(model.elastic, model.mesh.rest_positions, *found)
    return *found, stretch


def still(x: np.ndarray, step: float = 0.01) -> Motion:
    """A step that begins at rest at x."""
    return Motion(x, x, step)


def dense_stiffness(space: ReducedModel, scale: float = 1.0) -> np.ndarray:
    """Return the stiffness of a subspace at rest, by unknowns of x, of y, of z, (3r,3r)."""
    elastic = space.elastic
    return scale * symmetric(space.stiffness(elastic.tangent(elastic.deformation(np.zeros((space.unknowns, 3)))), 0.0))


def with_springs(K: np.ndarray, space: ReducedModel, springs: Springs | None) -> np.ndarray:
    """A stiffness (3r,3r) and that of springs."""
    if springs is None:
        return K
    still = springs.points.positions(np.zeros((space.unknowns, 3)))
    P = np.stack([springs.points.positions(e)[:, 0] - still[:, 0] for e in _units(space.unknowns)], axis=1)
    return K + np.kron(np.eye(3), P.T @ (springs.stiffness[:, None] * P))


def _units(count: int) -> np.ndarray:
    units = np.zeros((count, count, 3))
    units[..., 0] = np.eye(count)
    return units


def free_pairs(K: np.ndarray, space: ReducedModel) -> tuple[np.ndarray, np.ndarray]:
    """All eigenpairs of a stiffness (3r,3r) and the mass, by what is not given: (f,), (f,r,3)."""
    r = space.unknowns
    free = np.setdiff1d(np.arange(r), space.pinned)
    rows = np.concatenate([free + i * r for i in range(3)])
    values, vectors = scipy.linalg.eigh(K[np.ix_(rows, rows)], np.kron(np.eye(3), space.mass[np.ix_(free, free)]))
    modes = np.zeros((len(values), r, 3))
    modes[:, free] = vectors.T.reshape(len(values), 3, -1).transpose(0, 2, 1)
    return values, modes


def corrected(
    space: ReducedModel, matching: Matching, scale: float = 1.0, factors: np.ndarray | None = None
) -> np.ndarray:
    """The stiffness of a matched subspace at rest, each tet's scaled and vibrations controlled, (3r,3r)."""
    rest = np.zeros((space.unknowns, 3))
    load = matching.load(np.full(len(space.elastic.weights), scale), 0.0, factors)
    Y, C = load.begin(still(rest)).low_rank(space.elastic.deformation(rest))
    Y = Y.transpose(1, 0, 2).reshape(-1, len(C))
    return scale * dense_stiffness(space) + Y @ C @ Y.T


def spectra_of(coarse, fine, overlap, pulled=1.0) -> Spectra:
    """Return spectra of modes at these frequencies, Hz, that accelerations excite equally, or the fine ones by
    ``pulled`` (f,).
    """
    coarse, fine = (np.square(2.0 * np.pi * np.asarray(each, dtype=float)) for each in (coarse, fine))
    overlap, pulls = np.asarray(overlap, dtype=float), np.broadcast_to(pulled, len(fine))[:, None]
    return Spectra(coarse, np.zeros((len(coarse), 1, 3)), fine, overlap, True, overlap @ pulls, pulls)
