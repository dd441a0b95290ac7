"""Pins carry the tets' corners rigidly, whatever the pins leave open, and meet their targets where they bend."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.constraints.pins import corner_targets, pinned_corners
from sinew.core.mesh.embedding import embed
from sinew.core.mesh.surface_mesh import SurfaceMesh
from sinew.core.mesh.tetrahedralize import tetrahedralize
from sinew.core.model.settings import ResolutionSettings

CUBE = np.array([[x, y, z] for x in (0.0, 0.1) for y in (0.0, 0.1) for z in (0.0, 0.1)])
FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4]]
    + [[1, 5, 7], [1, 7, 3]]
)
PINS = {"single": [0], "line": [0, 1], "plane": [0, 1, 2, 3], "all": list(range(7))}


def turn(angle, axis=2):
    c, s = np.cos(angle), np.sin(angle)
    R = np.eye(3)
    i, j = [(1, 2), (2, 0), (0, 1)][axis]
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


@pytest.fixture(scope="module")
def body():
    surface = SurfaceMesh(CUBE, FACES)
    mesh = tetrahedralize(surface, ResolutionSettings(cells_across=4))
    return mesh, embed(surface.positions, mesh)


def targets_of(body, pins, positions, rotations):
    mesh, embedding = body
    corners = pinned_corners(mesh, embedding, np.array(pins))
    return corners, corner_targets(corners, mesh, embedding, np.array(pins), positions, rotations)


@pytest.mark.parametrize("pins", PINS.values(), ids=PINS.keys())
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_corners_turn_with_the_object(body, pins, axis):
    """Through half a turn and beyond, about any axis; the first frame is the rest."""
    rotations = np.array([turn(a, axis) for a in np.linspace(0, 1.5 * np.pi, 7)])
    positions = np.einsum("fij,pj->fpi", rotations, CUBE[pins]) + 0.3
    positions -= 0.3 * np.eye(7)[0][:, None, None]  # the first frame stays at rest
    corners, targets = targets_of(body, pins, positions, rotations)
    X = body[0].rest_positions[corners]
    np.testing.assert_allclose(targets[0], X, atol=1e-12)
    expected = np.einsum("fij,qj->fqi", rotations, X) + 0.3
    np.testing.assert_allclose(targets[1:], expected[1:], atol=1e-8)


@pytest.mark.parametrize("pins", [PINS["line"], PINS["plane"]], ids=["line", "plane"])
def test_a_turn_by_the_pins_alone_has_no_jump(body, pins):
    """Deformed by something else than the object's matrix; half a turn is the hard case for pins on a line."""
    angles = np.linspace(0, np.pi, 13)
    rotations = np.array([turn(a, 1) for a in angles])
    positions = np.einsum("fij,pj->fpi", rotations, CUBE[pins])
    corners, targets = targets_of(body, pins, positions, np.tile(np.eye(3), (13, 1, 1)))
    expected = np.einsum("fij,qj->fqi", rotations, body[0].rest_positions[corners])
    np.testing.assert_allclose(targets, expected, atol=1e-6)


def test_stretched_pins_meet_their_targets(body):
    pins = PINS["plane"]
    stretched = np.array([CUBE[pins], CUBE[pins] * 1.5])
    corners, targets = targets_of(body, pins, stretched, np.tile(np.eye(3), (2, 1, 1)))
    mesh, embedding = body
    positions = mesh.rest_positions.copy()
    positions[corners] = targets[1]
    reached = embedding.apply(positions, mesh.tets)[pins]
    assert np.abs(reached - stretched[1]).max() <= 1e-3 * 0.1


def test_no_pins_hold_nothing(body):
    corners, targets = targets_of(body, np.empty(0, dtype=int), np.empty((3, 0, 3)), np.tile(np.eye(3), (3, 1, 1)))
    assert len(corners) == 0
    assert targets.shape == (3, 0, 3)
