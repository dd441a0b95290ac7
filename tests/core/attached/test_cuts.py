"""Split bodies: one body before the cut, separate bodies after it, with every method, kind of element and solver."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sinew as sw
from sinew.core.foundation.schema.solver_kinds import SOLVER_KINDS
from sinew.core.geometry.mesh.tet_mesh import TetMesh
from sinew.core.geometry.tetrahedra.smoothing_domains import geometric_domains
from sinew.core.geometry.tetrahedra.split_tets import split_tets
from sinew.core.geometry.tetrahedra.tetrahedralize import tetrahedralize
from sinew.core.jobs.store.cached_mesh import pack, unpack
from sinew.core.methods.model.model import build_model
from sinew.core.methods.model.state import State
from sinew.core.methods.solvers import make_solver
from sinew.core.simulation.frame_loop.group import simulate_group
from sinew.core.simulation.preparation.prepare import prepare

from .split_surfaces import halves, quarters, split_box

SIZE = 0.4
MESHES = [("lattice", "smoothed"), ("lattice", "plain"), ("clean", "smoothed"), ("clean", "plain")]


def taut_bar(surface, seams, frames=8, method="lattice", elements="smoothed", solver="mixed_fem", most=60, **fields):
    """A bar whose right end is pulled to 1.2 of its length in six frames."""
    X = surface.positions
    pins = np.flatnonzero((X[:, 0] < 1e-9) | (X[:, 0] > SIZE - 1e-9))
    pull = 0.2 * SIZE * np.minimum(np.arange(frames) / 6.0, 1.0)[:, None] * (X[pins, 0] > 0.5 * SIZE)
    body = sw.Body(
        surface=surface,
        seams=seams,
        materials=sw.Material(youngs_modulus=3e4),
        resolution=sw.Resolution(method=method, cells_across=10, elements=elements),
        solver=sw.Solver(solver=solver, max_iterations=most, tolerance=1e-7),
        pinned_vertices=pins,
        pin_positions=X[pins] + pull[:, :, None] * [1.0, 0.0, 0.0],
        **fields,
    )
    return sw.Job(bodies=body, frame_end=frames)


def simulated(job):
    """The prepared body, and its frames."""
    prepared = prepare(job)
    return prepared, [frames[0] for frames in simulate_group([job], [prepared])]


def surfaces(prepared, frames):
    """Surface vertices (frames,n,3)."""
    return np.array([prepared.surface(frame.state.positions) for frame in frames])


def iterations(frames):
    """Iterations of all steps."""
    return sum(report.iterations for frame in frames for report in frame.reports)


@pytest.mark.parametrize("piece_of", [halves(0.15), quarters((0.15, 0.05))])
@pytest.mark.parametrize("method", ["lattice", "clean"])
@pytest.mark.parametrize("smoothed", [True, False])
def test_pieces_have_the_energy_and_mass_of_the_whole_together(piece_of, method, smoothed):
    surface, seams = split_box(piece_of)
    whole = tetrahedralize(seams.before(surface), sw.Resolution(method=method, cells_across=10))
    group = geometric_domains(whole) if smoothed else np.arange(len(whole.tets))
    mesh = split_tets(whole, surface, seams.pieces, group)
    found = mesh.whole
    assert np.array_equal(found.tets, whole.tets) and np.allclose(found.fill, whole.fill, rtol=1e-12)
    matter = {"youngs_modulus": 3e4, "poissons_ratio": 0.45, "density": 1e3, "smoothed": smoothed}
    models = [build_model(each, **matter) for each in (whole, mesh)]
    x = whole.rest_positions + 0.003 * np.random.default_rng(0).standard_normal(whole.rest_positions.shape)
    energies = []
    for model, y in zip(models, (x, x[mesh.split.parents])):
        parts = [model.elastic.value(model.elastic.deformation(y))]
        parts += [model.elastic.stabilization.value(y)] if smoothed else []
        energies.append(parts)
    assert np.allclose(energies[0], energies[1], rtol=1e-12)
    masses = np.bincount(mesh.split.parents, models[1].lumped_masses)
    assert np.allclose(masses, models[0].lumped_masses, rtol=1e-12)
    of_tets = mesh.split.pieces[mesh.tets[:, 0]]
    volumes = np.bincount(of_tets, mesh.body_volumes)
    box = np.prod([[hi - lo for lo, hi in zip(X.min(axis=0), X.max(axis=0))] for X in _parts(surface, seams)], axis=1)
    assert np.allclose(volumes, box, rtol=5e-3)


def _parts(surface, seams):
    return [surface.positions[seams.pieces == k] for k in range(seams.count)]


@pytest.mark.parametrize(("method", "elements"), MESHES)
@pytest.mark.parametrize("piece_of", [halves(), quarters()])
def test_a_glued_body_moves_as_one_that_is_not_split(method, elements, piece_of):
    surface, seams = split_box(piece_of)
    whole = seams.before(surface)
    seams = replace(seams, original=whole)
    (one, own), (other, frames) = (
        simulated(taut_bar(each, split, method=method, elements=elements))
        for each, split in ((whole, None), (surface, seams))
    )
    away = np.abs(surfaces(one, own)[:, seams.welded(surface)] - surfaces(other, frames)).max()
    assert away < 1e-5 * SIZE
    assert abs(iterations(frames) - iterations(own)) <= 2


def test_pieces_are_separate_bodies_after_the_cut():
    """The pieces are solved together here, and alone as bodies of their own tets."""
    surface, seams = split_box(halves())
    job = taut_bar(surface, seams, method="clean", elements="plain")
    prepared, frames = simulated(job)
    model, start = prepared.model, frames[-1].state
    settings, mesh = replace(job.body.solver, tolerance=1e-12), model.mesh

    def stepped(model, state):
        solver = make_solver(model, settings)
        for _ in range(4):
            state, _report = solver.step(state, state.positions[model.pinned], 1.0 / 24.0, [])
            yield state.positions

    together = list(stepped(model, start))
    for piece in range(2):
        v = np.flatnonzero(mesh.split.pieces == piece)
        t = np.flatnonzero(np.isin(mesh.tets[:, 0], v))
        own = TetMesh(mesh.rest_positions[v], np.searchsorted(v, mesh.tets[t]), mesh.fill[t], mesh.middle[t])
        density = model.masses[t].sum(axis=1) / own.body_volumes
        pinned = np.flatnonzero(np.isin(v, model.pinned))
        alone = build_model(own, model.youngs_modulus[t], job.body.materials[0].poissons_ratio, density, pinned=pinned)
        state = State(start.positions[v], start.velocities[v], start.stretch[t])
        for before, after in zip(together, stepped(alone, state)):
            assert np.abs(before[v] - after).max() < 1e-12 * SIZE


@pytest.mark.parametrize("solver", SOLVER_KINDS)
def test_every_solver_holds_and_parts_the_pieces(solver):
    surface, seams = split_box(halves(), cut_frames=7.0)
    X = surface.positions
    nodes = np.flatnonzero(np.isin(X[:, 0].round(9), [0.1, 0.3]) & (X[:, 1:] == 0.05).any(axis=1))
    taken = {"dynamic_nodes": nodes} if SOLVER_KINDS[solver].takes_nodes else {}
    prepared, frames = simulated(taut_bar(surface, seams, frames=9, solver=solver, most=20, **taken))
    shown = surfaces(prepared, frames)
    first, second = ((X[:, 0] == 0.2) & (seams.pieces == k) for k in range(2))
    gaps = shown[:, second, 0].min(axis=1) - shown[:, first, 0].max(axis=1)
    assert np.abs(gaps[:6]).max() < 0.02 * SIZE and gaps[8] > 0.05 * SIZE
    assert np.isfinite(shown).all()


def test_split_meshes_are_stored(tmp_path):
    surface, seams = split_box(halves())
    prepared = prepare(taut_bar(surface, seams))
    mesh, embedding = unpack(pack(prepared.model.mesh, prepared.embedding))
    assert all(np.array_equal(a, b) for a, b in zip(mesh.split, prepared.model.mesh.split))
    assert np.array_equal(embedding.pieces(mesh), seams.pieces)
    damaged = pack(prepared.model.mesh, prepared.embedding)
    damaged["pieces"] = damaged["pieces"] - 1
    assert unpack(damaged) is None


def tearing_bar(frames=10, **fields):
    """The taut bar, whose seam tears when the bar is stretched by about 7 %."""
    surface, seams = split_box(halves(), tear_stress=2e3)
    return seams, taut_bar(surface, seams, frames=frames, **fields)


def test_a_seam_tears_at_its_strength():
    seams, job = tearing_bar()
    prepared, frames = simulated(job)
    torn = [0.0 if frame.state.broken is None else frame.state.broken.mean() for frame in frames]
    assert torn[1] == 0.0 and torn[-1] == 1.0  # 3 % and 20 % of 3e4 Pa
    assert len(frames[-1].state.broken) == prepared.loads.seams.count
    assert np.isfinite(surfaces(prepared, frames)).all()


def test_a_solver_without_contact_refuses_tears():
    _seams, job = tearing_bar(solver="conjac_published")
    with pytest.raises(sw.SinewError, match="seams that tear"):
        next(simulate_group([job], [prepare(job)]))


def test_pressure_does_not_tear():
    surface, seams = split_box(halves(), tear_stress=2e3)
    job = taut_bar(surface, seams)
    squeezed = 2.0 * surface.positions[job.body.pinned_vertices] - job.body.pin_positions
    gravity = replace(job.body.solver, gravity=(0.0, 0.0, 0.0))
    _prepared, frames = simulated(job.with_body(pin_positions=squeezed, solver=gravity))
    assert frames[-1].state.broken.mean() < 0.1


@pytest.mark.parametrize("solver", ["mixed_fem", "subspace_mixed_fem"])
def test_resumed_tears_have_the_same_bits(solver):
    _seams, job = tearing_bar(solver=solver)
    prepared, frames = simulated(job)
    for start in (2, 4):
        again = [each[0] for each in simulate_group([job], [prepare(job)], (start + 1, [frames[start].state]))]
        for one, other in zip(frames[start + 1 :], again, strict=True):
            assert all(np.array_equal(a, other.state.arrays()[name]) for name, a in one.state.arrays().items())


def test_own_tets_are_split():
    surface, seams = split_box(halves())
    whole = tetrahedralize(seams.before(surface), sw.Resolution(method="clean", cells_across=8))
    # The vertices of the tets come before those of the split surface, and belong to no face.
    n = len(whole.rest_positions)
    positions = np.concatenate([whole.rest_positions, surface.positions])
    own = sw.Seams(np.concatenate([np.zeros(n, dtype=int), seams.pieces]), seams.seam_faces)
    job = taut_bar(sw.Surface(positions, surface.triangles + n), own)
    pins = np.flatnonzero(positions[:, 0] < 1e-9)
    pins = pins[pins >= n]
    body = sw.Body(surface=job.body.surface, tets=whole.tets, seams=own, materials=sw.Material(), pinned_vertices=pins)
    prepared, frames = simulated(sw.Job(bodies=body, frame_end=3))
    assert len(prepared.model.mesh.whole.tets) == len(whole.tets)
    assert np.isfinite(surfaces(prepared, frames)).all()


def test_materials_and_muscles_are_those_of_the_whole():
    """Painted weights, layers by depth and fibres do not change at a seam."""
    surface, seams = split_box(halves())
    whole, index = seams.before(surface), seams.welded(surface)
    muscle = {"materials": (sw.Material("a", 3e4), sw.Material("b", 3e5))}
    rows = []
    for each, split in ((whole, None), (surface, seams)):
        X = each.positions
        ends = {"origin": np.flatnonzero(X[:, 0] < 1e-9), "insertion": np.flatnonzero(X[:, 0] > SIZE - 1e-9)}
        job = taut_bar(each, split).with_body(
            **muscle,
            material_weights=np.column_stack([1.0 - X[:, 2] / 0.1, X[:, 2] / 0.1]),
            stiffness_maps=None,
            muscles=(sw.Muscle(1, **ends),),
        )
        prepared, frames = simulated(job)
        rows.append(surfaces(prepared, frames))
    assert np.abs(rows[0][:, index] - rows[1]).max() < 1e-5 * SIZE


def test_pieces_collide_and_stand():
    """A cube of two layers stands on the ground: the pieces neither touch before the cut, nor sink in after it."""
    layers = {"size": (0.2, 0.2, 0.2), "cells": (4, 4, 4)}
    surface, seams = split_box(lambda centres: (centres[:, 2] > 0.1).astype(int), cut_frames=8.0, **layers)
    body = sw.Body(
        surface=surface,
        seams=seams,
        materials=sw.Material(youngs_modulus=3e4),
        resolution=sw.Resolution(cells_across=6),
        contact=sw.Contact(self_contact=True, friction=0.5),
        colliders=(sw.Ground(height=-0.005, friction=0.5),),
        solver=sw.Solver(max_iterations=40),
    )
    steppers = []
    job = sw.Job(bodies=body, frame_end=14)
    prepared = prepare(job)
    frames = [each[0] for each in simulate_group([job], [prepared], begun=steppers.append)]
    own = steppers[0].surfaces[0]
    distance = 0.1 * np.linalg.norm(np.diff(own.rest_positions[own.faces], axis=1), axis=2).mean()
    assert not len(steppers[0].excluded_pairs[0])
    upper, lower = ((surface.positions[:, 2] == 0.1) & (seams.pieces == k) for k in (1, 0))
    gaps = [prepared.surface(frame.state.positions)[:, 2] for frame in frames]
    assert min((z[upper] - z[lower]).min() for z in gaps[:7]) > -0.01 * distance
    assert min((z[upper] - z[lower]).min() for z in gaps) > -2.0 * distance
    assert all(report.converged for frame in frames for report in frame.reports)
