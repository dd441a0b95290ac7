"""Operators that bake bodies and manage their bakes."""

from functools import partial
from typing import Any

import bpy
import mathutils
from bpy.props import BoolProperty

from ..blender_addon.bake import background, bake_queue, baking, outdated
from ..blender_addon.blend_data import list_animation
from ..blender_addon.jobs import job_queue
from ..blender_addon.jobs.state_machine import Stage
from ..blender_addon.jobs.task import Task
from ..blender_addon.objects import contact_groups, duplicate_result, linked
from ..blender_addon.properties import choices
from ..blender_addon.scene_import.job_in import group_steps
from ..blender_addon.scene_import.settings_in import frame_range
from ..blender_addon.translations.translate import marked, translated
from ..blender_addon.window import esc_after_playback, visibility
from ..blender_addon.window.stepwise import Steps
from . import polls
from .operator_class import BY_ESC, EDITS, ask_before_loss, choose_file, file_parts, operator, refused

ASKS_AFTER = 30.0
"""Duration of a bake, s, after which Esc asks before stopping the bake. Over Sinew's panels, Esc never asks."""
FIRST_NAME = "untitled.blend"
"""Blender's default name of an unsaved file."""
USUAL_PRE_ROLL = 10
"""Default number of frames in which overlapping bodies grow from shrunk to full size."""


def _ask_before_bake(self: Any, context: Any, event: Any) -> set[str]:
    group = contact_groups.group_of(duplicate_result.body_of(context), context)
    return ask_before_loss(self, context, event, group, "Bake Again")


@operator("Bake", partial(polls.can_begin, kept=polls.KEPT), invoke=_ask_before_bake)
def bake(self: Any, context: Any, obj: Any) -> None:
    """Simulate the body, and all bodies in contact with it, over the frame range in the background. Asks for
    confirmation before baked frames are replaced.
    """
    background.begin(obj, "bake")


def _can_save_and_bake(context: Any) -> None:
    polls.can_begin(context)
    polls.disable_if(context.blend_data.filepath, "The .blend has a file already: press Bake instead")


def _blend_path(self: Any) -> str:
    return bpy.path.ensure_ext(self.filepath, ".blend")


def _ask_where(self: Any, context: Any, event: Any) -> set[str]:
    return self.execute(context) if bpy.app.background else choose_file(self, context, FIRST_NAME)


@operator(
    "Save and Bake",
    _can_save_and_bake,
    invoke=_ask_where,
    **file_parts("Path of the .blend file", "*.blend", _blend_path),
)
def save_and_bake(self: Any, context: Any, obj: Any) -> set[str]:
    """Save the .blend to a file that you choose, then bake: the frames are stored beside that file."""
    if not bpy.path.basename(self.filepath):
        return refused(self, "The .blend has no file yet. Name one (filepath), or save it first.")
    try:
        bpy.ops.wm.save_as_mainfile(filepath=_blend_path(self))
        return bpy.ops.sinew.bake("INVOKE_DEFAULT")  # asks before frames of an earlier .blend of that name are replaced
    except RuntimeError as error:
        return refused(self, error)


def _can_bake_to_current(context: Any) -> None:
    obj = polls.can_begin(context, polls.KEPT)
    record, current = obj.sinew.bake, context.scene.frame_current
    polls.disable_if(record.status == "DONE", "All frames are baked")
    first, last = frame_range(obj.sinew, context.scene)
    polls.disable_if(
        not first < current <= last,
        translated("Go to a frame after the first ({first}), up to the last ({last})", first=first, last=last),
    )
    polls.disable_if(
        record.frames and record.status != "NONE" and record.first_frame + record.frames > current,
        "All frames up to the current one are baked",
    )


@operator("Bake to Current Frame", _can_bake_to_current)
def bake_to_current(self: Any, context: Any, obj: Any) -> None:
    """Bake only up to the current frame, in the background, continuing after the last baked frame if there is one.
    Resume then bakes the remaining frames.
    """
    background.begin(obj, "", until=context.scene.frame_current)


def _can_resume(context: Any) -> None:
    obj = polls.can_begin(context, polls.KEPT)
    polls.disable_if(obj.sinew.bake.status == "DONE" and not baking.astray_words(obj), "All frames are baked")
    polls.disable_if(not baking.has_store(obj), "There are no baked frames to resume from: press Bake")


@operator("Resume", _can_resume)
def resume_bake(self: Any, context: Any, obj: Any) -> None:
    """Continue the bake after the last baked frame, even after a crash."""
    background.begin(obj, "resume")


def _can_bake_all(context: Any) -> None:
    polls.idle()
    polls.disable_if(not context.blend_data.filepath, polls.unsaved(polls.KEPT))
    polls.disable_if(context.mode.startswith("EDIT"), polls.IN_EDIT)
    left = bake_queue.unfinished(bake_queue.own_bodies(context.scene))
    polls.disable_if(not left, "The scene has no body that still has to be baked")


ABOUT_SELECTED = marked(
    "Bake every selected body whose bake is missing or incomplete, one after the other; stopped bakes are resumed. "
    "Bodies in contact are baked together, and bodies that serve as colliders come first"
)
"""Tooltip of *Bake Selected*."""


def _about_all(context: Any, properties: Any) -> str:
    return translated(ABOUT_SELECTED if properties.selected else bake_all.bl_description)


@operator(
    "Bake All",
    _can_bake_all,
    description=_about_all,
    selected=BoolProperty(
        name="Selected Only", description="Bake only the selected bodies", options={"HIDDEN", "SKIP_SAVE"}
    ),
)
def bake_all(self: Any, context: Any, obj: Any) -> set[str] | None:
    """Bake every body of the scene whose bake is missing or incomplete, one after the other; stopped bakes are resumed.
    Bodies in contact are baked together, and bodies that serve as colliders come first.
    """
    bodies = bake_queue.bodies_of(context.scene)
    if self.selected:
        chosen = polls.chosen_bodies(context)
        bodies = [each for each in bodies if each in chosen]
    bodies = bake_queue.unfinished(bodies)
    if not bodies:
        self.report({"INFO"}, "All these bodies are baked")
        return {"CANCELLED"}
    background.mark_file_changed()
    job_queue.begin(*background.work_on_all(bodies))
    first = bodies[0]
    if first.sinew.bake.message and not bpy.app.background and job_queue.current(first.session_uid) is None:
        self.report({"WARNING"}, f"“{first.name}”: {first.sinew.bake.message}")
    return None


def _can_stop(context: Any) -> None:
    work = job_queue.current()
    if job_queue.reading() is not None or (work is None and not job_queue.is_idle()):
        return
    stage = None if work is None or work.order.mode == "live" else work.state.stage
    if stage is not Stage.RUNNING:
        stopping = stage is Stage.STOPPING
        raise polls.PollFailure("The bake stops after the current step" if stopping else "Nothing is being simulated")


def _stop_by_esc(self: Any, context: Any, event: Any) -> set[str]:
    if not self.by_key or visibility.is_panel_under_pointer(context):
        return BY_ESC["invoke"](self, context, event)
    work = job_queue.current()
    if esc_after_playback.takes_esc(context) or work is None or work.elapsed < ASKS_AFTER:
        return {"PASS_THROUGH"}
    about = {"message": translated("Finished frames are kept, and Resume continues"), "icon": "QUESTION"}
    return context.window_manager.invoke_confirm(self, event, title="Stop the Bake?", confirm_text="Stop", **about)


@operator("Stop", _can_stop, **{**BY_ESC, "invoke": _stop_by_esc})
def stop_bake(self: Any, context: Any, obj: Any) -> None:
    """Stop the bake after the current step, and cancel waiting bakes; finished frames are kept, and Resume continues.
    Esc does the same if the pointer is over Sinew's panels; elsewhere, once a bake has run for 30 s, Esc asks first.
    """
    job_queue.stop()


def _can_show_newest(context: Any) -> None:
    work = job_queue.current()
    polls.disable_if(work is None or work.state.newest is None, "No frame is baked yet")


@operator("Go to Newest Frame", _can_show_newest)
def go_to_newest(self: Any, context: Any, obj: Any) -> None:
    """Go to the newest frame of the running bake. Meanwhile, 3D Views draw the body as baked at the current frame or,
    if that frame is not baked yet, at the newest baked frame before it.
    """
    context.scene.frame_set(job_queue.current().state.newest)


def _can_move_out(context: Any) -> None:
    obj = polls.idle_body_outside_edit(context)
    moved = obj.sinew.bake.separation_object
    polls.disable_if(moved is None, "No overlap is known: press Bake to search for one")
    is_keyed = any(path.endswith("location") for path in list_animation.animated_paths(moved))
    polls.disable_if(is_keyed, translated("The location of “{name}” is animated: move its keys", name=moved.name))


@operator("Separate Overlaps", _can_move_out, EDITS)
def move_out(self: Any, context: Any, obj: Any) -> None:
    """Move one of the overlapping objects by the shortest displacement that separates them. Press Bake afterwards."""
    record = obj.sinew.bake
    moved = record.separation_object
    matrix = moved.matrix_world.copy()
    matrix.translation += mathutils.Vector(record.separation)
    moved.matrix_world = matrix
    for each in linked.own_bodies(context.scene):
        if each.sinew.bake.separation_object == moved:
            each.sinew.bake.separation_object, each.sinew.bake.message = None, ""


def _can_untangle(context: Any) -> None:
    obj = polls.idle_body_outside_edit(context)
    group = contact_groups.group_of(obj, context)
    polls.disable_if(obj.sinew.bake.separation_object not in group or len(group) == 1, "No bodies are known to overlap")
    polls.disable_if(choices.solver_kind(obj.sinew.solver).takes_modes, "Grow Apart needs a solver without a subspace")
    is_on = all(each.sinew.collisions.grow_apart and each.sinew.pre_roll for each in group)
    polls.disable_if(is_on, "Grow Apart is on, but bodies still overlap: move them apart")


@operator("Grow Apart", _can_untangle, EDITS)
def untangle(self: Any, context: Any, obj: Any) -> None:
    """Let overlapping bodies start shrunk in the next bake, and grow to their size without overlap during the Pre-Roll.
    A Pre-Roll of 0 is set to 10 frames. Press Bake afterwards.
    """
    for each in contact_groups.group_of(obj, context):
        each.sinew.collisions.grow_apart = True
        each.sinew.pre_roll = each.sinew.pre_roll or USUAL_PRE_ROLL
        each.sinew.bake.separation_object, each.sinew.bake.message = None, ""


def _can_check(context: Any) -> None:
    polls.with_bake(polls.idle_body_outside_edit(context))


@operator("Check for Edits", _can_check)
def check_bake(self: Any, context: Any, obj: Any) -> None:
    """Compare the bake with the current scene, and list what was edited since the bake."""
    found = []

    def keep(_work: Task, obj: Any, changed: list[str]) -> None:
        obj.sinew.bake.stale = ", ".join(changed)
        if not changed:
            outdated.note_same(obj, bpy.context.scene)
        found.append(obj.sinew.bake.stale)

    def read(obj: Any) -> Steps[list[str]]:
        baking.open_store(obj)
        group = contact_groups.group_of(obj, bpy.context)
        jobs = yield from group_steps(group, bpy.context)
        return baking.find_changes(obj, jobs[group.index(obj)])

    job_queue.begin(Task(obj.session_uid, obj.name, read, keep, baking.note_error))
    for words in found:  # empty if the task still runs; its panel then shows the result
        self.report(
            {"WARNING" if words else "INFO"},
            translated("Changed since the bake: {words}", words=outdated.labels(words or marked("nothing"))),
        )


def _can_bring(context: Any) -> None:
    polls.can_begin(context, marked("the frames are copied to a folder beside the .blend"))
    polls.disable_if(
        not baking.is_elsewhere(polls.baked_body(context)), "The frames are beside this .blend already, or not on disk"
    )


@operator("Copy Cache Here", _can_bring, {"UNDO"}, keep=True)
def bring_frames(self: Any, context: Any, obj: Any) -> None:
    """Copy the baked frames into a folder beside this .blend, or move them if no other .blend or object uses them.
    Bake, Resume and Convert Result do this automatically.
    """
    baking.bring_frames(obj)
    self.report(
        {"INFO"}, translated("The frames of “{name}” are in {folder}", name=obj.name, folder=obj.sinew.bake.folder)
    )
