"""Readers of surfaces in OBJ, STL and PLY: vertices and faces only.

A reader takes the bytes of a file. The result has three arrays: the positions (n,3), the number of corners of each face
(f,), and the vertex indices of all corners, face by face. A reader raises ValueError or LookupError if the file is
damaged or of another format.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from ...foundation.files.text_file import without_mark

Faces = tuple[np.ndarray, np.ndarray, np.ndarray]


def read_obj(data: bytes) -> Faces:
    """Return the vertices ``v`` and faces ``f`` of all objects in a Wavefront OBJ file.

    Indices in the file count vertices from 1, or backwards from the newest vertex if they are negative.
    """
    positions, counts, corners = [], [], []
    data = without_mark(data)
    if b"\0" in data:
        raise ValueError("it is not UTF-8 text, but perhaps UTF-16: save it as UTF-8")
    for line in data.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ").splitlines():
        key, *words = line.partition(b"#")[0].split() or [b""]
        if key == b"v":
            if len(words) < 3:
                raise ValueError(f"vertex {len(positions) + 1} has {len(words)} numbers, not 3")
            positions.append([float(word) for word in words[:3]])
        elif key == b"f":
            found = [int(word.partition(b"/")[0]) for word in words]
            if any(k == 0 or k < -len(positions) for k in found):
                raise ValueError(
                    f"face {len(counts) + 1} has a vertex index of 0, or a negative index beyond the first vertex"
                )
            counts.append(len(found))
            corners += [k - 1 if k > 0 else len(positions) + k for k in found]
    whole = np.array(positions, dtype=np.float64).reshape(-1, 3)
    return whole, np.array(counts, dtype=np.int64), np.array(corners, dtype=np.int64)


def read_stl(data: bytes) -> Faces:
    """Return the triangles of a binary or ASCII STL file.

    Corners with equal positions become one vertex. Vertices are in the order of their first appearance.
    """
    many = int.from_bytes(data[80:84], "little")
    text = without_mark(data) if len(data) != 84 + 50 * many else b""
    if text.lstrip()[:5].lower() == b"solid":
        text = text.replace(b"\r", b"\n")
        numbers = re.findall(rb"^\s*vertex\s+(\S+)\s+(\S+)\s+(\S+)", text, re.M | re.I)
        if not numbers or len(numbers) % 3 or not re.search(rb"^\s*endsolid", text, re.M | re.I):
            raise ValueError("it has no complete facets" if len(numbers) % 3 or not numbers else "its end is missing")
        points = np.array(numbers, dtype="S").astype(np.float64)
    else:
        if len(data) < 84 + 50 * many or len(data) < 84:
            raise ValueError(f"its header announces {many} triangles, but the file is too short for them")
        facet = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
        points = np.frombuffer(data, facet, many, 84)["corners"].reshape(-1, 3).astype(np.float64)
    _, first, index = np.unique(points, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return points[first[order]], np.full(len(points) // 3, 3), rank[index.ravel()]


def read_ply(data: bytes) -> Faces:
    """Return the vertices and faces of an ASCII or binary Stanford PLY file.

    The file must have ``x``, ``y``, ``z`` of the element ``vertex``, and ``vertex_indices`` or ``vertex_index`` of the
    element ``face``. All other data are ignored.
    """
    data = without_mark(data)
    header = re.match(rb"ply\s*?[\r\n](.*?[\r\n])end_header[ \t]*(?:\r?\n|\r)", data, re.S)
    if header is None:
        raise ValueError("its header has no end" if data[:3] == b"ply" else "it does not begin with ply")
    kind, elements = _ply_header(header[1].decode("latin-1"))
    body = data[header.end() :]
    source = _Words(body) if kind == "ascii" else _Bytes(body, kind)
    rows = {element.name: source.block(element) or _one_by_one(source, element) for element in elements}
    vertices, faces = rows.get("vertex", {}), rows.get("face", {})
    lists = faces.get("vertex_indices", faces.get("vertex_index"))
    if not {"x", "y", "z"} <= vertices.keys() or lists is None:
        raise ValueError("it has no vertices with x, y, z, or no faces with vertex_indices")
    counts, corners = lists
    return np.column_stack([vertices[axis][1] for axis in "xyz"]).astype(np.float64), counts, corners.astype(np.int64)


READERS = {".obj": read_obj, ".stl": read_stl, ".ply": read_ply}
"""Reader of each file extension, in lower case."""


# -- PLY --------------------------------------------------------------------------------------------------------------

_TYPES = {
    name: code
    for code, names in {
        "i1": "char int8", "u1": "uchar uint8", "i2": "short int16", "u2": "ushort uint16",
        "i4": "int int32", "u4": "uint uint32", "f4": "float float32", "f8": "double float64",
    }.items()
    for name in names.split()
}  # fmt: skip


@dataclass
class _Element:
    """Element in a PLY header, with ``count`` rows of ``properties``.

    Each property has three items: its name, the NumPy type of its numbers, and the NumPy type of a list's length. The
    last item is None if the property is not a list.
    """

    name: str
    count: int
    properties: list[tuple[str, str, str | None]] = field(default_factory=list)


def _ply_header(text: str) -> tuple[str, list[_Element]]:
    """Return the format (``ascii``, or the byte order ``<`` or ``>``) and the elements of a PLY header."""
    kind, elements = "", []
    for line in text.splitlines():
        match line.split():
            case ["format", word, "1.0"]:
                kind = {"ascii": "ascii", "binary_little_endian": "<", "binary_big_endian": ">"}.get(word, "")
            case ["element", name, count]:
                elements.append(_Element(name, int(count)))
            case ["property", "list", length, number, name]:
                elements[-1].properties.append((name, _TYPES[number], _TYPES[length]))
            case ["property", number, name]:
                elements[-1].properties.append((name, _TYPES[number], None))
            case [word, *_] if word not in ("comment", "obj_info"):
                raise ValueError(f"its header has a line “{line.strip()[:60]}”")
    if not kind or any(element.count < 0 or not element.properties for element in elements):
        raise ValueError("its header has an unknown format, a negative count, or an element without properties")
    return kind, elements


# Rows of an element: per property, the number of values in each row (count,), and all values.
_Rows = dict[str, tuple[np.ndarray, np.ndarray]]


class _Words:
    """Reader of numbers in sequence from the body of an ASCII PLY file."""

    def __init__(self, body: bytes) -> None:
        self._words = np.fromiter(map(float, body.split()), np.float64)
        self._at = 0

    def take(self, _number: str, many: int) -> np.ndarray:
        """Return the next ``many`` numbers of the file, as float64. The NumPy type ``_number`` is ignored."""
        found = self._words[self._at : self._at + many]
        if len(found) < many:
            raise ValueError("it ends before its last element is complete")
        self._at += many
        return found

    def block(self, element: _Element) -> _Rows | None:
        """Return all rows of an element of a PLY file, or None for an element with lists."""
        if any(length for _, _, length in element.properties):
            return None
        width = len(element.properties)
        block = self.take("", element.count * width).reshape(element.count, width)
        ones = np.ones(element.count, dtype=np.int64)
        return {name: (ones, block[:, k]) for k, (name, _, _) in enumerate(element.properties)}


class _Bytes:
    """Reader of numbers in sequence from the body of a binary PLY file."""

    def __init__(self, body: bytes, order: str) -> None:
        self._body, self._order, self._at = body, order, 0

    def take(self, number: str, many: int) -> np.ndarray:
        """Return the next ``many`` numbers of the file. ``number`` is their NumPy type, such as ``f4``."""
        found = np.frombuffer(self._body, self._order + number, many, self._at) if many else np.empty(0)
        self._at += found.nbytes
        return found

    def block(self, element: _Element) -> _Rows | None:
        """Return all rows of an element of a PLY file, or None for lists of different lengths or missing rows."""
        if element.count == 0:
            return {name: (np.empty(0, int), np.empty(0)) for name, _, _ in element.properties}
        start, parts, lengths = self._at, [], {}
        for name, number, length in element.properties:
            if length:
                lengths[name] = int(self.take(length, 1)[0])
                parts.append((f"length of {name}", self._order + length))
            self.take(number, lengths.get(name, 1))
            parts.append((name, self._order + number, (lengths.get(name, 1),)))
        self._at = start
        row = np.dtype(parts)
        if row.itemsize * element.count > len(self._body) - start:
            return None
        block = np.frombuffer(self._body, row, element.count, start)
        if any((block[f"length of {name}"] != many).any() for name, many in lengths.items()):
            return None
        self._at += block.nbytes
        return {
            name: (np.full(element.count, lengths.get(name, 1)), block[name].ravel())
            for name, _, _ in element.properties
        }


def _one_by_one(source: _Words | _Bytes, element: _Element) -> _Rows:
    """Return all rows of an element of a PLY file, read number by number. Lists may differ in length."""
    counts, values = ({name: [] for name, _, _ in element.properties} for _ in range(2))
    for _ in range(element.count):
        for name, number, length in element.properties:
            many = int(source.take(length, 1)[0]) if length else 1
            if many < 0:
                raise ValueError("the length of a list is negative")
            counts[name].append(many)
            values[name].append(source.take(number, many))
    return {
        name: (np.array(counts[name], dtype=np.int64), np.concatenate([*values[name], np.empty(0)])) for name in counts
    }
