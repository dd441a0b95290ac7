"""Operators that enable and disable Sinew, import, copy and save settings, and add examples."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ..blender_addon import examples
from ..blender_addon.bake import baking
from ..blender_addon.objects import duplicate_result, linked
from ..blender_addon.setup import copying, defaults, physics_import, setup_file, setups
from ..blender_addon.translations.translate import translated
from . import polls
from .operator_class import EDITS, ask_before_loss, choose_file, file_parts, operator, refused


def _can_enable(context: Any) -> None:
    if (source := duplicate_result.source_of(polls.mesh_object(context))) is not None:
        raise polls.PollFailure(
            translated("This object shows the bake of “{name}”: select that object", name=source.name)
        )


@operator("Sinew", _can_enable, EDITS)
def enable(self: Any, context: Any, obj: Any) -> None:
    """Simulate this object as an elastic body made of physical materials."""
    defaults.enable(context.object, context)


def _ask_before_removal(self: Any, context: Any, event: Any) -> set[str]:
    return ask_before_loss(self, context, event, [duplicate_result.body_of(context)], "Remove Sinew")


@operator("Remove Sinew", polls.idle_body, {"UNDO"}, keep=True, invoke=_ask_before_removal)
def disable(self: Any, context: Any, obj: Any) -> None:
    """Stop simulating this object. The object's bake is deleted when the file is saved. Physical materials are kept."""
    if obj.mode == "EDIT":
        bpy.ops.object.mode_set(mode="OBJECT")
    baking.delete(obj)
    baking.delete_live(obj)
    obj.sinew.enabled = False


def _can_copy(context: Any) -> None:
    polls.idle_body(context)
    polls.disable_if(not _others(context), "Select the meshes to copy to, besides the active one")


@operator("Copy Settings to Selected", _can_copy, EDITS)
def copy_settings(self: Any, context: Any, obj: Any) -> set[str] | None:
    """Copy the Sinew settings of the active mesh to all other selected meshes: materials and springs (matched by name),
    resolution, collisions, fields, solver, result. Not copied are bakes, keyframes, and settings that name a vertex
    group, modifier or shape key missing in the other mesh.
    """
    copied, left = 0, []
    for other in _others(context):
        if linked.is_linked(other) or duplicate_result.source_of(other) is not None:
            left.append(translated("{name} (linked, or a bake)", name=other.name))
            continue
        copied += 1
        if missing := copying.copy_settings(obj, other):
            left.append(f"{other.name}: {', '.join(missing)}")
    words = translated("Copied to {count} body" if copied == 1 else "Copied to {count} bodies", count=copied)
    if left:
        self.report({"WARNING"}, translated("{words}. Left out: {names}", words=words, names="; ".join(left)))
    else:
        self.report({"INFO"}, words)
    return None if copied else {"CANCELLED"}


def _others(context: Any) -> list[Any]:
    own = context.object, duplicate_result.body_of(context)
    return [obj for obj in context.selected_objects or () if obj.type == "MESH" and obj not in own]


_FIT = {
    "fit": BoolProperty(
        name="Fit Size",
        description="Fit the bounding box of the set-up's mesh to that of this mesh first. Off: compare their local "
        "coordinates as they are",
        default=True,
    ),
    "mirror": BoolProperty(
        name="Mirror", description="Reflect the set-up across the local X axis, and change .L and .R in names"
    ),
    "replace": BoolProperty(
        name="Replace Weights", description="Also replace the weights of vertex groups that the mesh has already"
    ),
}


def _apply(self: Any, setup: setups.Setup, others: list[Any]) -> None:
    """Give meshes a set-up, and report what was left out."""
    setup = setups.mirrored(setup) if self.mirror else setup
    left = {other.name: setups.apply_setup(setup, other, self.fit, self.replace) for other in others}
    words = translated(
        "{count} body has the set-up" if len(others) == 1 else "{count} bodies have the set-up", count=len(others)
    )
    if missing := [f"{name}: {', '.join(each)}" for name, each in left.items() if each]:
        self.report({"WARNING"}, translated("{words}. Left out: {names}", words=words, names="; ".join(missing)))
    else:
        self.report({"INFO"}, words)


@operator("Transfer Setup to Selected", _can_copy, EDITS, **_FIT)
def transfer_setup(self: Any, context: Any, obj: Any) -> set[str] | None:
    """Copy the Sinew settings of the active mesh to all other selected meshes, with its vertex groups and muscle
    curves. They follow the closest points of the surfaces, so the meshes may differ in vertices and size. Keyframes are
    not copied.
    """
    others = [o for o in _others(context) if not linked.is_linked(o) and duplicate_result.source_of(o) is None]
    if not others:
        return refused(self, "The selected meshes are linked, or show a bake. Select other meshes.")
    _apply(self, setups.setup_of(obj), others)
    return None


def _setup_path(self: Any) -> str:
    return bpy.path.ensure_ext(bpy.path.abspath(self.filepath), setup_file.SUFFIX)


def _ask_setup(self: Any, context: Any, event: Any) -> set[str]:
    stem = bpy.path.clean_name(duplicate_result.body_of(context).name)
    return choose_file(self, context, bpy.path.abspath(f"//{stem}{setup_file.SUFFIX}"))


@operator(
    "Save Setup",
    polls.idle_body,
    invoke=_ask_setup,
    **file_parts("Path of the set-up", f"*{setup_file.SUFFIX}", _setup_path),
)
def save_setup(self: Any, context: Any, obj: Any) -> None:
    """Save the Sinew settings of this body, its vertex groups and muscle curves as one file, for other meshes."""
    path = Path(_setup_path(self))
    setup_file.save_setup(setups.setup_of(obj), path)
    self.report({"INFO"}, translated("The set-up of “{name}” is in {path}", name=obj.name, path=path))


def _can_load(context: Any) -> None:
    polls.disable_if(polls.mesh_object(context).mode != "OBJECT", polls.NOT_IN_OBJECT)
    polls.idle()
    polls.disable_if(duplicate_result.source_of(context.object), "This object shows a bake: select its original")


def _ask_file(self: Any, context: Any, event: Any) -> set[str]:
    return choose_file(self, context, bpy.path.abspath("//"))


@operator(
    "Load Setup",
    _can_load,
    EDITS,
    invoke=_ask_file,
    filepath=StringProperty(name="File Path", description="Path of the set-up", subtype="FILE_PATH"),
    filter_glob=StringProperty(
        name="Filter",
        description="Files shown in the file browser",
        default=f"*{setup_file.SUFFIX}",
        options={"HIDDEN"},
    ),
    **_FIT,
)
def load_setup(self: Any, context: Any, obj: Any) -> None:
    """Give this mesh the Sinew settings, vertex groups and muscle curves of a file. They follow the closest points of
    the surfaces, so the mesh may differ from the one of the set-up.
    """
    _apply(self, setup_file.load_setup(Path(bpy.path.abspath(self.filepath))), [context.object])


def _can_import(context: Any) -> None:
    obj = polls.with_own_mesh(polls.mesh_object(context))
    polls.disable_if(obj.mode != "OBJECT", polls.NOT_IN_OBJECT)
    polls.idle()
    polls.disable_if(duplicate_result.source_of(obj), "This object shows a bake: select its original")
    modifiers = [physics_import.modifier_of(obj, kind) for kind in physics_import.LABELS]
    polls.disable_if(not any(modifiers), "The object has no Soft Body or Cloth modifier")


@operator(
    "Import from Physics",
    _can_import,
    EDITS,
    kind=EnumProperty(
        name="Modifier",
        description="Modifier that is imported and disabled",
        items=[
            ("SOFT_BODY", "Soft Body", "Import the object's Soft Body modifier"),
            ("CLOTH", "Cloth", "Import the object's Cloth modifier"),
        ],
    ),
)
def import_physics(self: Any, context: Any, obj: Any) -> set[str] | None:
    """Set up this object from its Soft Body or Cloth modifier: goal or pins, mass, air friction, collisions, field
    weights and frame range. The modifier is disabled, not removed.
    """
    obj, label = context.object, translated(physics_import.LABELS[self.kind])
    if physics_import.modifier_of(obj, self.kind) is None:
        return refused(self, translated("The object has no {modifier} modifier. Add one first.", modifier=label))
    left = physics_import.import_physics(obj, self.kind, context)
    words = translated("{modifier} is imported, and its modifier disabled", modifier=label)
    if left:
        self.report({"WARNING"}, translated("{words}. Left out: {names}", words=words, names=", ".join(left)))
    else:
        self.report({"INFO"}, words)
    return None


def _about_example(context: Any, properties: Any) -> str:
    about = examples.EXAMPLES[properties.example].DESCRIPTION
    return f"{translated(about)}. {translated('It is added in its own collection at the 3D cursor, ready to bake')}"


@operator(
    "Add Sinew Example",
    polls.in_object_mode,
    EDITS,
    description=_about_example,
    example=EnumProperty(
        name="Example",
        description="Example scene to build at the 3D cursor",
        items=[(name, each.LABEL, each.DESCRIPTION) for name, each in examples.EXAMPLES.items()],
    ),
)
def add_example(self: Any, context: Any, obj: Any) -> None:
    """Add an example scene at the 3D cursor."""
    body = examples.add(self.example, context)
    button = "Bake" if context.blend_data.filepath else "Save and Bake"
    self.report(
        {"INFO"},
        translated(
            "“{name}” is active: press {button} in the Sinew tab of the sidebar (N)", name=body.name, button=button
        ),
    )
