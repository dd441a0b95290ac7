"""Pairs of a body with one other: in its job, copied, and with a removed partner."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.objects.contact_groups import idle_words
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.blender_addon.setup import copying
from sinew.core.foundation.errors import SettingsError
from sinew.core.jobs.job.pair import PairSettings

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
