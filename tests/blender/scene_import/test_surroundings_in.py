"""Springs, released pins, colliders, the ground and fields arrive frame by frame, in world space and metres."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.core.foundation.errors import ColliderError, SettingsError, SinewError, SpringError

from ..scenes import CUBE, keyed


def job_of(body):
    return make_job(body, bpy.context)


def refused(body, error) -> str:
    frame = bpy.context.scene.frame_current
    with pytest.raises(error) as raised:
        job_of(body)
    assert isinstance(raised.value, SinewError) and raised.value.remedy
    assert bpy.context.scene.frame_current == frame
    return raised.value.message


@pytest.fixture
def spring(body):
    """A spring over the far end of the bar, two vertices of which weigh half."""
    bpy.ops.sinew.add_spring()
    spring = body.sinew.springs[0]
    group = body.vertex_groups.new(name="Far")
    group.add([8, 9], 1.0, "REPLACE")
    group.add([10, 11], 0.5, "REPLACE")
    spring.vertex_group = "Far"
    return spring


@pytest.fixture
def empty():
    obj = bpy.data.objects.new("Handle", None)
    bpy.context.scene.collection.objects.link(obj)
    return obj


@pytest.fixture
def obstacle(collection, add_mesh, body):
    obj = add_mesh(*CUBE, "Block")
    bpy.context.scene.collection.objects.unlink(obj)
    collection.objects.link(obj)
    bpy.context.view_layer.objects.active = body
    return obj


# -- pins ---------------------------------------------------------------------------------------------------------


def test_hold_from_decides_what_is_held(body):
    body.vertex_groups["Pins"].add([2, 3], 0.3, "REPLACE")
    assert job_of(body).body.pinned_vertices.tolist() == [0, 1]
    body.sinew.pin_threshold = 0.3
    job = job_of(body)
    assert job.body.pinned_vertices.tolist() == [0, 1, 2, 3] and job.body.pin_held.all()
    body.sinew.pin_threshold = 1.5
    assert len(job_of(body).body.pinned_vertices) == 0


def test_keyed_upwards_it_releases_and_nothing_is_taken_back(body):
    body.vertex_groups["Pins"].add([2, 3], 0.7, "REPLACE")
    keyed(body.sinew, "pin_threshold", (1, 0.5), (2, 0.5), (3, 0.8), (4, 0.5))
    held = job_of(body).body.pin_held
    assert held[:2].all() and held[:, :2].all() and not held[2:, 2:].any()


def test_unweighted_vertices_are_never_held(body):
    body.sinew.pin_threshold = 0.0
    assert job_of(body).body.pinned_vertices.tolist() == [0, 1, 2, 3]


# -- springs ------------------------------------------------------------------------------------------------------


def test_a_soft_pin_pulls_to_the_objects_own_animation(body, spring):
    keyed(body, "location", (1, (0.0, 0.0, 0.0)), (4, (3.0, 0.0, 0.0)))
    keyed(spring, "strength", (1, 200.0), (4, 0.0))
    (made,) = job_of(body).body.springs
    assert made.vertices.tolist() == [8, 9, 10, 11] and made.weights == pytest.approx([1.0, 1.0, 0.5, 0.5])
    assert made.stiffness[0] == 200.0 and made.stiffness[3] == 0.0 and 0.0 < made.stiffness[2] < made.stiffness[1]
    moved = made.targets - made.targets[0]
    assert np.allclose(moved[3], [3.0, 0.0, 0.0], atol=1e-6)


def test_a_spring_follows_an_objects_motion_and_turn(body, spring, empty):
    spring.end, spring.target = "OBJECT", empty
    empty.location = (1.0, 0.0, 0.0)
    keyed(empty, "rotation_euler", (1, (0.0, 0.0, 0.0)), (4, (0.0, 0.0, math.pi / 2)))
    bpy.context.scene.unit_settings.scale_length = 0.5
    (made,) = job_of(body).body.springs
    rest = 0.5 * np.array([body.data.vertices[i].co for i in (8, 9, 10, 11)])
    assert np.allclose(made.targets[0], rest, atol=1e-6)
    about = rest - [0.5, 0.0, 0.0]
    turned = np.column_stack([-about[:, 1], about[:, 0], about[:, 2]]) + [0.5, 0.0, 0.0]
    assert np.allclose(made.targets[3], turned, atol=1e-6)


def test_a_spring_follows_a_hidden_object(body, spring, empty):
    spring.end, spring.target = "OBJECT", empty
    keyed(empty, "location", (1, (0.0, 0.0, 0.0)), (4, (0.0, 0.0, 2.0)))
    empty.hide_viewport = True
    (made,) = job_of(body).body.springs
    assert np.allclose(made.targets[3] - made.targets[0], [0.0, 0.0, 2.0], atol=1e-6)


def test_a_spring_without_an_end_is_named(body, spring, empty):
    spring.end = "OBJECT"
    assert "“Spring” has no object to pull to" in refused(body, SpringError)
    spring.target = empty
    bpy.context.scene.collection.objects.unlink(empty)  # as Delete does: the spring still names it
    assert "“Spring” pulls to “Handle”, which was deleted" in refused(body, SpringError)


def test_a_spring_to_an_object_in_an_excluded_collection_is_named(body, spring, empty, collection):
    body.sinew.collisions.collection = None
    spring.end, spring.target = "OBJECT", empty
    bpy.context.scene.collection.objects.unlink(empty)
    collection.objects.link(empty)
    bpy.context.view_layer.layer_collection.children["Obstacles"].exclude = True
    assert "not part of the view layer" in refused(body, SpringError)


def test_a_spring_to_a_flattened_object_is_named(body, spring, empty):
    spring.end, spring.target = "OBJECT", empty
    empty.scale = (0.0, 1.0, 1.0)
    assert "has a scale of zero at frame 1" in refused(body, SpringError)


def test_a_spring_without_vertices_is_named(body, spring):
    body.vertex_groups["Far"].remove(list(range(12)))
    assert "“Far” of the spring “Spring” is empty" in refused(body, SpringError)
    body.vertex_groups.remove(body.vertex_groups["Far"])
    assert "“Far”, which does not exist any more" in refused(body, SpringError)
    spring.vertex_group = ""
    assert "has no vertex group to pull" in refused(body, SpringError)


def test_springs_are_added_moved_and_removed_with_their_animation(body):
    for name in ("A", "B", "C"):
        bpy.ops.sinew.add_spring()
        body.sinew.springs[-1].name = name
    for spring, strength in zip(body.sinew.springs, (1.0, 2.0, 3.0)):
        keyed(spring, "strength", (1, strength))
    driver = body.sinew.springs[2].driver_add("strength").driver
    driver.type, driver.expression = "SCRIPTED", "30"
    body.sinew.active_spring = 0
    assert bpy.ops.sinew.move_spring(direction="UP") == {"CANCELLED"}
    assert bpy.ops.sinew.move_spring(direction="DOWN") == {"FINISHED"}
    bpy.context.scene.frame_set(1)
    assert {s.name: s.strength for s in body.sinew.springs} == {"B": 2.0, "A": 1.0, "C": 30.0}
    assert body.sinew.active_spring == 1
    assert bpy.ops.sinew.remove_spring() == {"FINISHED"}
    bpy.context.scene.frame_set(2)
    assert {s.name: s.strength for s in body.sinew.springs} == {"B": 2.0, "C": 30.0}
    body.sinew.active_spring = 1
    bpy.ops.sinew.remove_spring()
    assert len(body.animation_data.drivers) == 0
    bpy.ops.sinew.remove_spring()
    assert not bpy.ops.sinew.remove_spring.poll() and body.sinew.active_spring == 0


def test_animation_in_nla_strips_follows_the_list(body):
    """An action that several strips play is led along once."""
    for name in "AB":
        bpy.ops.sinew.add_spring()
        body.sinew.springs[-1].name = name
    for index, strength in enumerate((1.0, 2.0)):
        body.sinew.springs[index].strength = strength
        body.keyframe_insert(f"sinew.springs[{index}].strength", frame=1)
    animation = body.animation_data
    action, slot = animation.action, getattr(animation, "action_slot", None)
    for start in (1, 20):
        strip = animation.nla_tracks.new().strips.new("Pull", start, action)
        if slot is not None:
            strip.action_slot = slot
    animation.action = None
    body.sinew.active_spring = 0
    bpy.ops.sinew.move_spring(direction="DOWN")
    for spring in body.sinew.springs:
        spring.strength = 50.0
    bpy.context.scene.frame_set(2)
    bpy.context.scene.frame_set(1)
    assert {s.name: s.strength for s in body.sinew.springs} == {"B": 2.0, "A": 1.0}
    bpy.ops.sinew.remove_spring()
    bpy.context.scene.frame_set(21)
    assert {s.name: s.strength for s in body.sinew.springs} == {"B": 2.0}


def test_a_spring_over_selected_vertices(body):
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.sinew.add_spring()
    bpy.ops.object.mode_set(mode="OBJECT")
    spring = body.sinew.springs[0]
    assert spring.vertex_group in body.vertex_groups and len(job_of(body).body.springs[0].vertices) == 12


def test_a_weight_that_is_not_a_number_is_named(body):
    body.vertex_groups["Pins"].add([7], float("nan"), "REPLACE")
    if not any(math.isnan(g.weight) for v in body.data.vertices for g in v.groups):
        body.data.vertices[7].groups[0].weight = float("nan")
    assert "vertex 7 in the vertex group “Pins”" in refused(body, SettingsError)


# -- collisions ---------------------------------------------------------------------------------------------------


def test_a_still_collider_is_kept_once(body, obstacle):
    obstacle.location = (0.0, 0.0, -3.0)
    bpy.context.scene.unit_settings.scale_length = 0.1
    body.sinew.collisions.collider_friction, body.sinew.collisions.thickness = 0.2, 0.02
    (collider,) = job_of(body).body.colliders
    assert collider.name == "Block" and collider.positions.shape == (1, 8, 3) and len(collider.triangles) == 12
    assert np.allclose(collider.positions[0].min(axis=0), [0.0, 0.0, -0.3])
    assert (collider.friction, collider.thickness) == (0.2, pytest.approx(0.002))


def test_a_collider_may_have_a_surface_of_its_own(body, obstacle, collection, add_mesh):
    ice = add_mesh(*CUBE, "Ice")
    collection.objects.link(ice)
    bpy.context.view_layer.objects.active = body
    own = ice.sinew.collider
    own.friction, own.thickness = 0.05, 0.02
    before = job_of(body)
    assert {c.friction for c in before.body.colliders} == {0.5}
    own.use_own = True
    block, slippery = job_of(body).body.colliders
    assert (slippery.name, slippery.friction, slippery.thickness) == ("Ice", 0.05, 0.02)
    assert (block.friction, block.thickness) == (0.5, before.body.colliders[0].thickness)
    changed = job_of(body).fingerprints()
    assert [part for part, digest in before.fingerprints().items() if digest != changed[part]] == ["collisions"]


def test_an_animated_collider_is_sampled(body, obstacle):
    keyed(obstacle, "location", (1, (0.0, 0.0, -3.0)), (4, (0.0, 0.0, 0.0)))
    (collider,) = job_of(body).body.colliders
    assert collider.positions.shape == (4, 8, 3)
    assert np.allclose(collider.positions[:, :, 2].min(axis=1)[[0, 3]], [-3.0, 0.0])


def test_a_deformed_and_mirrored_collider(body, obstacle):
    obstacle.scale = (-1.0, 1.0, 1.0)
    obstacle.modifiers.new("Subdivision", "SUBSURF").levels = 1
    (collider,) = job_of(body).body.colliders
    a, b, c = (collider.positions[0][collider.triangles[:, k]] for k in range(3))
    assert len(collider.positions[0]) == 26 and np.einsum("ni,ni->", a, np.cross(b, c)) > 0.0


@pytest.mark.parametrize("how", ["hidden", "hidden with its collection", "in no view layer", "in no scene"])
def test_hidden_colliders_count(body, obstacle, collection, how):
    obstacle.modifiers.new("Copies", "ARRAY").count = 2
    keyed(obstacle, "location", (1, (0.0, 0.0, -3.0)), (4, (0.0, 0.0, 0.0)))
    match how:
        case "hidden":
            obstacle.hide_viewport = obstacle.hide_render = True
        case "hidden with its collection":
            above = bpy.data.collections.new("Above")
            bpy.context.scene.collection.children.unlink(collection)
            bpy.context.scene.collection.children.link(above)
            above.children.link(collection)
            collection.hide_viewport = above.hide_viewport = True
        case "in no view layer":
            bpy.context.view_layer.layer_collection.children["Obstacles"].exclude = True
        case "in no scene":
            bpy.context.scene.collection.children.unlink(collection)
    (collider,) = job_of(body).body.colliders
    assert collider.positions.shape == (4, 16, 3)
    assert np.allclose(collider.positions[:, :, 2].min(axis=1)[[0, 3]], [-3.0, 0.0])
    assert obstacle.hide_viewport == (how == "hidden")
    assert collection.hide_viewport == (how == "hidden with its collection")


def test_the_body_itself_and_its_bake_are_left_out(body, obstacle, collection, saved):
    collection.objects.link(body)
    assert [c.name for c in job_of(body).body.colliders] == ["Block"]
    body.shape_key_add(name="Basis")
    bpy.ops.sinew.bake()
    assert body.sinew.bake.result.name in collection.objects
    assert [c.name for c in job_of(body).body.colliders] == ["Block"]


def test_another_body_that_is_baked_collides_as_its_bake(body, obstacle, collection, saved):
    bpy.context.view_layer.objects.active = obstacle
    bpy.ops.sinew.enable()
    obstacle.shape_key_add(name="Basis")
    obstacle.sinew.cells_across = 2
    obstacle.sinew.use_scene_range, obstacle.sinew.frame_end = False, 2
    bpy.ops.sinew.bake()
    bpy.context.view_layer.objects.active = body
    (collider,) = job_of(body).body.colliders
    assert collider.name == "Block Bake" and len(collider.positions) == 4
    bake = obstacle.sinew.bake.result
    collection.objects.unlink(bake)
    bpy.context.scene.collection.objects.link(bake)
    assert [c.name for c in job_of(body).body.colliders] == ["Block Bake"], (
        "its body, put there after the bake, names it"
    )
    bpy.context.scene.collection.objects.unlink(bake)
    with pytest.raises(ColliderError, match="has no mesh to collide with"):
        job_of(body)


def test_a_collider_that_changes_its_topology_is_named(body, obstacle):
    copies = obstacle.modifiers.new("Copies", "ARRAY")
    keyed(copies, "count", (2, 1), (3, 2))
    assert "“Block” changes its mesh: 8 vertices at first, and 16 at frame 3" in refused(body, ColliderError)


def test_a_collider_without_faces_is_named(body, obstacle):
    obstacle.data.clear_geometry()
    assert "“Block” has no faces" in refused(body, ColliderError)


def test_an_empty_collection_is_named(body, collection):
    assert "“Obstacles” has no mesh" in refused(body, ColliderError)
    collection.objects.link(body)
    assert "“Obstacles” has no mesh" in refused(body, ColliderError)


def test_a_collider_with_nan_is_named(body, obstacle):
    obstacle.data.vertices[5].co = (float("nan"), 0.0, 0.0)
    assert "Vertex 5 of the collider “Block”" in refused(body, ColliderError)


# -- fields -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("baked_on_itself", [True, False])
def test_an_attribute_becomes_accelerations(body, baked_on_itself):
    if not baked_on_itself:
        body.modifiers.new("Bend", "SIMPLE_DEFORM").angle = 0.0
    attribute = body.data.attributes.new("Wind", "FLOAT_VECTOR", "POINT")
    values = np.arange(36, dtype=np.float32)
    attribute.data.foreach_set("vector", values)
    body.sinew.acceleration_attribute = "Wind"
    body.scale = (2.0, 2.0, 2.0)
    accelerations = job_of(body).body.accelerations
    assert accelerations.shape == (4, 12, 3) and np.array_equal(accelerations[2].ravel(), values)


def test_geometry_nodes_make_a_field_that_changes(body):
    tree = bpy.data.node_groups.new("Gusts", "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    source, sink = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    store = tree.nodes.new("GeometryNodeStoreNamedAttribute")
    store.data_type = "FLOAT_VECTOR"
    store.inputs["Name"].default_value = "Wind"
    value = store.inputs["Value"]
    keyed(value, "default_value", (1, (0.0, 0.0, 0.0)), (4, (6.0, 0.0, 0.0)))
    tree.links.new(source.outputs[0], store.inputs["Geometry"])
    tree.links.new(store.outputs[0], sink.inputs[0])
    body.modifiers.new("Gusts", "NODES").node_group = tree
    body.sinew.acceleration_attribute = "Wind"
    assert "has no attribute “Wind” at frame 1" in refused(body, SettingsError)
    body.sinew.simulate_at, body.sinew.simulate_after = "MODIFIER", "Gusts"
    accelerations = job_of(body).body.accelerations
    assert np.allclose(accelerations[0], 0.0) and np.allclose(accelerations[3], [6.0, 0.0, 0.0])


@pytest.mark.parametrize("kind, domain", [("FLOAT", "POINT"), ("FLOAT_VECTOR", "FACE"), ("FLOAT_COLOR", "POINT")])
def test_an_attribute_of_another_kind_is_named(body, kind, domain):
    body.data.attributes.new("Wind", kind, domain)
    body.sinew.acceleration_attribute = "Wind"
    assert "not a vector at each point" in refused(body, SettingsError)


def test_an_acceleration_that_is_not_a_number_is_named(body):
    attribute = body.data.attributes.new("Wind", "FLOAT_VECTOR", "POINT")
    attribute.data[7].vector = (0.0, float("nan"), 0.0)
    body.sinew.acceleration_attribute = "Wind"
    assert "vertex 7 is not a number at frame 1" in refused(body, SettingsError)


# -- what was edited ----------------------------------------------------------------------------------------------


WITH_SPRINGS = "pins (their release from frame 3), springs (“Spring”: strength)"


def test_edits_of_the_surroundings_are_named(body, spring, obstacle, saved):
    bpy.ops.sinew.bake()
    body.sinew.collisions.use_ground = True
    bpy.ops.sinew.check_bake()
    assert body.sinew.bake.stale == "collisions (“Ground” is new)"
    body.sinew.collisions.use_ground = False
    spring.strength = 5.0
    body.sinew.pin_threshold = 0.6
    keyed(body.sinew, "pin_threshold", (1, 0.5), (3, 1.1))
    bpy.ops.sinew.check_bake()
    assert body.sinew.bake.stale == WITH_SPRINGS
    body.data.attributes.new("Wind", "FLOAT_VECTOR", "POINT")
    body.sinew.acceleration_attribute = "Wind"
    bpy.ops.sinew.check_bake()
    assert body.sinew.bake.stale == f"{WITH_SPRINGS}, fields (acceleration is new)"
