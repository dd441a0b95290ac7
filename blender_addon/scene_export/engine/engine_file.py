"""Files for game engines, by Blender's exporters of glTF and FBX, from a temporary scene."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import bpy

from .gltf_normals import fit_normals


class Format(NamedTuple):
    """File format: label, file extension, and Blender's operator with its add-on."""

    label: str
    ending: str
    operator: str
    addon: str


FORMATS = {
    "GLB": Format("glTF Binary", ".glb", "gltf", "glTF 2.0 format"),
    "GLTF": Format("glTF Separate", ".gltf", "gltf", "glTF 2.0 format"),
    "FBX": Format("FBX", ".fbx", "fbx", "FBX format"),
}

_GLTF = {
    "use_active_scene": True,
    "export_yup": True,
    "export_animations": True,
    "export_animation_mode": "SCENE",  # all bodies in one clip
    "export_anim_scene_split_object": False,
    "export_force_sampling": True,
    "export_optimize_animation_size": False,
    "export_skins": True,
    "export_influence_nb": 4,
    "export_morph": True,
    "export_morph_normal": True,
    "export_morph_animation": True,
    "export_try_sparse_sk": False,  # not every engine reads sparse accessors
}
_FBX = {
    "object_types": {"ARMATURE", "MESH"},
    "mesh_smooth_type": "FACE",
    "add_leaf_bones": False,
    "bake_anim": True,
    "bake_anim_use_nla_strips": False,
    "bake_anim_use_all_actions": False,
    "bake_anim_simplify_factor": 0.0,
    "path_mode": "COPY",
    "embed_textures": True,
}


def has_exporter(kind: str) -> bool:
    """Return True if the add-on that writes the format ``kind``, a key of :data:`FORMATS`, is enabled."""
    return FORMATS[kind].operator in dir(bpy.ops.export_scene)


def write_scene(scene: Any, path: Path, kind: str) -> None:
    """Export all objects of a scene to the file ``path``. Raises RuntimeError if the export fails.

    ``kind``: a key of :data:`FORMATS`.
    """
    layer = scene.view_layers[0]
    for obj in scene.objects:
        obj.select_set(True, view_layer=layer)
    with bpy.context.temp_override(scene=scene, view_layer=layer, collection=scene.collection):
        if kind == "FBX":
            bpy.ops.export_scene.fbx(filepath=str(path), **_FBX)
        else:
            layout = "GLB" if kind == "GLB" else "GLTF_SEPARATE"
            bpy.ops.export_scene.gltf(filepath=str(path), export_format=layout, **_GLTF)
    if not path.is_file():
        raise RuntimeError("Blender's exporter wrote no file.")
    if kind != "FBX":
        fit_normals(path)


@contextmanager
def free_names(names: list[str]) -> Iterator[None]:
    """Rename local objects within the context, so that copies can have their ``names`` in the file."""
    renamed = {}
    try:
        for name in names:
            obj = bpy.data.objects.get((name, None))
            if obj is not None:
                obj.name = f"{name}.sent"[-63:]
                renamed[name] = obj
        yield
    finally:
        for name, obj in renamed.items():
            obj.name = name
