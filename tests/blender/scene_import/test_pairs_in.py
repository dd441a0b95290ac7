"""Pairs and ties of a body with one other: in its job, copied, keyed, painted, and with a removed partner."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Vector
from sinew.blender_addon.objects.contact_groups import group_of, idle_tie_words, idle_words
from sinew.blender_addon.scene_import.job_in import group_steps, make_job
from sinew.blender_addon.setup import copying
from sinew.blender_addon.window.stepwise import at_once
from sinew.core.foundation.errors import ChamberError, SettingsError, TieError
from sinew.core.jobs.job.pair import PairSettings
from sinew.core.simulation.frame_loop.group import simulate_group
from sinew.core.simulation.preparation.prepare import prepare

from ..drawn import drawn_by
from ..scenes import CUBE


def tell(obj, other, **told):
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.sinew.add_pair() == {"FINISHED"}
    pair = obj.sinew.pairs[obj.sinew.active_pair]
    pair.other = other
    for name, value in told.items():
        setattr(pair, name, value)
    return pair


def pairs_of(obj, **asked):
    return make_job(obj, bpy.context, **asked).body.pairs


@pytest.fixture
def other(body, add_mesh):
    """A second body, which meets the first."""
    other = add_mesh(np.array(CUBE[0]) + (0.0, 5.0, 0.0), CUBE[1], "Other")
    bpy.ops.sinew.enable()
    body.sinew.collisions.contact_bodies = True
    return other


def test_what_is_told_arrives_in_metres(body, other):
    bpy.context.scene.unit_settings.scale_length = 0.1
    pair = tell(body, other, friction=0.1, thickness=0.02)
    assert pairs_of(body) == (PairSettings("Other", 0.1),) and pairs_of(other) == ()
    pair.use_thickness = True
    assert pairs_of(body) == (PairSettings("Other", 0.1, 0.002),)
    other.name, pair.use_friction = "Else", False
    assert pairs_of(body) == (PairSettings("Else", None, 0.002),) and idle_words(body, pair, bpy.context) == ""
    tell(body, other)
    with pytest.raises(SettingsError, match="Two contact pairs of .* name “Else”"):
        pairs_of(body)
    bpy.ops.sinew.remove_pair()
    assert len(body.sinew.pairs) == 1 and body.sinew.active_pair == 0


def test_the_other_may_be_a_collider_and_what_it_instances(body, collection, add_mesh):
    block = add_mesh(*CUBE, "Block")
    collection.objects.link(block)
    shown = bpy.data.collections.new("Shown")
    for name in ("One", "Two"):
        shown.objects.link(bpy.data.objects.new(name, block.data))
    crowd = bpy.data.objects.new("Crowd", None)
    crowd.instance_type, crowd.instance_collection = "COLLECTION", shown
    collection.objects.link(crowd)
    for each in (block, crowd):
        tell(body, each, friction=0.25)
    told = {pair.other for pair in pairs_of(body)}
    assert told == {"Block", "Crowd > One", "Crowd > Two"}
    assert {each.name for each in make_job(body, bpy.context).body.colliders} == told


def test_one_that_moves_alone_runs_into_the_other(body, other):
    """And what is told of who is not there then is left out."""
    tell(body, other, friction=0.75)
    job = make_job(body, bpy.context, alone=True)
    assert [each.name for each in job.body.colliders] == ["Other"] and job.body.pairs == (PairSettings("Other", 0.75),)
    other.sinew.collisions.contact_bodies = False
    assert pairs_of(body, alone=True) == () and pairs_of(body) == (PairSettings("Other", 0.75),)


def test_what_was_removed_is_named(body, other, saved):
    pair = tell(body, other)
    assert drawn_by(bpy.types.PHYSICS_PT_sinew_pairs).labels == []
    other.sinew.collisions.contact_bodies = False
    assert drawn_by(bpy.types.PHYSICS_PT_sinew_pairs).labels == [idle_words(body, pair, bpy.context)]
    assert "“Other” is neither in contact nor a collider" in idle_words(body, pair, bpy.context)
    bpy.data.objects.remove(other)
    assert "“Other” was removed" in idle_words(body, pair, bpy.context)
    assert pairs_of(body) == (PairSettings("Other", 0.5),)
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert "has a pair with “Other”, with which it never collides" in body.sinew.bake.contact_warning
    pair.other = None
    assert idle_words(body, pair, bpy.context) == "Choose an object." and pairs_of(body) == ()
    bpy.ops.sinew.check_bake()
    assert body.sinew.bake.stale == "collisions (“pair with Other” was removed)"


def test_pairs_are_saved_and_copied(body, other, saved, add_mesh):
    third = add_mesh(np.array(CUBE[0]) + (0.0, 9.0, 0.0), CUBE[1], "Third")
    bpy.ops.sinew.enable()
    tell(body, other, friction=0.125)
    tell(body, third, friction=0.25, use_thickness=True, thickness=0.5)
    before = pairs_of(body)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(saved))
    body, third = bpy.data.objects["Body"], bpy.data.objects["Third"]
    assert pairs_of(body) == before == (PairSettings("Other", 0.125), PairSettings("Third", 0.25, 0.5))
    assert "Other “Third”, which is the object itself" in copying.copy_settings(body, third)
    assert pairs_of(third) == (PairSettings("Other", 0.125),), "of itself it tells nothing"


def tie_to(obj, other, **values):
    """A tie of the active body to another object, as the panel makes it."""
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.sinew.add_tie() == {"FINISHED"}
    tie = obj.sinew.ties[obj.sinew.active_tie]
    tie.other = other
    for name, value in values.items():
        setattr(tie, name, value)
    return tie


def ties_of(obj, **asked):
    return make_job(obj, bpy.context, **asked).body.ties


@pytest.fixture
def beside(body, add_mesh):
    """A second body, like the first, at its free end, with which it does not collide."""
    faces = [tuple(each.vertices) for each in body.data.polygons]
    other = add_mesh([each.co + Vector((1.0, 0.0, 0.0)) for each in body.data.vertices], faces, "Other")
    bpy.ops.sinew.enable()
    copying.copy_settings(body, other)
    other.sinew.pin_group = ""
    return other


def test_a_tie_joins_the_group_and_the_bake(body, beside):
    assert group_of(body, bpy.context) == [body]
    tie = tie_to(body, beside, kind="slide", distance=0.02, use_breaking=True, breaking_stress=5e3)
    tie.keyframe_insert("strength", frame=1)
    tie.strength = 0.0
    tie.keyframe_insert("strength", frame=3)
    assert group_of(body, bpy.context) == [body, beside] == group_of(beside, bpy.context)
    (found,) = ties_of(body)
    assert (found.other, found.kind, found.breaking_stress) == ("Other", "slide", 5e3) and found.weights is None
    assert found.distance == pytest.approx(0.02) and found.strength[0] == 1.0 and found.strength[2] == 0.0


def test_a_glued_body_hangs_from_the_one_that_is_held(body, beside):
    tie_to(body, beside)
    for obj in (body, beside):
        bpy.context.view_layer.objects.active = obj
        bpy.ops.sinew.apply_preset(preset="Bone")
    jobs = at_once(group_steps([body, beside], bpy.context, (1, 4)))
    assert [job.body.name for job in jobs] == ["Body", "Other"]
    found = list(simulate_group(jobs, [prepare(job, collides=True) for job in jobs]))
    fallen = found[0][1].state.positions[:, 2].mean() - found[-1][1].state.positions[:, 2].mean()
    assert fallen < 0.1 * 9.81 * 6.0 / 24.0**2  # of a free fall in three steps of backward Euler


def test_weights_are_those_of_the_vertex_group(body, beside):
    body.vertex_groups.new(name="Seam").add([4, 5], 0.5, "REPLACE")
    tie = tie_to(body, beside, vertex_group="Seam")
    (found,) = ties_of(body)
    assert list(np.flatnonzero(found.weights)) == [4, 5] and found.weights[4] == 0.5
    tie.vertex_group = "Gone"
    with pytest.raises(TieError, match="“Gone” of the tie to “Other” does not exist any more"):
        ties_of(body)


def test_a_mesh_that_is_no_body_becomes_its_collider(body, add_mesh):
    plate = add_mesh(np.array(CUBE[0]) - (0.0, 0.0, 3.0), CUBE[1], "Plate")
    bpy.context.view_layer.objects.active = body
    tie_to(body, plate)
    job = make_job(body, bpy.context)
    assert [each.name for each in job.body.colliders] == ["Plate"] and job.body.ties[0].other == "Plate"


def test_a_tie_without_partner_is_told(body, beside):
    tie = tie_to(body, beside)
    assert idle_tie_words(tie) == ""
    bpy.data.objects.remove(beside)
    assert idle_tie_words(tie) == "“Other” was removed: choose another, or remove the tie."
    with pytest.raises(TieError, match="is tied to “Other”, which was deleted"):
        ties_of(body)
    tie.name = ""
    assert idle_tie_words(tie) == "Choose an object."


def test_ties_are_copied_and_drawn(body, beside, add_mesh):
    tie_to(body, beside, kind="slide", strength=0.5)
    third = add_mesh(CUBE[0], CUBE[1], "Third")
    bpy.ops.sinew.enable()
    copying.copy_settings(body, third)
    assert third.sinew.ties[0].other == beside and third.sinew.ties[0].strength == 0.5
    assert drawn_by(bpy.types.PHYSICS_PT_sinew_ties).labels == ["Baked together with “Body”, “Other”."]


def test_pressure_is_read_with_its_chamber(body):
    """The job has the keyed pressure and the vertex group. A missing group raises an error."""
    assert make_job(body, bpy.context).body.chamber is None
    settings = body.sinew.chamber
    settings.enabled, settings.is_gas = True, False
    for frame, value in ((1, 0.0), (4, 3000.0)):
        settings.pressure = value
        settings.keyframe_insert("pressure", frame=frame)
    chamber = make_job(body, bpy.context).body.chamber
    assert not chamber.is_gas and len(chamber.vertices) == 0
    assert chamber.pressure[0] == 0.0 and chamber.pressure[-1] == 3000.0
    settings.vertex_group = "Gone"
    with pytest.raises(ChamberError, match="“Gone” of the chamber is gone"):
        make_job(body, bpy.context)
    assert "pressure" in drawn_by(bpy.types.PHYSICS_PT_sinew_pressure).properties
