"""A grey button says why in its panel, whatever the state; a file without a name is saved and baked by one button."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest
from sinew.blender_addon.jobs import job_queue
from sinew.blender_addon.jobs.process import Order
from sinew.blender_addon.jobs.state_machine import Stage, State
from sinew.ui import body as body_panel
from sinew.ui.panel_base import reason_against

from ..drawn import drawn_by, panels_of


def as_it_is(obj):
    """A saved file, nothing baked."""


def without_a_name(obj):
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.mesh.primitive_cube_add()
    bpy.ops.sinew.enable()


def editing(obj):
    bpy.ops.object.mode_set(mode="EDIT")


def without_material(obj):
    obj.sinew.materials.clear()


def put_work(state, object_uid=0):
    work = job_queue.Task(object_uid, "Other", lambda obj: iter(()), lambda *_: None, lambda *_: None)
    work.state, work.order = state, Order(Path(), "bake", 4)
    job_queue._works.append(work)


def at_work(obj):
    put_work(State(Stage.RUNNING))


def stopping(obj):
    put_work(State(Stage.STOPPING), obj.session_uid)


def waiting(obj):
    put_work(State(Stage.WAITING))


def baked(obj):
    bpy.ops.sinew.bake()


def stopped(obj):
    bpy.context.scene.frame_set(2)
    bpy.ops.sinew.bake_to_current()


def baked_on_a_duplicate(obj):
    obj.shape_key_add(name="Basis")
    bpy.ops.sinew.bake()
    bpy.context.view_layer.objects.active = obj.sinew.bake.result


def subspace(obj):
    obj.sinew.solver = "subspace_mixed_fem"


STATES = (
    as_it_is, without_a_name, editing, without_material, at_work, stopping, waiting, baked, stopped,
    baked_on_a_duplicate, subspace,
)  # fmt: skip


@pytest.fixture
def idle():
    """Nothing is at work afterwards."""
    yield
    job_queue._works.clear()


@pytest.mark.parametrize("put", STATES)
def test_every_grey_button_with_words_says_why(body, saved, idle, put):
    put(body)
    greys = 0
    for panel in (body_panel.PHYSICS_PT_sinew, *panels_of("PHYSICS")):
        drawn = drawn_by(panel)
        for name, text in drawn.operators:
            if text and name.startswith("sinew.") and not getattr(bpy.ops.sinew, name.partition(".")[2]).poll():
                reason, greys = reason_against(name, bpy.context), greys + 1
                assert reason and reason in drawn.labels, f"{panel.__name__}: {text} ({name}) is grey without a word"
                assert drawn.labels.count(reason) == 1
    assert greys or put in (as_it_is, subspace)


def test_save_and_bake(body, tmp_path):
    name = body_panel.VIEW3D_PT_sinew
    assert not bpy.ops.sinew.bake.poll() and drawn_by(name).text_of("sinew.bake") is None
    assert drawn_by(name).text_of("sinew.save_and_bake") == "Save and Bake"
    for how in ("INVOKE_DEFAULT", "EXEC_DEFAULT"):
        with pytest.raises(RuntimeError, match="has no file yet. Name one"):
            bpy.ops.sinew.save_and_bake(how)
    with pytest.raises(RuntimeError, match="[Cc]annot"):
        bpy.ops.sinew.save_and_bake(filepath=str(tmp_path / "missing" / "shot.blend"))
    assert not bpy.data.filepath and body.sinew.bake.status == "NONE"
    assert bpy.ops.sinew.save_and_bake(filepath=str(tmp_path / "shot")) == {"FINISHED"}
    assert bpy.data.filepath == str(tmp_path / "shot.blend") and body.sinew.bake.status == "DONE"
    assert (tmp_path / "sinew_cache" / "shot").is_dir() and not bpy.ops.sinew.save_and_bake.poll()
    assert drawn_by(name).text_of("sinew.save_and_bake") is None
