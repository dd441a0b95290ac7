"""Operators of bone bodies: rigid bodies on the bones of an armature."""

from typing import Any

from ..blender_addon.bake import background
from ..blender_addon.objects import bones, contact_groups
from ..blender_addon.setup import bone_bodies
from ..blender_addon.translations.translate import translated
from . import polls
from .operator_class import EDITS, ask_before_loss, operator, refused


def _armature(context: Any) -> Any:
    obj = context.object
    polls.disable_if(obj is None or obj.type != "ARMATURE", "Select an armature")
    polls.disable_if(obj.mode == "EDIT", polls.IN_EDIT)
    polls.idle()
    return obj


def _can_add(context: Any) -> None:
    armature = _armature(context)
    polls.disable_if(not bone_bodies.bones_to_add(armature, context), "Every bone that deforms has a body")


@operator("Add Bone Bodies", _can_add, EDITS)
def add_bone_bodies(self: Any, context: Any, obj: Any) -> set[str] | None:
    """Give the selected bones in Pose Mode, or all bones that deform, rigid bodies and joints: meshes that are children
    of the bones, else capsules. Bodies that the armature deforms are glued to them.
    """
    found = bone_bodies.bones_to_add(context.object, context)
    short = [bone.name for bone in found if bone.length == 0.0]
    bodies = bone_bodies.add_bodies(context.object, [bone for bone in found if bone.length], context)
    if not bodies:
        return refused(
            self, translated("The bones {names} have no length: move their tails in Edit Mode.", names=", ".join(short))
        )
    left = translated(". Without length, and left out: {names}", names=", ".join(short)) if short else ""
    self.report({"WARNING" if short else "INFO"}, translated("{count} bones have bodies", count=len(bodies)) + left)
    return None


def _can_bake(context: Any) -> None:
    bodies = bones.bodies_of(_armature(context))
    polls.disable_if(not bodies, "No bone has a body: press Add Bone Bodies first")
    polls.disable_if(not context.blend_data.filepath, polls.unsaved(polls.KEPT))


def _ask_before_bake(self: Any, context: Any, event: Any) -> set[str]:
    group = contact_groups.group_of(bones.first_body(context.object), context)
    return ask_before_loss(self, context, event, group, "Bake Again")


@operator("Bake", _can_bake, invoke=_ask_before_bake)
def bake_bones(self: Any, context: Any, obj: Any) -> None:
    """Simulate the bodies of the bones, and all bodies that they are joined or tied to or collide with, over the frame
    range in the background. The motion of the bones becomes an action of the armature.
    """
    background.begin(bones.first_body(context.object), "bake")


def _can_show_animation(context: Any) -> None:
    polls.disable_if(not bones.shows_result(_armature(context)), "The armature shows its animation")


@operator("Show Animation", _can_show_animation, EDITS)
def show_animation(self: Any, context: Any, obj: Any) -> None:
    """Move the armature by your own action again, to edit or key the pose. Show Baked Motion shows the bake again."""
    bones.show_animation(context.object)


def _can_show_motion(context: Any) -> None:
    armature = _armature(context)
    polls.disable_if(not bones.has_result(armature), "No bone body is baked: press Bake first")
    polls.disable_if(bones.shows_result(armature), "The armature shows the baked motion")


@operator("Show Baked Motion", _can_show_motion, EDITS)
def show_baked_motion(self: Any, context: Any, obj: Any) -> None:
    """Move the armature by the action with the baked motion of its bones. Your own action stays as it is."""
    bones.show_result(context.object, context.object.sinew.skeleton.result)
