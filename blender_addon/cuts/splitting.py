"""Split of a body's mesh along its cutters and tears, and its restoration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...core.foundation.errors import CutError, MeshError
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ..objects.modifier_stack import cut_after, has_own_keys, stack_position
from ..properties.mirror import clean
from ..scene_export.split_mesh import write_split
from ..scene_import.animation_in import at_frame
from ..scene_import.job_in import check_object, simulated_range
from ..scene_import.mesh_in import mesh_at_position, triangles_of, vertex_positions
from ..scene_import.picks import mend
from ..scene_import.weights_in import group_weights, has_weights
from .cut_state import checksum_of
from .cutters_in import cutter_objects, read_cutters

if TYPE_CHECKING:
    from ...core.geometry.cuts.divided_surface import SplitSurface


def split(obj: Any, context: Any) -> SplitSurface:
    """Replace the mesh of a body by its mesh split along its cutters and tears.

    The mesh before the split stays in the file, as ``cuts.original``; a mesh that is split again is split from it.
    Raises SinewError if the mesh cannot be split; the body is then unchanged.
    """
    from ...core.geometry.cuts.split_surface import split_surface  # deferred, since it would delay Blender's start

    cuts = obj.sinew.cuts
    check_object(obj, context)
    _check(obj)
    mesh, frames = cuts.original or obj.data, simulated_range(obj.sinew, context.scene)
    shown, obj.data = obj.data, mesh
    try:
        mend(obj)
        position = stack_position(obj)
        with at_frame(context.scene, frames[0]), cut_after(obj, position):
            with mesh_at_position(obj, position, context) as (simulated, _evaluated):
                start = vertex_positions(simulated)
        base = vertex_positions(mesh)
        if len(start) != len(base):
            raise MeshError(
                f"Simulated modifiers change the mesh from {len(base)} to {len(start)} vertices.",
                "Apply them before the split, or set Simulate, under Resolution, to a modifier before them.",
            )
        surface = SurfaceMesh(start, triangles_of(mesh, False))
        surface.validate()
        edge = surface.size / cuts.edges_across
        painted = _painted(obj, mesh) if cuts.tear == "PAINTED" else None
        found = split_surface(
            surface,
            read_cutters(obj, context, frames, edge),
            painted,
            cuts.fragments if cuts.tear == "FRAGMENTS" else 0,
            clean(cuts.tear_stress),
            cuts.seed,
            edge,
        )
        new = write_split(mesh, found, _unposed(found, base - start), _weights(obj, mesh, found), _inside(obj))
    except BaseException:
        obj.data = shown
        raise
    groups, active = [(group.name, group.lock_weight) for group in obj.vertex_groups], obj.vertex_groups.active_index
    obj.data, cuts.original = new, mesh
    for name, is_locked in groups:  # their names are part of the mesh
        (obj.vertex_groups.get(name) or obj.vertex_groups.new(name=name)).lock_weight = is_locked
    obj.vertex_groups.active_index = active
    if shown != mesh and not shown.users:
        bpy.data.meshes.remove(shown)
    new.name = f"{mesh.name} Split"
    mend(obj)
    cuts.split_from = checksum_of(obj, context.scene)
    return found


def restore(obj: Any) -> None:
    """Give a body its mesh before the split. The split mesh is removed if nothing else uses it."""
    cuts, new = obj.sinew.cuts, obj.data
    obj.data, cuts.original, cuts.split_from = cuts.original, None, ""
    if not new.users:
        bpy.data.meshes.remove(new)


def missed_words(obj: Any, found: SplitSurface) -> str:
    """Return a warning about cutters and tears that separate nothing, or ""."""
    names = [f"“{each.name}”" for each in cutter_objects(obj)] + ["the tear"]
    missed = [names[k] for k in found.missed]
    return f"Nothing is cut by {' and '.join(missed)}: move it through the body." if missed else ""


def _check(obj: Any) -> None:
    """Raise an error if the mesh of a body cannot be split."""
    cuts = obj.sinew.cuts
    if has_own_keys(obj):
        raise MeshError(
            f"“{obj.name}” has shape keys, which cannot follow a split.",
            "Apply them first (Object > Apply > Shape Keys), or remove them.",
        )
    if cuts.tear == "NONE" and not cutter_objects(obj):
        raise CutError("The body has neither cutters nor a tear.", "Choose a cutter, or a tear, under Cuts.")


def _painted(obj: Any, mesh: Any) -> np.ndarray:
    name = obj.sinew.cuts.seam_group
    if not has_weights(obj, mesh, name):
        raise CutError(f"The vertex group “{name}” of the seam does not exist.", "Choose a vertex group under Cuts.")
    return group_weights(obj, mesh, [name])[:, 0]


def _unposed(found: SplitSurface, to_base: np.ndarray) -> np.ndarray:
    """Return the vertex positions without simulated modifiers, (n,3).

    ``to_base`` (original n,3): displacements from the simulated shape to the mesh itself.
    """
    positions = found.surface.positions
    return positions + found.values(to_base) if to_base.any() else positions


def _weights(obj: Any, mesh: Any, found: SplitSurface) -> np.ndarray:
    """Return the weights in all vertex groups at the vertices of the split mesh, (n,groups).

    They are carried inside. In groups that choose vertices of the surface, such as pins, vertices inside have no
    weight, and a vertex on an edge has the lower weight of its ends: otherwise a pin would hold both sides of a cut.
    """
    settings = obj.sinew
    weights = group_weights(obj, mesh, [group.name for group in obj.vertex_groups])
    choosing = {settings.pin_group, settings.node_group, settings.chamber.vertex_group}
    choosing |= {each.vertex_group for each in (*settings.springs, *settings.ties)}
    for material in settings.materials:
        choosing |= {material.muscle.origin_group, material.muscle.insertion_group}
    chooses = np.array([group.name in choosing for group in obj.vertex_groups], dtype=bool)
    out = np.zeros((len(found.pieces), len(chooses)))
    out[:, ~chooses] = found.values(weights[:, ~chooses])
    outer = found.source >= 0
    ends = weights[found.original.triangles[found.source[outer]]][:, None, :, chooses]
    least = np.where((found.weights[outer] > 0.0)[..., None], ends, np.inf).min(axis=2)
    rows, columns = found.surface.triangles[outer].ravel(), np.flatnonzero(chooses)
    out[rows[:, None], columns] = least.reshape(len(rows), len(columns))
    return out


def _inside(obj: Any) -> Any:
    """Return the Blender material of new faces, made if the body has none."""
    cuts = obj.sinew.cuts
    if cuts.material is None:
        cuts.material = bpy.data.materials.new(f"{obj.name} Inside")
        outer = obj.active_material
        if outer is not None:
            cuts.material.diffuse_color = outer.diffuse_color
    return cuts.material
