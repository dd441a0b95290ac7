"""Reader of .glb files that evaluates morph targets and skins by itself, as an engine does: JSON and NumPy alone."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

TYPES = {5121: np.uint8, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


class Glb:
    """A binary glTF file with one animation. ``json``: its description."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        magic, version, length, size = struct.unpack("<4sIII", data[:16])
        assert magic == b"glTF" and version == 2 and length == len(data)
        self.json: dict[str, Any] = json.loads(data[20 : 20 + size])
        self._bytes = data[28 + size :]
        (animation,) = self.json["animations"]
        self._tracks = {}
        for channel in animation["channels"]:
            sampler, target = animation["samplers"][channel["sampler"]], channel["target"]
            assert sampler.get("interpolation", "LINEAR") in ("LINEAR", "STEP")
            times, values = self.array(sampler["input"])[:, 0], self.array(sampler["output"])
            self._tracks[target["node"], target["path"]] = times, values.reshape(len(times), -1)

    def array(self, number: int) -> np.ndarray:
        """Return an accessor's elements, one a row."""
        accessor = self.json["accessors"][number]
        assert "sparse" not in accessor
        view, kind = self.json["bufferViews"][accessor["bufferView"]], TYPES[accessor["componentType"]]
        begin, width = view.get("byteOffset", 0) + accessor.get("byteOffset", 0), WIDTHS[accessor["type"]]
        count = accessor["count"] * width
        flat = np.frombuffer(self._bytes, kind, count, begin).astype(np.float64)
        return (flat / 255.0 if accessor.get("normalized") else flat).reshape(-1, width)

    def end(self) -> float:
        """Return the time of the last key, s."""
        return max(times[-1] for times, _ in self._tracks.values())

    def _at(self, node: int, path: str, time: float, default: Any) -> np.ndarray:
        rest = np.array(self.json["nodes"][node].get(path, default), dtype=float)
        if (node, path) not in self._tracks:
            return rest
        times, values = self._tracks[node, path]
        found = np.array([np.interp(time, times, column) for column in values.T])
        return found / np.linalg.norm(found) if path == "rotation" else found

    def _local(self, node: int, time: float) -> np.ndarray:
        if "matrix" in self.json["nodes"][node]:
            return np.array(self.json["nodes"][node]["matrix"]).reshape(4, 4).T
        x, y, z, w = self._at(node, "rotation", time, (0.0, 0.0, 0.0, 1.0))
        turn = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
        )
        whole = np.eye(4)
        whole[:3, :3] = turn * self._at(node, "scale", time, (1.0, 1.0, 1.0))
        whole[:3, 3] = self._at(node, "translation", time, (0.0, 0.0, 0.0))
        return whole

    def _world(self, node: int, time: float) -> np.ndarray:
        above = [k for k, each in enumerate(self.json["nodes"]) if node in each.get("children", ())]
        return (self._world(above[0], time) if above else np.eye(4)) @ self._local(node, time)

    def positions(self, name: str, time: float) -> np.ndarray:
        """Return the world positions of the vertices of the mesh node ``name`` at a time, s, with Blender's axes."""
        (number,) = [k for k, each in enumerate(self.json["nodes"]) if each.get("name") == name and "mesh" in each]
        node, found = self.json["nodes"][number], []
        mesh = self.json["meshes"][node["mesh"]]
        for primitive in mesh["primitives"]:
            points = self.array(primitive["attributes"]["POSITION"])
            targets = primitive.get("targets", ())
            weights = self._at(number, "weights", time, mesh.get("weights", [0.0] * len(targets)))
            assert len(weights) == len(targets)
            points = points + sum(w * self.array(target["POSITION"]) for w, target in zip(weights, targets))
            found.append(self._skinned(node, primitive, points, time) if "skin" in node else
                         points @ self._world(number, time)[:3, :3].T + self._world(number, time)[:3, 3])  # fmt: skip
        x, y, z = np.vstack(found).T
        return np.column_stack([x, -z, y])

    def _skinned(self, node: dict[str, Any], primitive: dict[str, Any], points: np.ndarray, time: float) -> np.ndarray:
        skin = self.json["skins"][node["skin"]]
        inverse = self.array(skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
        joints = np.array([self._world(k, time) for k in skin["joints"]]) @ inverse
        assert "JOINTS_1" not in primitive["attributes"]
        bones = self.array(primitive["attributes"]["JOINTS_0"]).astype(int)
        weights = self.array(primitive["attributes"]["WEIGHTS_0"])
        blended = np.einsum("nk,nkij->nij", weights, joints[bones])
        return np.einsum("nij,nj->ni", blended[:, :3, :3], points) + blended[:, :3, 3]
