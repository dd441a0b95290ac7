"""The preview of a subdivided body: on the card what Blender's own modifier makes of it."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.drawing.gpu_preview import Preview
from sinew.blender_addon.drawing.preview_fine import FineCard
from sinew.blender_addon.drawing.preview_mesh import Skin, drawn_mesh
from sinew.blender_addon.scene_import.mesh_in import columns_of, mesh_of, transform, vertex_positions
from sinew.blender_addon.scene_import.subdivision_in import cage_of, subdivided

from .. import card
from .test_preview import ball, degrees_between, waves


@pytest.fixture(autouse=True)
def drawing(empty_file):
    card.make_ready()


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("handles", [1, 5])
def test_a_subdivision_is_drawn_as_the_modifier_makes_it(add_mesh, handles, mirrored):
    """Places, normals and colours on the card, of a coarse body whose upper half is flat."""
    mesh, matrix = ball(add_mesh, 12), np.diag([-1.0 if mirrored else 1.0, 1.0, 1.0, 1.0])
    smooth = columns_of(mesh.polygons, "center", 3, np.float32)[:, 2] < 0.0
    mesh.polygons.foreach_set("use_smooth", smooth)
    fine = FineCard(subdivided(cage_of(mesh), {"levels": 2, "use_limit_surface": True}), mirrored)
    rest = transform(matrix, vertex_positions(mesh))
    weights, bent = waves(rest, handles)
    preview = Preview(drawn_mesh(mesh, matrix), Skin(rest, weights, np.zeros(3), 1.1), fine=fine)
    preview.ready()
    preview.set_handles(bent)
    positions = preview.positions()
    assert np.abs(positions - rest).max() > 0.05
    mesh.vertices.foreach_set("co", transform(matrix, positions).astype(np.float32).ravel())
    mesh.update()
    bpy.context.object.modifiers.new("Own", "SUBSURF").levels = 2
    with mesh_of(bpy.context.object.evaluated_get(bpy.context.evaluated_depsgraph_get())) as made:
        expected = transform(matrix, vertex_positions(made))
        normals = transform(matrix, columns_of(made.corner_normals, "vector", 3, np.float32)).reshape(-1, 4, 3)
        is_smooth = ~columns_of(made.attributes["sharp_face"].data, "value", 1, bool)[:, 0]
    surface = preview.surface()
    assert np.abs(surface - expected).max() < 1e-6
    found = {name: card.read_back(preview, name) for name in ("moved", "turned")}
    assert np.abs(1.1 * found["moved"] - surface[preview.card.vertices]).max() < 2e-6
    halves = preview.card.triangles.reshape(-1, 2, 3)
    corners = np.column_stack([halves[:, 0], halves[:, 1, 2]])[:, :: -1 if mirrored else 1]
    beside = degrees_between(found["turned"][corners].reshape(-1, 3), normals.reshape(-1, 3)).reshape(-1, 4)
    assert is_smooth.any() and beside[~is_smooth].max() < 0.1 and beside[is_smooth].max() < 3.0
    colours = np.random.default_rng(0).random((len(rest), 3))
    preview.show_colours(colours)
    assert np.abs(preview._colours - fine.matrix @ colours).max() < 1e-12 and preview._colours.min() >= 0.0


def test_of_a_subdivision_the_vertex_that_moves_a_place_most_is_taken(add_mesh):
    mesh = ball(add_mesh, 12)
    rest = vertex_positions(mesh)
    made = subdivided(cage_of(mesh), {"levels": 2, "use_limit_surface": True})
    preview = Preview(
        drawn_mesh(mesh, np.eye(4)), Skin(rest, np.zeros((len(rest), 1)), np.zeros(3), 1.1), fine=FineCard(made)
    )
    surface = preview.surface()
    for vertex in (0, 50, 101, len(surface) - 1):
        carrier, moved = preview.carrier_of(vertex), []
        for other in np.flatnonzero(np.linalg.norm(rest - surface[vertex], axis=1) < 0.4):
            pulled = rest.copy()
            pulled[other, 2] += 0.1
            preview.set_positions(pulled)
            moved.append((preview.surface()[vertex, 2] - surface[vertex, 2], other))
        assert np.abs(preview.marked([int(carrier)]) - preview.surface()).sum(axis=1).min() < 1e-6
        assert max(moved)[0] == pytest.approx(next(much for much, other in moved if other == carrier), abs=1e-7)


def test_the_mark_of_a_vertex_is_what_it_moves_most(add_mesh):
    mesh = ball(add_mesh, 6)
    made = subdivided(cage_of(mesh), {"levels": 2, "use_limit_surface": True})
    weights = made.matrix.toarray()
    assert np.array_equal(weights[FineCard(made).anchors, np.arange(weights.shape[1])], weights.max(axis=0))
