"""Normals of morph targets in a glTF file, replaced by those that blend to the normals of the frames.

Blender's exporter writes the normals of each target's own shape. Blended, they would be off by tens of degrees.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from ....core.geometry.animation.normal_targets import normal_targets

TYPES = {5121: np.uint8, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
WIDTHS = {"SCALAR": 1, "VEC3": 3}
DIGITS = 6
"""Decimal digits, relative to the size, to which vertices with the same position and normal agree."""


def fit_normals(path: Path) -> None:
    """Replace the normals of the morph targets in a file that Blender's exporter has just written."""
    content = bytearray(path.read_bytes())
    begin, binary = 0, path
    if path.suffix == ".glb":
        (length,) = struct.unpack_from("<I", content, 12)
        description, begin = json.loads(content[20 : 20 + length]), 28 + length
    else:
        description = json.loads(content)
        binary = path.with_name(unquote(description["buffers"][0]["uri"]))
        content = bytearray(binary.read_bytes())
    file = _File(description, content, begin)
    for node, weights in file.weights().items():
        _fit_mesh(file, description["meshes"][description["nodes"][node]["mesh"]], weights)
    binary.write_bytes(content)


class _File:
    """Accessors of a glTF file, as arrays that share its bytes."""

    def __init__(self, description: dict[str, Any], content: bytearray, begin: int) -> None:
        self._description, self._content, self._begin = description, content, begin

    def array(self, number: int) -> np.ndarray:
        """Return an accessor, one element a row."""
        accessor = self._description["accessors"][number]
        view = self._description["bufferViews"][accessor["bufferView"]]
        offset = self._begin + view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        width = WIDTHS[accessor["type"]]
        kind = TYPES[accessor["componentType"]]
        return np.frombuffer(self._content, kind, accessor["count"] * width, offset).reshape(-1, width)

    def weights(self) -> dict[int, np.ndarray]:
        """Return the weights (f,k) of the targets at each key, by node."""
        found = {}
        for animation in self._description.get("animations", ()):
            for channel in animation["channels"]:
                if channel["target"]["path"] == "weights":
                    sampler = animation["samplers"][channel["sampler"]]
                    frames = len(self.array(sampler["input"]))
                    found[channel["target"]["node"]] = self.array(sampler["output"]).reshape(frames, -1)
        return found


def _fit_mesh(file: _File, mesh: dict[str, Any], weights: np.ndarray) -> None:
    primitives = [each for each in mesh["primitives"] if all("NORMAL" in target for target in each["targets"])]
    if not primitives:
        return
    points = [file.array(each["attributes"]["POSITION"]) for each in primitives]
    begins = np.cumsum([0, *map(len, points)])
    whole = np.vstack(points).astype(np.float64)
    normals = np.vstack([file.array(each["attributes"]["NORMAL"]) for each in primitives])
    displaced = range(weights.shape[1])
    targets = np.array(
        [np.vstack([file.array(each["targets"][k]["POSITION"]) for each in primitives]) for k in displaced], np.float64
    )
    corners = [file.array(each["indices"])[:, 0] + begin for each, begin in zip(primitives, begins)]
    # Files split vertices at the seams of UV maps and materials, and at sharp edges: these alone split normals.
    keys = np.round(np.hstack([whole / np.ptp(whole, axis=0).max(), normals]), DIGITS)
    _, first, same = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    same = same.ravel()
    triangles = same[np.concatenate(corners).astype(np.int64)].reshape(-1, 3)
    fitted = normal_targets(whole[first], targets[:, first], weights.astype(np.float64), triangles)[:, same]
    for each, begin, end in zip(primitives, begins, begins[1:]):
        for k in displaced:
            file.array(each["targets"][k]["NORMAL"])[:] = fitted[k, begin:end]
