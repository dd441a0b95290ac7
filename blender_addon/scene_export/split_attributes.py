"""Copies of mesh attributes to a mesh made of parts of another."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

KINDS = {
    "FLOAT": ("value", 1, np.float32),
    "INT": ("value", 1, np.int32),
    "INT8": ("value", 1, np.int32),
    "BOOLEAN": ("value", 1, bool),
    "FLOAT_VECTOR": ("vector", 3, np.float32),
    "FLOAT2": ("vector", 2, np.float32),
    "FLOAT_COLOR": ("color", 4, np.float32),
    "BYTE_COLOR": ("color", 4, np.float32),
    "QUATERNION": ("value", 4, np.float32),
}
"""Property, width and type of the data of each kind of attribute. Other kinds are left out."""
MADE = {"position", "material_index", "custom_normal"}
"""Attributes that are written otherwise."""
OWN = "sinew_"
"""Prefix of attributes of a split mesh."""


class Sources(NamedTuple):
    """Elements of the original mesh from which the elements of a mesh are made.

    Attributes
    ----------
    points : (n,3), vertices; and their weights (n,3), 0 for new vertices
    corners : (l,3), face corners; and their weights (l,3)
    faces : (p,), polygons; -1 for new ones
    edges : (e,), edges; -1 for new ones
    """

    points: tuple[np.ndarray, np.ndarray]
    corners: tuple[np.ndarray, np.ndarray]
    faces: np.ndarray
    edges: np.ndarray


def copy_attributes(mesh: Any, new: Any, sources: Sources) -> None:
    """Copy the attributes of a mesh. Numbers are interpolated, whole numbers and switches are those nearest."""
    for attribute in mesh.attributes:
        name, kind, domain = attribute.name, attribute.data_type, attribute.domain
        if name.startswith((".", OWN)) or name in MADE or kind not in KINDS:
            continue
        prop, width, dtype = KINDS[kind]
        values = np.empty(len(attribute.data) * width, dtype=dtype)
        attribute.data.foreach_get(prop, values)
        values = values.reshape(-1, width)
        if domain in ("FACE", "EDGE"):
            index = sources.faces if domain == "FACE" else sources.edges
            found = np.where((index >= 0)[:, None], values[np.maximum(index, 0)], 0)
        else:
            index, weights = sources.points if domain == "POINT" else sources.corners
            if dtype is np.float32:
                found = np.einsum("kc,kcw->kw", weights, values[index].astype(np.float64))
            else:
                nearest = np.take_along_axis(index, weights.argmax(axis=1)[:, None], axis=1)[:, 0]
                found = np.where((weights.max(axis=1) > 0.0)[:, None], values[nearest], 0)
        fill_attribute(new, name, kind, domain, found)
    for layers in ("uv_layers",):
        getattr(new, layers).active_index = getattr(mesh, layers).active_index
        for before, after in zip(getattr(mesh, layers), getattr(new, layers)):
            after.active_render = before.active_render


def fill_attribute(mesh: Any, name: str, kind: str, domain: str, values: np.ndarray) -> None:
    """Write an attribute of a mesh, which is made if it is missing."""
    attribute = mesh.attributes.get(name) or mesh.attributes.new(name, kind, domain)
    prop, _width, dtype = KINDS[kind]
    attribute.data.foreach_set(prop, np.asarray(values, dtype=dtype).ravel())
