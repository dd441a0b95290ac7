"""Bodies that meet: baked together by Bake on any of them, each with a result and a store of its own."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import background, bake_queue, baking, comparison
from sinew.blender_addon.drawing import overlay_contacts
from sinew.blender_addon.jobs import job_queue
from sinew.blender_addon.objects import contact_groups
from sinew.blender_addon.scene_import.colliders_in import collider_objects
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.blender_addon.setup import forecasts
from sinew.blender_addon.window.stepwise import at_once
from sinew.core.foundation.errors import SinewError, StoreError
from sinew.core.foundation.schema.solver_kinds import SOLVER_KINDS
from sinew.core.jobs.store.frame_store import FrameStore

from ..drawn import drawn_by
from ..scenes import CUBE
from .test_child import drain_until, in_child, kill, start

FRAMES, CELLS = 6, 4


@pytest.fixture
def boxes(add_mesh, saved):
    """Two boxes of 0.2 m, one above the other, and the ground."""
    made = []
    for name, place in (("Low", (0.0, 0.0, 0.01)), ("High", (0.03, 0.0, 0.24))):
        obj = add_mesh(0.2 * np.array(CUBE[0]) + place, CUBE[1], name)
        bpy.ops.sinew.enable()
        settings = obj.sinew
        settings.use_scene_range, settings.frame_start, settings.frame_end = False, 1, FRAMES
        settings.cells_across, settings.collisions.use_ground = CELLS, True
        settings.materials[0].log_stiffness = np.log10(5e4)
        made.append(obj)
    yield made
    job_queue.abandon()


def frames_of(obj) -> np.ndarray:
    store = baking.open_store(obj)
    return np.array([store.read(frame) for frame in store.frames()])


def gap(low, high) -> np.ndarray:
    """Between the one and what stands on it, of each frame."""
    return frames_of(high)[:, :, 2].min(axis=1) - frames_of(low)[:, :, 2].max(axis=1)


def test_bake_on_one_bakes_both(boxes, evaluated):
    low, high = boxes
    bpy.context.view_layer.objects.active = low
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert [obj.sinew.bake.status for obj in boxes] == ["DONE"] * 2
    assert [obj.sinew.bake.frames for obj in boxes] == [FRAMES] * 2
    assert all(obj.sinew.bake.mesh_summary and obj.sinew.bake.report for obj in boxes)
    for obj in boxes:
        np.testing.assert_allclose(evaluated(obj, FRAMES), frames_of(obj)[-1], atol=1e-6)
    apart, cell = gap(low, high), 0.2 / CELLS
    assert apart[0] > 0.02 and abs(apart).min() < apart[0], "it has come down on the other"
    assert apart.min() > -0.54 * cell, "sharp edges poke out of the lattice's skin"
    words = forecasts.cost_words(low, bpy.context)[0]
    assert words.endswith(" per frame with contact, not counting its contact partners, as timed in the last bake")
    bpy.context.view_layer.objects.active = high
    bpy.ops.sinew.check_bake()
    assert high.sinew.bake.stale == ""
    low.sinew.materials[0].log_stiffness += 0.5
    bpy.ops.sinew.check_bake()
    assert "“Low”" in high.sinew.bake.stale and high.sinew.bake.stale.startswith("collisions")


@pytest.mark.parametrize("are_tied", [False, True])
def test_killed_and_resumed_it_has_the_same_bits(boxes, are_tied):
    low, high = boxes
    if are_tied:
        tie = high.sinew.ties.add()
        tie.other, tie.distance, tie.use_breaking, tie.breaking_stress = low, 0.05, True, 50.0
    bpy.ops.sinew.bake_all()
    whole = [frames_of(obj) for obj in boxes]
    bpy.context.view_layer.objects.active = high
    bpy.ops.sinew.delete_bake()
    assert low.sinew.bake.status == "DONE" and high.sinew.bake.status == "NONE"
    with pytest.raises(SinewError, match="“Low” is baked, but not together with “High”"):
        background.begin(high, "")
    run = start(high)
    assert job_queue.current(low.session_uid) is run and job_queue.current(high.session_uid) is run
    words = " ".join(run.child.process.args)
    assert len(run.order.folders) == 2 and sum(str(folder) in words for folder in run.order.folders) == 1, (
        "a command line is too short for many"
    )
    drain_until(lambda: run.state.frames_done >= 2)
    kill(run)
    drain_until(job_queue.is_idle)
    assert [obj.sinew.bake.status for obj in boxes] == ["FAILED"] * 2
    assert all("ended unexpectedly" in obj.sinew.bake.message for obj in boxes)
    run = start(low, "resume")
    drain_until(job_queue.is_idle)
    assert [obj.sinew.bake.status for obj in boxes] == ["DONE"] * 2, low.sinew.bake.message
    for obj, before in zip(boxes, whole):
        np.testing.assert_array_equal(frames_of(obj), before)


def test_bodies_around_one_chamber_are_baked_together(boxes):
    low, high = boxes
    for obj in boxes:
        obj.sinew.collisions.contact_bodies, obj.sinew.chamber.enabled = False, True
    assert contact_groups.group_of(low, bpy.context) == [low]
    low.sinew.chamber.shared = high.sinew.chamber.shared = "Ball"
    assert contact_groups.group_of(low, bpy.context) == [high, low]
    assert make_job(low, bpy.context).body.chamber.shared == "Ball"


def test_who_meets_whom(boxes, add_mesh):
    low, high = boxes
    third = add_mesh(0.2 * np.array(CUBE[0]) + (3.0, 0.0, 0.1), CUBE[1], "Far")
    bpy.ops.sinew.enable()
    names = lambda obj: [each.name for each in contact_groups.group_of(obj, bpy.context)]  # noqa: E731
    assert names(low) == ["Far", "High", "Low"]
    third.sinew.collisions.contact_bodies = False
    assert names(low) == ["High", "Low"] and names(third) == ["Far"]
    third.sinew.collisions.contact_bodies = True
    collection = bpy.data.collections.new("Met")
    collection.objects.link(low)
    low.sinew.collisions.contact_collection = high.sinew.collisions.contact_collection = collection
    assert names(low) == ["Low"] and names(high) == ["High"], "only what both want meets"
    collection.objects.link(high)
    assert names(low) == ["High", "Low"] and names(third) == ["Far"]
    third.sinew.enabled = False
    low.sinew.collisions.contact_collection = high.sinew.collisions.contact_collection = None
    high.sinew.collisions.collection = collection
    assert collider_objects(high, bpy.context) == [], "it is met, and not run into"
    assert collider_objects(high, bpy.context, alone=True) == [low], "but by what plays with it alone"
    assert collider_objects(low, bpy.context, alone=True) == [high]
    low.sinew.collisions.contact_bodies = False
    assert collider_objects(high, bpy.context) == [low]


def test_what_does_not_go_together_is_refused_before_anything_is_lost(boxes):
    low, high = boxes
    bpy.ops.sinew.bake_all()
    before = frames_of(low)
    high.sinew.frame_end = FRAMES + 1
    for change, words in (
        (lambda: None, "“High” and “Low” collide, but differ in frame range"),
        (lambda: setattr(high.sinew, "frame_end", FRAMES) or setattr(high.sinew, "max_iterations", 70), "iterations"),
        (
            lambda: setattr(high.sinew, "max_iterations", low.sinew.max_iterations) or high.sinew.materials.clear(),
            "no physical",
        ),
    ):
        change()
        bpy.context.view_layer.objects.active = low
        with pytest.raises(RuntimeError, match=words):
            bpy.ops.sinew.bake()
        np.testing.assert_array_equal(frames_of(low), before)


@pytest.mark.parametrize("in_a_child", (False, True))
def test_what_overlaps_is_moved_out_by_a_button(boxes, in_a_child):
    low, high = boxes
    high.location.z, bpy.context.scene.unit_settings.scale_length = -0.6, 0.1  # m of 0.1: it is in the other
    for obj in boxes:
        obj.scale = (10.0, 10.0, 10.0)
    high.location.z = -0.6
    bpy.context.view_layer.objects.active = low
    assert not bpy.ops.sinew.move_out.poll()
    if in_a_child:
        start(low)
        drain_until(job_queue.is_idle)
    else:
        with pytest.raises(RuntimeError, match="overlap by"):
            bpy.ops.sinew.bake()
    assert "“High” and “Low” overlap by" in low.sinew.bake.message and low.sinew.bake.separation_object == high
    bpy.context.scene.sinew.length_factor = 0.5  # which moves nothing
    assert (
        bpy.ops.sinew.move_out() == {"FINISHED"} and low.sinew.bake.message == "" and not bpy.ops.sinew.move_out.poll()
    )
    bpy.context.scene.sinew.length_factor = 1.0
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert [obj.sinew.bake.status for obj in boxes] == ["DONE"] * 2
    assert gap(low, high)[0] > -0.54 * 0.2 / CELLS


def test_what_overlaps_grows_apart_by_a_button(boxes, evaluated):
    """The result has the frames of the scene, and begins with both at their size, apart; it resumes as others do."""
    low, high = boxes
    high.location.z = -0.08
    bpy.context.view_layer.objects.active = low
    assert not bpy.ops.sinew.untangle.poll()
    with pytest.raises(RuntimeError, match="overlap by .* Or turn on Grow Apart and set a Pre-Roll of 10 frames"):
        bpy.ops.sinew.bake()
    low.sinew.solver = "subspace_mixed_fem"
    assert not bpy.ops.sinew.untangle.poll()
    low.sinew.solver = high.sinew.solver
    high.sinew.pre_roll = low.sinew.pre_roll = 0
    assert bpy.ops.sinew.untangle() == {"FINISHED"}
    for obj in boxes:
        assert obj.sinew.collisions.grow_apart and obj.sinew.pre_roll == 10
        assert obj.sinew.bake.message == "" and obj.sinew.bake.separation_object is None
    assert not bpy.ops.sinew.untangle.poll()
    run = start(low)
    drain_until(lambda: run.state.frames_done >= 4)
    kill(run)
    drain_until(job_queue.is_idle)
    start(low, "resume")
    drain_until(job_queue.is_idle)
    for obj in boxes:
        assert (obj.sinew.bake.status, obj.sinew.bake.frames, obj.sinew.bake.first_frame) == ("DONE", FRAMES, 1)
    below, above = (evaluated(obj, 1) for obj in boxes)
    for shown in (below, above):
        along = np.linalg.svd(shown - shown.mean(axis=0), compute_uv=False)  # its own axes
        np.testing.assert_allclose(along, np.linalg.norm(0.2 * (CUBE[0] - np.mean(CUBE[0], axis=0)), axis=0), rtol=0.08)
    apart = np.linalg.norm(frames_of(high)[10:].mean(axis=1) - frames_of(low)[10:].mean(axis=1), axis=1)
    assert apart.min() > 0.18, "m, where they were told 0.15 apart"
    bpy.ops.sinew.check_bake()
    assert low.sinew.bake.stale == ""
    high.sinew.collisions.grow_apart = False
    bpy.ops.sinew.check_bake()
    assert "“High”" in low.sinew.bake.stale


def test_bake_all_in_the_child_takes_them_as_one(boxes, add_mesh):
    """And one undo takes the results of both back."""
    alone = add_mesh(0.2 * np.array(CUBE[0]) + (3.0, 0.0, 0.1), CUBE[1], "Alone")
    bpy.ops.sinew.enable()
    settings = alone.sinew
    settings.use_scene_range, settings.frame_start, settings.frame_end, settings.cells_across = False, 1, 3, 3
    settings.collisions.contact_bodies = False
    works = [in_child(work) for work in background.work_on_all([*boxes, alone])]
    assert [len(work.uids) for work in works] == [2, 1]
    job_queue.begin(*works)
    assert job_queue.place_of(alone) == 1 and job_queue.place_of(boxes[1]) == 0
    drain_until(job_queue.is_idle)
    assert [obj.sinew.bake.status for obj in (*boxes, alone)] == ["DONE"] * 3


def test_what_touches_is_kept_for_overlays(boxes):
    low, high = boxes
    bpy.context.view_layer.objects.active = low
    bpy.ops.sinew.bake()
    store = overlay_contacts.store_of(high)
    assert overlay_contacts.pushed_at(store, 1) is None and overlay_contacts.pushed_at(store, 99) is None
    pushed = overlay_contacts.pushed_at(store, FRAMES)
    below = frames_of(high)[-1][pushed.vertices[pushed.levels > 0], 2]
    assert len(pushed.vertices) and below.max() < frames_of(high)[-1][:, 2].mean(), "it is pushed from below"
    weight = 0.2**3 * high.sinew.materials[0].density * 9.81
    assert 0.05 * weight / 0.2**2 < pushed.range[1] < 1e3 * weight / 0.2**2 and pushed.range[0] < pushed.range[1]
    assert len(overlay_contacts.colours()) == overlay_contacts.LEVELS > pushed.levels.max()
    lines, through = overlay_contacts.touching_lines(store)
    own = np.array([v.co for v in high.data.vertices])
    cell = 0.2 / CELLS
    assert len(lines) > 100 and len(through) == 0
    np.testing.assert_allclose(
        [lines.min(axis=0), lines.max(axis=0)], [own.min(axis=0), own.max(axis=0)], atol=0.6 * cell
    )
    for folder in (baking.open_store(low).folder,):
        (folder / "meeting.sinew").write_bytes(b"torn")
    assert len(overlay_contacts.touching_lines(overlay_contacts.store_of(low))[0]) == 0


@pytest.mark.parametrize("solver", [kind.name for kind in SOLVER_KINDS.values() if kind.supports_contact])
def test_each_solver_that_is_offered_bakes_both(boxes, solver):
    for obj in boxes:
        obj.sinew.solver, obj.sinew.frame_end, obj.sinew.modes = solver, 4, 4
    bpy.context.view_layer.objects.active = boxes[0]
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert [obj.sinew.bake.frames for obj in boxes] == [4, 4]
    assert gap(*boxes).min() > -0.54 * 0.2 / CELLS


def test_a_body_with_nothing_but_itself_keeps_its_frames_where_it_is_refused(boxes):
    low, high = boxes
    high.sinew.collisions.contact_bodies, low.sinew.collisions.contact_bodies = False, False
    low.sinew.collisions.self_contact = True
    bpy.context.view_layer.objects.active = low
    bpy.ops.sinew.bake()
    before = frames_of(low)
    low.sinew.solver = "conjac_published"
    with pytest.raises(RuntimeError, match="uses self-contact, which ConJac .As Published. cannot compute"):
        bpy.ops.sinew.bake()
    np.testing.assert_array_equal(frames_of(low), before)


def test_a_body_that_is_renamed_is_not_taken_for_another(boxes):
    """The order of the bodies would change, and with it the owner of the colliders' state."""
    low, _ = boxes
    bpy.context.view_layer.objects.active = low
    bpy.context.scene.frame_set(3)
    bpy.ops.sinew.bake_to_current()
    low.name = "Apex"
    with pytest.raises(RuntimeError, match="the body's index in its contact group"):
        bpy.ops.sinew.resume_bake()
    low.name = "Lower"
    assert bpy.ops.sinew.resume_bake() == {"FINISHED"}


def test_a_body_that_is_out_of_view_leaves_the_others_alone(boxes):
    low, high = boxes
    away = bpy.data.collections.new("Away")
    bpy.context.scene.collection.children.link(away)
    away.objects.link(high)
    bpy.context.scene.collection.objects.unlink(high)
    bpy.context.view_layer.layer_collection.children["Away"].exclude = True
    found = bake_queue.groups_in_order(bake_queue.bodies_of(bpy.context.scene), bpy.context)
    assert sorted(each.name for group in found for each in group) == ["High", "Low"] and len(found) == 2


def test_what_one_of_a_group_runs_into_comes_before_all(boxes, add_mesh):
    low, high = boxes
    block = add_mesh(0.2 * np.array(CUBE[0]) + (3.0, 0.0, 0.1), CUBE[1], "Middle")
    bpy.ops.sinew.enable()
    block.sinew.collisions.contact_bodies = False
    collection = bpy.data.collections.new("Way")
    collection.objects.link(block)
    low.sinew.collisions.collection = collection
    found = bake_queue.groups_in_order([high, block, low], bpy.context)
    assert [[each.name for each in group] for group in found] == [["Middle"], ["High", "Low"]]


def test_a_group_that_changes_while_it_waits_is_refused(boxes):
    low, high = boxes
    work = background.work_on(low, "bake")
    high.sinew.collisions.contact_bodies = False
    with pytest.raises(SinewError, match="now than when it was queued"):
        at_once(work.read(low))


def test_where_one_cannot_be_baked_the_frames_of_the_others_stay(boxes, monkeypatch):
    low, high = boxes
    bpy.context.view_layer.objects.active = low
    bpy.ops.sinew.bake()
    before = frames_of(high)

    def full(*together):
        if any(each.job.body.name == "Low" for each in together):
            raise StoreError("There is no room on the disk.")

    monkeypatch.setattr(baking, "check_disk_space", full)
    for begin in (bpy.ops.sinew.bake, bpy.ops.sinew.resume_bake):
        with pytest.raises(RuntimeError, match="no room"):
            low.sinew.bake.status = "STOPPED"
            begin()
        np.testing.assert_array_equal(frames_of(high), before)
        assert high.sinew.bake.status == "DONE"


def test_a_ghost_is_of_one_alone_and_says_so(boxes):
    """Differences that follow from that are no edits: without others, nothing is baked."""
    low, high = boxes
    bpy.context.view_layer.objects.active = high
    bpy.ops.sinew.bake()
    with pytest.raises(RuntimeError, match="Nothing differs from the bake"):
        high.sinew.compare.solver = "OWN"
        bpy.ops.sinew.compare()
    high.sinew.compare.substeps = 2
    assert bpy.ops.sinew.compare() == {"FINISHED"}
    comparison.look_again(high)
    words = comparison.seen(high).difference.words
    assert words == "solver (substeps 1 → 2); The ghost is simulated alone and passes through “Low”"
    ghost = FrameStore.open(comparison.ghost_folder(high))
    assert ghost.read(FRAMES)[:, 2].min() < frames_of(low)[-1][:, 2].max() - 0.01, "so it does"
    assert (
        "The ghost is simulated alone and passes through “Low”" in drawn_by(bpy.types.PHYSICS_PT_sinew_compare).labels
    )
