"""Settle: the mesh moves to its static equilibrium, from any start, and Undo takes it back."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import background, baking, settling
from sinew.blender_addon.jobs import job_queue

from .test_child import drain_until, in_child


def shown(obj):
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    return np.array([vertex.co for vertex in mesh.vertices], dtype=float)


def settle(obj):
    """Press the button, and return the shown shape."""
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.sinew.settle() == {"FINISHED"}
    bpy.context.view_layer.update()
    return shown(obj)


def statics_of(obj):
    """Return the baked equilibrium of the first frame after the start."""
    other = obj.copy()
    other.data = obj.data.copy()
    other.name = "Other"
    bpy.context.scene.collection.objects.link(other)
    bpy.context.view_layer.objects.active = other
    other.sinew.integrator, other.sinew.max_iterations = "statics", 50
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    store = baking.open_store(other)
    return store.read(store.frames()[-1])


def test_a_bar_sags_as_baked_statics_and_stays(body, saved):
    rest = shown(body)
    truth = statics_of(body)
    sagging = settle(body)
    assert np.abs(truth - rest).max() > 0.01
    assert np.abs(sagging - truth).max() < 1e-5
    assert body.sinew.bake.status == "NONE" and body.sinew.rest_key == "Basis"
    assert body.active_shape_key.name == settling.KEY_NAME
    assert np.abs(settle(body) - truth).max() < 1e-5, "it does not sag a second time"
    assert [key.name for key in body.data.shape_keys.key_blocks] == ["Basis", settling.KEY_NAME]


def test_a_sculpted_shape_relaxes(body, saved):
    truth = settle(body)
    key = body.data.shape_keys.key_blocks[settling.KEY_NAME]
    rng = np.random.default_rng(3)
    for k in range(4, 12):
        key.data[k].co = np.array(key.data[k].co) + 0.05 * rng.standard_normal(3)
    bpy.context.view_layer.update()
    assert np.abs(shown(body) - truth).max() > 0.05
    assert np.abs(settle(body) - truth).max() < 1e-5


def test_a_muscle_contracts(body, saved):
    own = body.sinew.materials[0].muscle
    own.enabled, own.strength, own.activation = True, 3e5, 1.0
    for name, chosen in (("Origin", [0, 1, 2, 3]), ("Insertion", [8, 9, 10, 11])):
        body.vertex_groups.new(name=name).add(chosen, 1.0, "REPLACE")
    own.origin_group, own.insertion_group = "Origin", "Insertion"
    assert settle(body)[8:, 0].mean() < 0.9, "it is shorter by more than a tenth"


def test_keys_and_modifiers_of_the_artist_are_kept(body, saved):
    """A shape key that is shown, and a modifier that turns the mesh: the shown shape is the equilibrium."""
    body.shape_key_add(name="Basis")
    thin = body.shape_key_add(name="Thin")
    for k in range(12):
        thin.data[k].co.z *= 0.8
    thin.value = 0.5
    lattice = bpy.data.objects.new("Lattice", bpy.data.lattices.new("Lattice"))
    bpy.context.scene.collection.objects.link(lattice)
    lattice.scale = (4.0, 4.0, 4.0)
    for point in lattice.data.points:
        point.co_deform = (point.co[0], point.co[1], point.co[2] + 0.2 * point.co[0])
    body.modifiers.new("Lattice", "LATTICE").object = lattice
    bpy.context.view_layer.update()
    start = shown(body)
    settled = settle(body)
    assert thin.value == 0.5 and np.abs(settled[:4] - start[:4]).max() < 1e-5, "the pins stay as posed"
    assert np.abs(settled - start).max() > 0.01
    assert np.abs(settle(body) - settled).max() < 2e-5


def test_the_child_settles_it(body, saved):
    job_queue.begin(in_child(background.work_on(body, "settle")))
    assert job_queue.current().order.mode == "settle"
    drain_until(job_queue.is_idle)
    assert body.data.shape_keys.key_blocks[settling.KEY_NAME].value == 1.0 and not body.sinew.bake.message


def test_it_is_refused_with_a_remedy(body, saved):
    body.sinew.pin_group = ""
    with pytest.raises(RuntimeError, match="Pin at least 3 vertices"):
        bpy.ops.sinew.settle()
    assert body.data.shape_keys is None and "Pin at least" in body.sinew.bake.message
    body.sinew.pin_group = "Pins"
    bpy.ops.sinew.bake()
    assert not bpy.ops.sinew.settle.poll()


@pytest.mark.parametrize("solver", ["conjac", "linearly_implicit", "subspace_mixed_fem"])
def test_any_solver_and_a_pre_roll_settle(body, saved, solver):
    """Solvers without statics settle with Mixed FEM; a pre-roll and substeps do not matter."""
    truth = settle(body)
    bpy.ops.ed.undo_push(message="Settled")
    key = body.data.shape_keys.key_blocks[settling.KEY_NAME]
    key.value = 0.0
    body.sinew.solver, body.sinew.pre_roll, body.sinew.substeps = solver, 2, 3
    tolerance = 0.1 * np.ptp(truth[:, 2]) if solver.startswith("subspace") else 1e-5
    assert np.abs(settle(body) - truth).max() < tolerance
