"""Position in an object's modifier stack at which the object is simulated. Earlier modifiers give the simulated shape.

The position is after the last deforming modifier (armature, lattice, hook ...), or where the artist sets it. Later
modifiers act on the result. A bake is displayed by the object itself if no modifier is before the position, the mesh
has no shape keys of the artist, and no other object uses the mesh. In all other cases, a duplicate displays the bake.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import bpy

from ...core.foundation.errors import MeshError
from ..blend_data.temporary_values import Override, is_animated, overridden
from . import linked

DEFORMING = frozenset({
    "ARMATURE", "CURVE", "HOOK", "LAPLACIANDEFORM", "LATTICE", "MESH_CACHE", "MESH_DEFORM", "MESH_SEQUENCE_CACHE",
    "SHRINKWRAP", "SIMPLE_DEFORM", "SURFACE_DEFORM", "WARP", "WAVE", "CLOTH", "SOFT_BODY",
})  # fmt: skip
WEIGHING = frozenset({"VERTEX_WEIGHT_EDIT", "VERTEX_WEIGHT_MIX", "VERTEX_WEIGHT_PROXIMITY"})
CACHE_FILE = "sinew_bake.pc2"
"""File name of bakes in PC2 format. A Mesh Cache modifier with such a file plays a bake."""
PARENT_DEFORMS = frozenset({"ARMATURE", "LATTICE", "CURVE"})
_cut: dict[int, list[str]] = {}
"""Names of the modifiers that :func:`uncut` enables again, by ``session_uid`` of the objects in :func:`cut_after`."""


@dataclass(frozen=True)
class StackPosition:
    """Position in a modifier stack at which the shape of a body is simulated.

    Attributes
    ----------
    below : number of modifiers before the position
    label : description of the position for the panel
    on_itself : True if the object itself can display its bake; False if a duplicate must
    """

    below: int
    label: str
    on_itself: bool


def stack_position(obj: Any) -> StackPosition:
    """Return the position in the modifier stack of ``obj`` at which its shape is simulated.

    If the modifier that the artist chose does not exist, the position is before all modifiers, and the label says so.
    """
    settings = obj.sinew
    below = 0
    if settings.simulate_at == "AUTOMATIC":
        deforming = [k for k, m in enumerate(obj.modifiers) if _deforms(m)]
        below = deforming[-1] + 1 if deforming else 0
    elif settings.simulate_at == "MODIFIER":
        below = obj.modifiers.find(settings.simulate_after) + 1
        below = 0 if below and is_own_cache(obj.modifiers[below - 1]) else below
    parent = "" if obj.parent is None or obj.parent_type not in PARENT_DEFORMS else obj.parent.name
    own_keys = has_own_keys(obj)
    shared = obj.data.users - obj.data.use_fake_user > 1 and not obj.sinew.bake.on_itself
    label = f"After “{obj.modifiers[below - 1].name}”" if below else "The mesh itself"
    if below == 0 and settings.simulate_at == "MODIFIER":
        label += f" (“{settings.simulate_after}” cannot be simulated: no such modifier, or the baked result)"
    elif below == 0 and parent:
        label = f"The mesh, deformed by its parent “{parent}”"
    elif below == 0 and own_keys:
        label = "The mesh with its shape keys"
    # Keys on a linked mesh would be lost with the next load.
    not_itself = below or parent or own_keys or shared or linked.has_linked_mesh(obj)
    return StackPosition(below, label, on_itself=not not_itself)


def _deforms(modifier: Any) -> bool:
    """Return True if a modifier deforms the mesh and is, or may be, shown in viewports."""
    if modifier.type not in DEFORMING or is_own_cache(modifier):
        return False
    return modifier.show_viewport or is_animated(modifier, "show_viewport")


def is_own_cache(modifier: Any) -> bool:
    """Return True if a modifier is a Mesh Cache that plays a bake of Sinew."""
    return modifier.type == "MESH_CACHE" and re.split(r"[\\/]", modifier.filepath)[-1] == CACHE_FILE


def own_caches(obj: Any) -> list[Any]:
    """Return the Mesh Cache modifiers of an object that play bakes of Sinew."""
    return [modifier for modifier in obj.modifiers if is_own_cache(modifier)]


def check_stack_position(obj: Any) -> None:
    """Raise MeshError if the modifier that the artist chose does not exist."""
    settings = obj.sinew
    if settings.simulate_at == "MODIFIER" and settings.simulate_after not in obj.modifiers:
        raise MeshError(
            f"“{obj.name}” has no modifier “{settings.simulate_after}” to simulate after.",
            "Choose one of its modifiers under Resolution, or set Simulate to Automatic.",
        )


def has_own_keys(obj: Any) -> bool:
    """Return True if the mesh has shape keys made by the artist."""
    record = obj.sinew.bake
    return obj.data.shape_keys is not None and not (record.on_itself and record.kind == "KEYS")


def later_modifiers(obj: Any, position: StackPosition | None = None) -> list[Any]:
    """Return the modifiers of ``obj`` after ``position`` in the modifier stack.

    None stands for the position at which ``obj`` is simulated.
    """
    return list(obj.modifiers)[(position or stack_position(obj)).below :]


def shown_after(obj: Any, carrier: Any | None = None, in_renders: bool = False) -> list[Any]:
    """Return the modifiers shown in viewports that act on the result of ``obj``.

    Modifiers that play the bake are left out. If a duplicate ``carrier`` displays the bake, these are the duplicate's
    modifiers. Otherwise these are the modifiers of ``obj`` after the position at which it is simulated. With
    ``in_renders``, modifiers shown only in renders are included.
    """
    own = {obj.sinew.bake.nodes, obj.sinew.bake.attribute_nodes} - {None}
    later = later_modifiers(obj) if carrier is None or carrier == obj else carrier.modifiers
    shown = [m for m in later if (m.show_viewport or in_renders and m.show_render) and not is_own_cache(m)]
    return [m for m in shown if m.type != "NODES" or m.node_group not in own]


def subdivision_after(obj: Any, scene: Any, carrier: Any | None = None) -> tuple[Any, int] | None:
    """Return the Subdivision modifier that acts first on the result, and its viewport level.

    Returns None without a modifier, if another modifier comes first, or if the level is 0. ``carrier`` is the duplicate
    that displays the bake, or None.
    """
    first = next(iter(shown_after(obj, carrier)), None)
    if first is None or first.type != "SUBSURF":
        return None
    level, _ = levels_of(first, scene)
    return (first, level) if level else None


def levels_of(modifier: Any, scene: Any) -> tuple[int, int]:
    """Return the viewport and render levels of a Subdivision or Multiresolution modifier, limited by Simplify."""
    levels, render = (modifier.levels, modifier.render_levels), scene.render
    most = (render.simplify_subdivision, render.simplify_subdivision_render) if render.use_simplify else levels
    return min(levels[0], most[0]), min(levels[1], most[1])


def weights_left_out(obj: Any) -> str:
    """Return a warning about modifiers whose changes of vertex groups the simulation ignores.

    Such a modifier changes a used vertex group, but comes after the position at which ``obj`` is simulated. The text is
    empty without such a modifier.
    """
    own = (getattr(obj.sinew, name) for name in ("pin_group", "node_group", "refine_group"))
    used = {*own, *(spring.vertex_group for spring in obj.sinew.springs)}
    for material in obj.sinew.materials:
        used |= {material.vertex_group, material.stiffness_map if material.use_range else ""}
    used.discard("")
    names = [f"“{m.name}”" for m in later_modifiers(obj) if m.show_viewport and used and _changes_weights(m, used)]
    if not names:
        return ""
    message = f"{' and '.join(names)} {'change' if len(names) > 1 else 'changes'} vertex groups"
    return f"{message} after the simulated shape, so the simulation ignores this: set Simulate to After Modifier"


def _changes_weights(modifier: Any, groups: set[str]) -> bool:
    if modifier.type == "DATA_TRANSFER":
        return modifier.use_vert_data and "VGROUP_WEIGHTS" in modifier.data_types_verts
    group = modifier.vertex_group_a if modifier.type == "VERTEX_WEIGHT_MIX" else getattr(modifier, "vertex_group", "")
    return modifier.type in WEIGHING and group in groups


@contextmanager
def cut_after(obj: Any, position: StackPosition) -> Iterator[None]:
    """Disable the modifiers of ``obj`` after ``position`` within the context.

    Modifiers that play the bake are disabled, too. ``obj`` itself is enabled in viewports. Animation of these
    visibility properties is muted.
    """
    own = [m for m in list(obj.modifiers)[: position.below] if is_own_cache(m)]
    later = [*own, *later_modifiers(obj, position)]
    acting, uid = shown_after(obj), obj.session_uid
    is_first = uid not in _cut
    if is_first:  # modifiers after the last Geometry Nodes modifier create no attributes, but may add vertices
        end = max((k + 1 for k, modifier in enumerate(acting) if modifier.type == "NODES"), default=0)
        _cut[uid] = [modifier.name for modifier in acting[:end]]
    try:
        with overridden([Override.of(modifier, "show_viewport", False) for modifier in later]), shown(obj):
            yield
    finally:
        if is_first:
            del _cut[uid]


def is_cut(obj: Any) -> bool:
    """Return True within :func:`cut_after` of ``obj``."""
    return obj.session_uid in _cut


@contextmanager
def uncut(obj: Any) -> Iterator[None]:
    """Enable modifiers that :func:`cut_after` has disabled, up to the last Geometry Nodes modifier, within the context.

    Shape keys of a bake are removed meanwhile, so that the modifiers act on the mesh itself. The evaluated object must
    not be in use. Outside :func:`cut_after`, nothing changes.
    """
    names, mesh = _cut.get(obj.session_uid, []), obj.data
    enabled = [Override.of(obj.modifiers[name], "show_viewport", True) for name in names if name in obj.modifiers]
    record = obj.sinew.bake
    plain = None
    if enabled and record.on_itself and record.kind == "KEYS" and mesh.shape_keys is not None:
        plain = bpy.data.meshes.new_from_object(obj)  # without shape keys and modifiers
    try:
        if plain is not None:
            obj.data = plain
        with overridden(enabled):
            yield
    finally:
        if plain is not None:
            obj.data = mesh
            bpy.data.meshes.remove(plain)


def shown(*objects: Any) -> AbstractContextManager[None]:
    """Enable objects, and the collections that contain them, in viewports within the context.

    Blender evaluates neither modifiers nor animation of disabled objects.
    """
    return overridden([Override.of(block, "hide_viewport", False) for block in with_collections(*objects)])


def with_collections(*objects: Any) -> list[Any]:
    """Return the objects, then all collections that contain one of them, directly or in a child collection."""
    holding = [c for c in bpy.data.collections if any(linked.holds(c.all_objects, o) for o in objects)]
    return [*objects, *holding]
