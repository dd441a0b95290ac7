"""Readers of stiffness maps and of material layers, whose regions are closed meshes or the bones of an armature.

A layer replaces the painted materials inside its region and within its range of depths. The layer's map sets the
replaced fraction, 0 to 1. A region that the body follows is sampled over the frames, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np

from ...core.foundation.errors import MeshError, SettingsError
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.mechanics.constraints.kinematic_region import KinematicRegion
from ...core.mechanics.fibres.tubes import tube
from ...core.mechanics.materials.layer import Layer
from ..objects.linked import out_of_view
from ..objects.modifier_stack import shown
from .animation_in import EvaluatedFrame, MovedObjects, Track
from .mesh_in import changed_mesh, mesh_of, object_to_world, surface_of, transform, vertex_positions
from .settings_in import depth_settings
from .weights_in import group_weights, has_weights

THICK = 0.05
"""Radius of a bone's tube, in lengths of the bone: that of the middle of a human humerus is 0.04."""

GAP = 0.08
"""Fraction of its length by which a bone's tube ends before a joint, so that the flesh there can bend."""


def layer_maps(obj: Any, mesh: Any) -> list[np.ndarray | None]:
    """Return the coverage map of each material, weights (n,) or None.

    The entry is None for a material that is not a layer or has no map.
    """
    names = [m.vertex_group if m.is_layer else "" for m in obj.sinew.materials]
    columns = group_weights(obj, mesh, names).T
    return [column if name else None for name, column in zip(names, columns, strict=True)]


def material_layers(obj: Any, maps: list[np.ndarray | None], scene: Any, context: Any) -> tuple[Layer, ...]:
    """Return the material layers in the order of the materials.

    The regions are those at the current frame. Raises MeshError if a region cannot be read.

    ``maps``: result of :func:`layer_maps`.
    """
    return tuple(
        Layer(k, _surfaces(obj, material, scene, context), depth_settings(material, scene), maps[k])
        for k, material in enumerate(obj.sinew.materials)
        if material.is_layer
    )


def stiffness_maps(obj: Any, mesh: Any) -> np.ndarray:
    """Return the stiffness maps of all materials, (n, materials) float64, 0 to 1.

    The value is 0 without a map or a weight.
    """
    return group_weights(obj, mesh, [m.stiffness_map if m.use_range else "" for m in obj.sinew.materials])


def check_maps(obj: Any, mesh: Any) -> None:
    """Raise SettingsError if a material's vertex group or attribute does not exist.

    ``mesh``: the body's mesh before the simulation.
    """
    for material in obj.sinew.materials:
        for noun, name in (("map", material.vertex_group), ("stiffness map", material.stiffness_map)):
            if name and (noun == "map" or material.use_range) and not has_weights(obj, mesh, name):
                raise SettingsError(
                    f"The {noun} “{name}” of “{material.name}” does not exist any more.",
                    "Choose a vertex group, or clear Map.",
                )


def followed_objects(obj: Any) -> list[Any]:
    """Return the region objects that a body follows. Raises MeshError if a region contains no mesh."""
    return [each for material in obj.sinew.materials if material.is_followed for each in _objects(obj, material)]


def region_samplers(obj: Any, context: Any) -> list[RegionSampler]:
    """Return one sampler per region object that the body ``obj`` follows, in the order of the materials.

    The scene must be at the first frame. Raises MeshError if a region cannot be read.
    """
    return [
        RegionSampler(k, each, context)
        for k, material in enumerate(obj.sinew.materials)
        if material.is_followed
        for each in _objects(obj, material)
    ]


class RegionSampler:
    """Sampler of an object that prescribes the motion of everything inside it.

    ``index``: index of the material whose region the object is.
    """

    def __init__(self, index: int, region: Any, context: Any) -> None:
        self._index, self._region = index, region
        self._surfaces = _region_surfaces(region, context.scene, context)
        self._first: Any = None
        self._positions, self._held = Track(self._positions_at, self._moves), Track(self._held_at)
        self.tracks = self._positions, self._held

    def _moves(self, moved: MovedObjects) -> bool:
        return self._region.session_uid in moved.transforms | moved.shapes

    def _held_at(self, moment: EvaluatedFrame) -> bool:
        return moment.obj.sinew.materials[self._index].follows

    def _positions_at(self, moment: EvaluatedFrame) -> np.ndarray:
        """Return the positions of the vertices of all surfaces of the region, (k,3) m."""
        evaluated = self._region.evaluated_get(moment.context.evaluated_depsgraph_get())
        matrix = object_to_world(evaluated, moment.context.scene)
        if self._region.type == "ARMATURE":
            return self._of_bones(evaluated, matrix)
        with mesh_of(evaluated) as mesh:
            counts = len(mesh.vertices), len(mesh.loops)
            self._first = self._first or counts
            if counts != self._first:
                problem, remedy = changed_mesh(self._first[0], counts[0], moment.frame)
                raise MeshError(f"The region “{self._region.name}” {problem}.", remedy)
            return transform(matrix, vertex_positions(mesh))

    def _of_bones(self, evaluated: Any, matrix: np.ndarray) -> np.ndarray:
        poses = np.array([matrix @ np.array(bone.matrix, dtype=np.float64) for bone in _bones(evaluated)])
        self._first = np.linalg.pinv(poses) if self._first is None else self._first
        pairs = zip(poses @ self._first, self._surfaces, strict=True)
        return np.concatenate([transform(move, surface.positions) for move, surface in pairs])

    def regions(self) -> Iterator[KinematicRegion]:
        """Yield the sampled regions: one per bone of an armature. There are none if the region never holds."""
        held, name = self._held.samples(), self._region.name
        if not held.any():
            return
        positions, start, names = self._positions.samples(), 0, [name]
        if self._region.type == "ARMATURE":
            names = [f"{name} > {bone.name}" for bone in _bones(self._region)]
        for each, surface in zip(names, self._surfaces, strict=True):
            end = start + len(surface.positions)
            yield KinematicRegion(each, surface, positions[:, start:end], held)
            start = end


def _surfaces(obj: Any, material: Any, scene: Any, context: Any) -> tuple[SurfaceMesh, ...]:
    return tuple(surface for each in _objects(obj, material) for surface in _region_surfaces(each, scene, context))


def _objects(obj: Any, material: Any) -> list[Any]:
    """Return the region objects of a material, sorted by name. Raises MeshError if its collection has no mesh."""
    regions, objects = material.regions, []
    if isinstance(regions, bpy.types.Object):
        objects = [regions]
    elif regions is not None:
        own = obj, obj.sinew.bake.result
        objects = sorted((o for o in regions.all_objects if o.type == "MESH" and o not in own), key=lambda o: o.name)
        if not objects:
            raise MeshError(
                f"The collection “{regions.name}”, the region of “{material.name}”, contains no mesh.",
                "Add closed meshes other than the body to the collection, or clear Region.",
            )
    return objects


def _region_surfaces(obj: Any, scene: Any, context: Any) -> list[SurfaceMesh]:
    """Return the surfaces of a region object at the current frame, in world space and metres.

    They are the mesh itself, or a tube along each bone of an armature that deforms meshes.

    Raises MeshError if the object cannot be used as a region.
    """
    if obj.type not in _READERS:
        raise MeshError(f"The region “{obj.name}” is not a mesh.", "Choose a closed mesh or an armature as the region.")
    if not obj.users_collection:  # a deleted object stays in the file while the material refers to it
        raise MeshError(
            f"The region “{obj.name}” was deleted.", "Choose another one under Physical Materials, or clear Region."
        )
    with shown(obj):
        evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
        if not evaluated.is_evaluated:
            raise out_of_view(f"The region “{obj.name}”")
        try:
            return _READERS[obj.type](evaluated, object_to_world(evaluated, scene))
        except MeshError as error:
            raise MeshError(f"The region “{obj.name}”: {error.message}", error.remedy) from error


def _of_mesh(evaluated: Any, matrix: np.ndarray) -> list[SurfaceMesh]:
    with mesh_of(evaluated) as mesh:
        return [surface_of(mesh, matrix)]


def _of_armature(evaluated: Any, matrix: np.ndarray) -> list[SurfaceMesh]:
    bones = _bones(evaluated)
    if not bones:
        raise MeshError("It has no bone that deforms.", "Switch on Deform of its bones, or choose another region.")
    found = []
    for bone in bones:
        ends = transform(matrix, np.array([bone.head, bone.tail], dtype=np.float64))
        joints = np.array([bone.parent is not None, len(bone.children) > 0])
        along = ends[1] - ends[0]
        ends += GAP * np.outer(joints * [1.0, -1.0], along)
        found.append(tube(ends, np.full(2, THICK * float(np.linalg.norm(along)))))
    return found


def _bones(armature: Any) -> list[Any]:
    """Return the pose bones of an armature that deform meshes."""
    return [bone for bone in armature.pose.bones if bone.bone.use_deform and bone.length > 0.0]


_READERS = {"MESH": _of_mesh, "ARMATURE": _of_armature}
