"""Stage of an example: a new collection at the 3D cursor. Lengths are in m and times in s.

The stage is independent of the scene's units, frame rate and first frame.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import bmesh
import bpy
import numpy as np

from ...core.mechanics.materials.presets import PRESETS
from ..objects.vertex_weights import set_weights
from ..scene_import.mesh_in import unit_scale
from ..setup import defaults
from .shapes import Part, disc


class Stage:
    """Builder of an example's objects.

    ``root``: parent of all objects, an empty at the 3D cursor. The local unit of ``root`` is 1 m.
    """

    def __init__(self, context: Any, name: str) -> None:
        self.context = context
        self.scene = context.scene
        self.collection = bpy.data.collections.new(name)
        self.scene.collection.children.link(self.collection)
        self.metre = 1.0 / unit_scale(self.scene)
        self.root = None
        self.root = self.add(name, None)
        self.root.location = self.scene.cursor.location
        self.root.scale = (self.metre,) * 3
        self.root.empty_display_size = 0.1

    def add(self, name: str, data: Any, collection: Any = None) -> Any:
        """Add an object with the data ``data`` to ``collection`` or, by default, to the example's collection.

        Returns the object.
        """
        obj = bpy.data.objects.new(name, data)
        (collection or self.collection).objects.link(obj)
        obj.parent = self.root
        return obj

    def mesh(self, name: str, parts: Sequence[Part], *shaders: Any, smooth: bool = True) -> Any:
        """Return a mesh that consists of ``parts``.

        ``shaders``: Blender materials of the mesh. If ``smooth`` is True, the faces are shaded smoothly.
        """
        shape = bmesh.new()
        for part in parts:
            part(shape)
        bmesh.ops.recalc_face_normals(shape, faces=shape.faces)
        mesh = bpy.data.meshes.new(name)
        shape.to_mesh(mesh)
        shape.free()
        return _shaded(mesh, shaders, smooth)

    def one_skin(self, mesh: Any, voxel: float, smooth: int) -> Any:
        """Return one surface around all parts of ``mesh``, made by voxel remeshing. ``mesh`` is removed.

        ``voxel``: voxel size, m. ``smooth``: number of smoothing iterations.
        """
        parts = bpy.data.objects.new("Parts", mesh)
        self.collection.objects.link(parts)
        remesh = parts.modifiers.new("Remesh", "REMESH")
        remesh.mode, remesh.voxel_size = "VOXEL", voxel
        parts.modifiers.new("Smooth", "SMOOTH").iterations = smooth
        name, shaders = mesh.name, list(mesh.materials)
        skin = self.evaluated(parts)
        bpy.data.objects.remove(parts)
        bpy.data.meshes.remove(mesh)
        skin.name = name
        skin.materials.clear()
        return _shaded(skin, shaders)

    def evaluated(self, obj: Any) -> Any:
        """Return a new mesh: that of ``obj`` with its modifiers applied."""
        graph = self.context.evaluated_depsgraph_get()
        return bpy.data.meshes.new_from_object(obj.evaluated_get(graph), depsgraph=graph)

    def shader(
        self,
        name: str,
        colour: Sequence[float],
        roughness: float = 0.4,
        transmission: float = 0.0,
        opacity: float = 1.0,
    ) -> Any:
        """Return a Blender material for the appearance."""
        material = bpy.data.materials.new(name)
        if material.node_tree is None:  # since 5.0 it always exists, and ``use_nodes`` is deprecated
            material.use_nodes = True
        material.diffuse_color = (*colour, opacity)
        material.roughness = roughness
        # The node is found by type, since node names are translated.
        surface = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED").inputs
        surface["Base Color"].default_value = (*colour, 1.0)
        surface["Roughness"].default_value = roughness
        surface["Transmission Weight"].default_value = transmission
        surface["Alpha"].default_value = opacity
        return material

    def paint(self, mesh: Any, colours: np.ndarray) -> None:
        """Give the vertices of ``mesh`` the ``colours`` (n,4), which its first Blender material shows."""
        layer = mesh.color_attributes.new("Colour", "FLOAT_COLOR", "POINT")
        layer.data.foreach_set("color", np.asarray(colours, dtype=np.float32).ravel())
        nodes, links = mesh.materials[0].node_tree.nodes, mesh.materials[0].node_tree.links
        attribute = nodes.new("ShaderNodeAttribute")
        attribute.attribute_name = layer.name
        surface = next(node for node in nodes if node.type == "BSDF_PRINCIPLED")
        links.new(attribute.outputs["Color"], surface.inputs["Base Color"])

    def frame(self, seconds: float) -> int:
        """Return the number of the frame ``seconds`` after the scene's first frame."""
        render = self.scene.render
        return self.scene.frame_start + round(seconds * render.fps / render.fps_base)

    def key(self, owner: Any, name: str, *keys: tuple[float, Any]) -> None:
        """Insert keyframes of the property ``name`` of ``owner``. ``keys``: pairs of a time, s, and a value."""
        for seconds, value in keys:
            setattr(owner, name, value)
            owner.keyframe_insert(name, frame=self.frame(seconds))
        setattr(owner, name, keys[0][1])

    def body(self, obj: Any, seconds: float, cells: int) -> Any:
        """Make ``obj`` an elastic body that is baked for ``seconds``. Returns the settings, without materials.

        The lattice has ``cells`` cells along the longest side of the body. Only bodies of the example collide with this
        body.
        """
        settings = obj.sinew
        settings.enabled = True
        settings.collisions.contact_collection = self.collection
        settings.cells_across = cells
        settings.use_scene_range = False
        settings.frame_start, settings.frame_end = self.frame(0.0), self.frame(seconds)
        return settings

    def material(self, obj: Any, preset: str, stiffness: float, weights: np.ndarray | None = None) -> Any:
        """Append a physical material to a body: the values of ``preset`` with the Young's modulus ``stiffness``, Pa.

        The material applies to the vertices with ``weights`` (n,), or to all.
        """
        chosen = next(p for p in PRESETS if p.name == preset)
        material = defaults.append_material(obj, dataclasses.replace(chosen, youngs_modulus=stiffness))
        if weights is not None:
            material.vertex_group = self.group(obj, material.name, weights)
        return material

    def group(self, obj: Any, name: str, weights: np.ndarray) -> str:
        """Add a vertex group with ``weights`` (n,), except weights of 0. Returns the group's name."""
        group = obj.vertex_groups.new(name=name)
        set_weights(obj, group.name, weights)
        return group.name

    def floor(self, radius: float, colour: Sequence[float], *body_settings: Any) -> Any:
        """Add a round floor of the ``radius``, m, at the 3D cursor's height. Returns the floor.

        ``body_settings``: settings of bodies that collide with the floor. Their contact distance becomes 2 mm.
        """
        collection = None
        if body_settings:
            collection = bpy.data.collections.new(f"{self.collection.name} Colliders")
            self.collection.children.link(collection)
        for settings in body_settings:
            settings.collisions.collection, settings.collisions.thickness = collection, 0.002 * self.metre
        shader = self.shader("Floor", colour, roughness=0.8)
        floor = self.mesh("Floor", [disc(radius, 0.05 * radius)], shader, smooth=False)
        return self.add("Floor", floor, collection)


def _shaded(mesh: Any, shaders: Sequence[Any], smooth: bool = True) -> Any:
    for shader in shaders:
        mesh.materials.append(shader)
    if smooth:
        mesh.shade_smooth()
    return mesh
