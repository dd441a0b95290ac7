"""Physical values that Blender materials carry, and their use on the faces that show these materials.

A Blender material on all faces sets the first physical material of the body, which fills unpainted areas. On some faces
it sets a physical material whose map is the vertices of these faces.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ...core.foundation.errors import MaterialError
from ...core.mechanics.materials.presets import PRESETS
from ..blend_data.item_lists import own_name
from ..objects.vertex_weights import set_weights
from ..scene_import.settings_in import SUFFIX, shader_settings
from ..scene_import.weights_in import group_weights, shader_shares
from . import defaults
from .painting import normalize_maps


def shader_named(name_full: str) -> Any | None:
    """Return the Blender material with this full name, which tells linked materials apart, or None."""
    return next((shader for shader in bpy.data.materials if shader.name_full == name_full), None)


def store(settings: Any, shader: Any) -> None:
    """Make a Blender material carry the values of a physical material."""
    shader.sinew.is_physical = True
    defaults.fill_matter(shader.sinew, settings)


def apply_shader(obj: Any, shader: Any, context: Any) -> Any:
    """Give a mesh object the physical values of a Blender material where its faces show it. Returns the physical
    material, which becomes the active one.

    The object becomes a body. Raises MaterialError, before anything is changed, if the Blender material carries no
    values or wrong ones, or if no face shows it.
    """
    if not shader.sinew.is_physical:
        raise MaterialError(
            f"The Blender material “{shader.name}” carries no physical values.",
            "Choose one of Sinew's asset library, or press Store in Blender Material under Physical Materials.",
        )
    settings = shader_settings(shader)
    shares, is_whole = shader_shares(obj, shader)
    if not shares.any():
        raise MaterialError(
            f"No face of “{obj.name}” shows the Blender material “{shader.name}”.",
            "Assign it to faces in Edit Mode first.",
        )
    if is_whole:
        material = _whole(obj)
    else:
        defaults.enable(obj, context)
        material = _part(obj, settings.name, shares)
    defaults.fill_material(material, settings)
    if not material.name:
        material.name = own_name(settings.name, {each.name for each in obj.sinew.materials})
    obj.sinew.active_material = list(obj.sinew.materials).index(material)
    return material


def _whole(obj: Any) -> Any:
    """Return the first physical material of a body. Its name is cleared unless the user chose it."""
    defaults.switch_on(obj)
    materials = obj.sinew.materials
    material = materials[0] if materials else materials.add()
    chosen = {SUFFIX.sub("", shader.name) for shader in bpy.data.materials if shader.sinew.is_physical}
    if material.name in chosen | {preset.name for preset in PRESETS}:
        material.name = ""
    return material


def _part(obj: Any, name: str, shares: np.ndarray) -> Any:
    """Return the physical material of the vertices with ``shares`` (n,), with an empty name if it had another one.

    It is the painted one of this name, or the one whose map has the same vertices, or a new one. The other maps lose
    the weights that it takes.
    """
    materials = obj.sinew.materials
    names = ["" if material.is_layer else material.vertex_group for material in materials]
    weights = group_weights(obj, obj.data, names).T
    painted = [k for k, each in enumerate(names) if each in obj.vertex_groups]
    named = [k for k in painted if materials[k].name == name]
    same = [k for k in painted if np.array_equal(weights[k] > 0.0, shares > 0.0)]
    if named:
        material, shares = materials[named[0]], np.maximum(shares, weights[named[0]])
    else:
        material = materials[same[0]] if same else materials.add()
        if same and material.vertex_group == material.name:
            obj.vertex_groups[material.name].name = name  # Blender makes it unique, and renames the map
        material.name = ""
    material.vertex_group = material.vertex_group or own_name(name, set(obj.vertex_groups.keys()))
    set_weights(obj, material.vertex_group, shares)
    obj.vertex_groups.active_index = obj.vertex_groups[material.vertex_group].index
    normalize_maps(obj)
    return material
