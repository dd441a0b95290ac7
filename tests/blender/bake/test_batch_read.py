"""Bodies that wait are read along with that whose turn it is: to the same jobs, and never before what they hang on."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import background, baking
from sinew.blender_addon.bake.batch_read import BatchRead
from sinew.blender_addon.jobs import job_queue
from sinew.blender_addon.scene_import import animation_in
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.blender_addon.window.stepwise import at_once
from sinew.core.foundation.errors import SinewError

from ..scenes import CUBE, keyed
from .test_bake_queue import bodies, run_queue, start_all, statuses  # noqa: F401 (a fixture)

FRAMES = range(1, 5)


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    job_queue.abandon()


@pytest.fixture
def visited(monkeypatch):
    """The moments for which the scene was evaluated, to be read."""
    seen, stop = [], animation_in._stop

    def noting(passengers, scene, frame, first, part=0.0):
        seen.append(frame + part)
        stop(passengers, scene, frame, first, part)

    monkeypatch.setattr(animation_in, "_stop", noting)
    return seen


@pytest.fixture
def cube(add_mesh):
    """A hidden cube that turns under the bodies."""
    cube = add_mesh(np.array(CUBE[0]) - (0.5, 0.5, 1.5), CUBE[1], "Cube")
    keyed(cube, "rotation_euler", (1, (0.0, 0.0, 0.0)), (4, (0.0, 0.0, 1.0)))
    cube.hide_viewport = True
    return cube


@pytest.fixture
def crowd(bodies, cube):  # noqa: F811
    """Three bodies over the cube, which is in the way of all; two substeps, one body turns, one lies under a hook."""
    obstacles = bpy.data.collections.new("Obstacles")
    obstacles.objects.link(cube)
    for k, obj in enumerate(bodies):
        obj.sinew.collisions.collection, obj.sinew.substeps = obstacles, 2
        obj.sinew.collisions.collider_friction = 0.1 * k
        obj.sinew.materials[0].log_stiffness += 0.1 * k
        obj.location.x = 0.3 * k
    keyed(bodies[1], "rotation_euler", (1, (0.0, 0.0, 0.0)), (4, (0.0, 1.0, 0.0)))
    keyed(bodies[2].modifiers.new("Wave", "SIMPLE_DEFORM"), "angle", (1, 0.0), (4, 0.5))
    bpy.context.view_layer.update()
    return bodies


def frames_of(obj):
    store = baking.open_store(obj)
    return [store.read(frame) for frame in store.frames()]


def read_next(together, bodies):  # noqa: F811
    return at_once(together.job_steps(bodies[0], bpy.context))


def read_early(bodies):  # noqa: F811
    """Names of those that are read along with the first."""
    together = BatchRead(bodies)
    read_next(together, bodies)
    return [obj.name for obj in bodies if obj.session_uid in together._kept]


def test_all_at_once_are_what_each_is_alone(crowd, visited):
    """Job by job, frame by frame, to the last bit; the scene goes through its frames as often as for one."""
    alone = [make_job(obj, bpy.context).fingerprints() for obj in crowd]
    assert visited == 3 * visited[: 4 + 3]
    visited.clear()
    assert bpy.ops.sinew.bake_all() == {"FINISHED"} and statuses(crowd) == ["DONE"] * 3
    assert visited == [1, 2, 3, 4, 1.5, 2.5, 3.5]
    assert [baking.open_store(obj).job().fingerprints() for obj in crowd] == alone
    together = [frames_of(obj) for obj in crowd]
    for obj in crowd:
        bpy.context.view_layer.objects.active = obj
        assert bpy.ops.sinew.delete_bake() == {"FINISHED"} and bpy.ops.sinew.bake() == {"FINISHED"}
    assert all(
        np.array_equal(here, there)
        for a, b in zip(together, map(frames_of, crowd))
        for here, there in zip(a, b, strict=True)
    )


def test_colliders_are_kept_once(crowd):
    together = BatchRead(crowd)
    jobs = [at_once(together.job_steps(obj, bpy.context)) for obj in crowd]
    colliders = [job.body.colliders[0] for job in jobs]
    assert all(np.shares_memory(colliders[0].positions, other.positions) for other in colliders)
    assert len({collider.friction for collider in colliders}) == 3


def test_an_instance_of_a_body_is_not_in_its_own_way(crowd, cube):
    cube.hide_viewport, cube.instance_type = False, "FACES"
    for obj in crowd[:2]:
        obj.modifiers.clear()
    crowd[0].parent = cube
    alone = [make_job(obj, bpy.context).fingerprints() for obj in crowd[1:]]
    together = BatchRead(crowd[1:])
    assert [at_once(together.job_steps(obj, bpy.context)).fingerprints() for obj in crowd[1:]] == alone


def test_a_body_that_runs_into_another_reads_its_result(bodies, evaluated, visited):  # noqa: F811
    a, b, c = bodies
    obstacles = bpy.data.collections.new("Obstacles")
    obstacles.objects.link(c)
    a.sinew.collisions.collection = obstacles
    a.location.z, c.location.y = 1.0, 0.2
    assert bpy.ops.sinew.bake_all() == {"FINISHED"} and statuses(bodies) == ["DONE"] * 3
    (collider,) = baking.open_store(a).job().body.colliders
    for k, frame in enumerate(FRAMES):
        assert np.allclose(collider.positions[k], evaluated(c, frame), atol=1e-6)
    assert np.abs(collider.positions[3] - collider.positions[0]).max() > 1e-3


def by_collider(obj, other):
    obj.sinew.collisions.collection = bpy.data.collections.new("Obstacles")
    obj.sinew.collisions.collection.objects.link(other)


def by_modifier(obj, other):
    obj.modifiers.new("Onto", "SHRINKWRAP").target = other


def by_nodes(obj, other):
    tree = bpy.data.node_groups.new("Info", "GeometryNodeTree")
    tree.nodes.new("GeometryNodeObjectInfo").inputs[0].default_value = other
    obj.modifiers.new("Nodes", "NODES").node_group = tree


def by_parent_of_target(obj, other):
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    target.parent, target.parent_type = other, "VERTEX"
    spring = obj.sinew.springs.add()
    spring.end, spring.target, spring.vertex_group = "OBJECT", target, "Pins"


def by_driver(obj, other):
    variable = obj.driver_add("location", 0).driver.variables.new()
    variable.type = "TRANSFORMS"
    variable.targets[0].id = other


def by_field(obj, other):
    wind = bpy.data.objects.new("Wind", None)
    bpy.context.scene.collection.objects.link(wind)
    bpy.context.view_layer.objects.active = wind
    bpy.ops.object.forcefield_toggle()
    wind.parent = other


def by_absorption(obj, other):
    other.modifiers.new("Collision", "COLLISION")


def by_region(obj, other):
    obj.sinew.materials.add().region = other


WAYS = by_collider, by_modifier, by_nodes, by_parent_of_target, by_driver, by_field, by_absorption, by_region


@pytest.mark.parametrize("way", WAYS)
def test_what_hangs_on_another_waits_for_it(bodies, way):  # noqa: F811
    a, b, c = bodies
    assert read_early([b, c, a]) == ["C", "A"]
    way(a, b)
    bpy.context.view_layer.update()
    assert "A" not in read_early([b, c, a]) and "A" not in read_early([c, b, a])
    assert "B" not in read_early([a, b, c]), "nor is that read along which the first is read from"


@pytest.mark.parametrize(
    "other", ["frames", "pre-roll", "substeps", "hidden collider", "hidden", "excluded", "refused"]
)
def test_other_terms_are_other_jobs(bodies, cube, other):  # noqa: F811
    a, b, c = bodies
    if other == "frames":
        b.sinew.frame_end = 6
    elif other == "pre-roll":
        b.sinew.pre_roll = 2
    elif other == "substeps":
        b.sinew.substeps = 3
    elif other == "hidden collider":
        by_collider(b, cube)
    elif other == "hidden":
        b.hide_viewport = True
    elif other == "excluded":
        collection = bpy.data.collections.new("Aside")
        bpy.context.scene.collection.children.link(collection)
        collection.objects.link(b)
        bpy.context.scene.collection.objects.unlink(b)
        bpy.context.view_layer.layer_collection.children["Aside"].exclude = True
    else:
        b.sinew.materials.clear()
    assert read_early(bodies) == ["C"]
    if other in ("frames", "pre-roll", "substeps"):
        assert bpy.ops.sinew.bake_all() == {"FINISHED"} and statuses(bodies) == ["DONE"] * 3
        assert [baking.open_store(obj).job().fingerprints() for obj in bodies] == [
            make_job(obj, bpy.context).fingerprints() for obj in bodies
        ]


@pytest.mark.parametrize("first", [False, True])
def test_one_that_is_refused_on_the_way_leaves_the_rest(crowd, first):
    a, b, c = crowd
    bad = a if first else b
    keyed(bad, "scale", (1, (1.0, 1.0, 1.0)), (3, (1.0, 0.0, 1.0)))
    with pytest.raises(RuntimeError, match="flattened at frame 3"):
        bpy.ops.sinew.bake_all()
    rest = [obj for obj in crowd if obj != bad]
    assert statuses(rest) == ["DONE"] * 2 and bad.sinew.bake.status == "NONE"
    assert "flattened at frame 3" in bad.sinew.bake.message
    for obj in rest:
        assert baking.open_store(obj).job().fingerprints() == make_job(obj, bpy.context).fingerprints()


def stiffer(obj):
    obj.sinew.materials[0].log_stiffness += 0.3


def pinned_less(obj):
    obj.vertex_groups["Pins"].remove([0])


def moved(obj):
    obj.location.y = 0.2


def moved_later(obj):
    keyed(obj, "location", (1, (0.0, 0.0, 0.0)), (4, (0.0, 0.0, 0.4)))


def heavier(obj):
    bpy.context.scene.gravity[2] = -3.0


def blown(obj):
    by_field(obj, None)


def with_a_moved_cube(obj):
    bpy.data.objects["Cube"].location.z = -0.4


def with_another_collider(obj):
    other = obj.copy()
    obj.sinew.collisions.collection.objects.link(other)


EDITS = stiffer, pinned_less, moved, moved_later, heavier, blown, with_a_moved_cube, with_another_collider


@pytest.mark.parametrize("edit", EDITS)
def test_what_is_edited_while_it_waits_is_read_anew(crowd, edit):
    together = BatchRead(crowd)
    read_next(together, crowd)
    kept = together._kept[crowd[1].session_uid].job
    edit(crowd[1])
    bpy.context.view_layer.update()
    job = at_once(together.job_steps(crowd[1], bpy.context))
    assert job.fingerprints() == make_job(crowd[1], bpy.context).fingerprints() != kept.fingerprints()


def test_what_else_is_edited_costs_no_second_reading(crowd, visited):
    """The result of the body before, a selection, another frame, an object that has nothing to do with it."""
    together = BatchRead(crowd[::-1])
    job_queue.begin(background.work_on(crowd[2], "", job_steps=together.job_steps))
    assert crowd[2].sinew.bake.status == "DONE" and crowd[2].sinew.bake.hides_original
    kept = together._kept[crowd[1].session_uid].job
    crowd[0].select_set(True)
    bpy.context.scene.frame_set(3)
    other = bpy.data.objects.new("Other", None)
    bpy.context.scene.collection.objects.link(other)
    other.location.x = 1.0
    bpy.context.view_layer.update()
    visited.clear()
    assert at_once(together.job_steps(crowd[1], bpy.context)) is kept and not visited


def test_in_the_child_all_are_read_once(crowd, visited):
    start_all(crowd)
    run_queue(set())
    assert statuses(crowd) == ["DONE"] * 3 and len(visited) == 4 + 3


def test_esc_keeps_the_frames_that_the_others_had(bodies):  # noqa: F811
    """Stores are made, and gone on with, when their turn comes."""
    for obj in bodies:
        bpy.context.view_layer.objects.active = obj
        bpy.context.scene.frame_set(3)
        assert bpy.ops.sinew.bake_to_current() == {"FINISHED"}
    before = [frames_of(obj) for obj in bodies]
    bodies[1].sinew.property_unset("bake")  # an undo
    bodies[1].shape_key_clear()
    start_all(bodies)
    job_queue.stop()
    run_queue(set())
    for obj, old in list(zip(bodies, before))[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(frames_of(obj), old, strict=True))
    assert bpy.ops.sinew.bake_all() == {"FINISHED"} and statuses(bodies) == ["DONE"] * 3
    assert all(np.array_equal(a, b) for obj, old in zip(bodies, before) for a, b in zip(frames_of(obj), old))


def test_a_body_that_is_gone_is_not_missed(crowd):
    together = BatchRead(crowd)
    bpy.data.objects.remove(crowd[1])
    read_next(together, crowd)
    assert len(together._kept) == 1
    with pytest.raises((SinewError, ReferenceError)):
        read_next(BatchRead([crowd[2]]), [crowd[1]])


def test_the_command_lines_frames_and_solver_are_those_of_all(bodies, visited):  # noqa: F811
    bodies[1].sinew.frame_end = 6
    asked = (2, 3), "linearly_implicit"
    together = BatchRead(bodies, *asked)
    jobs = [at_once(together.job_steps(obj, bpy.context)) for obj in bodies]
    assert visited == [2, 3] and jobs[2].body.solver.solver == "linearly_implicit"
    assert [job.fingerprints() for job in jobs] == [make_job(o, bpy.context, *asked).fingerprints() for o in bodies]
