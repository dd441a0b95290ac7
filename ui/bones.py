"""Joint panel of bone bodies, and what Sinew shows for an armature."""

from typing import Any

from ..blender_addon.objects import bones
from ..blender_addon.setup import body_stats, joint_words
from ..blender_addon.translations.translate import translated
from .panel_base import CLOSED, draw_button, draw_keyed, keyed_column, panel, reason_against, wrapped


def is_bone_body(obj: Any) -> bool:
    """Return True if the body is the rigid body of a bone."""
    return bones.bone_of(obj) is not None


@panel("Joint", where=is_bone_body, bl_options=CLOSED)
def draw_joint(layout: Any, context: Any, obj: Any) -> None:
    """Draw the joint of a bone body, and how it follows the animation."""
    joint = obj.sinew.joint
    column = keyed_column(layout)
    column.prop(joint, "kind")
    if joint.kind == "hinge":
        column.prop(joint, "axis")
    if joint.kind in ("hinge", "ball"):
        column.prop(joint, "use_limits")
        limits = column.column(align=True)
        limits.active = joint.use_limits
        for name in ("lower", "upper") if joint.kind == "hinge" else ("cone", "lower_twist", "upper_twist"):
            limits.prop(joint, name)
    if joint.kind not in ("weld", "NONE"):
        column.prop(joint, "stiffness", text="Stiffness")  # with its unit it would be cut off
        column.prop(joint, "to_animation")
    draw_keyed(column, obj.parent.data.sinew, "follow")
    draw_keyed(column, joint, "follow")
    wrapped(layout, joint_words.joint_words(obj), context, "INFO")
    wrapped(layout, body_stats.inertia_words(obj, context), context, "INFO")


def draw_armature(layout: Any, context: Any, armature: Any) -> None:
    """Draw the buttons and the settings of the bone bodies of an armature."""
    body = bones.first_body(armature)
    if body is None:
        draw_button(layout, context, "sinew.add_bone_bodies", icon="BONE_DATA")
        return
    draw_button(layout, context, "sinew.bake_bones", icon="PHYSICS")
    wrapped(layout, body.sinew.bake.message, context, "ERROR")
    if bones.has_result(armature):
        other = "show_animation" if bones.shows_result(armature) else "show_baked_motion"
        layout.operator(f"sinew.{other}", icon="ARMATURE_DATA")
    column = keyed_column(layout)
    column.use_property_split = True
    draw_keyed(column, armature.data.sinew, "follow")
    if not reason_against("sinew.add_bone_bodies", context):
        layout.operator("sinew.add_bone_bodies", icon="BONE_DATA")
    count = len(bones.bodies_of(armature))
    wrapped(
        layout,
        translated("{count} bones have bodies. Select a body to set its joint and its collisions.", count=count),
        context,
        "INFO",
    )
