"""Surfaces from OBJ, STL and PLY, read without meshio, against what meshio makes of the same files."""

from __future__ import annotations

import struct
import sys

import numpy as np
import pytest
from sinew.core.foundation.errors import MeshError
from sinew.core.geometry.mesh.polygons import triangulate
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.jobs.scene_files.surface_file import read_surface, read_tets

from ..jobs import box_surface

# A box of quadrilaterals, one corner of which is cut off: faces of three, four and five corners.
CORNERS = np.array(
    [[0, 0, 0], [2, 0, 0], [2, 1, 0], [0, 1, 0], [0, 0, 1], [2, 0, 1], [0, 1, 1], [2, 0.5, 1], [1.5, 1, 1], [2, 1, 0.5]]
)
FACES = [[0, 3, 2, 1], [0, 1, 5, 4], [0, 4, 6, 3], [1, 2, 9, 7, 5], [2, 3, 6, 8, 9], [4, 5, 7, 8, 6], [7, 9, 8]]
VOLUME = 2.0 - 0.5**3 / 6.0


def volume(surface):
    a, b, c = (surface.positions[surface.triangles[:, k]] for k in range(3))
    return float(np.einsum("ti,ti->", a, np.cross(b, c)) / 6.0)


def ply(kind, faces=FACES, extra=True):
    """A PLY with colours, an element before the faces, and a list beside theirs."""
    order = {"binary_little_endian": "<", "binary_big_endian": ">"}.get(kind)
    header = f"""ply\nformat {kind} 1.0\ncomment made by hand\nelement vertex {len(CORNERS)}
property double x\nproperty uchar red\nproperty float y\nproperty float z\n"""
    header += "element odd 2\nproperty list uchar short a\nproperty int b\n" if extra else ""
    header += f"element face {len(faces)}\nproperty list uchar uint vertex_indices\nproperty uchar flag\nend_header\n"
    if order is None:
        rows = [f"{x} 255 {y} {z}" for x, y, z in CORNERS] + (["2 7 8 9", "0 1"] if extra else [])
        return (header + "\n".join(rows + [" ".join(map(str, [len(f), *f, 1])) for f in faces]) + "\n").encode()
    body = b"".join(struct.pack(f"{order}dBff", x, 255, y, z) for x, y, z in CORNERS)
    body += struct.pack(f"{order}BhhiBi", 2, 7, 8, 9, 0, 1) if extra else b""
    return header.encode() + body + b"".join(struct.pack(f"{order}B{len(f)}IB", len(f), *f, 1) for f in faces)


def obj():
    """An OBJ with normals, a continued line, a comment, and half of its faces counted from the end."""
    lines = [f"v {x} {y} {z} 0.5 0.5 0.5" for x, y, z in CORNERS]
    for k, face in enumerate(FACES):
        lines.append("f " + " \\\n".join(f"{v - len(CORNERS)}" if k % 2 else f"{v + 1}/1/2" for v in face))
    return "\r\n".join(["# not UTF-8: ä", "mtllib a.mtl", *lines, "l 1 2"]).encode("latin-1")


KINDS = ("ascii", "binary_little_endian", "binary_big_endian")


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.OBJ", obj()), *[("a.ply", ply(kind)) for kind in KINDS]]
    + [("a.ply", ply(kind).replace(b"vertex_indices", b"vertex_index")) for kind in KINDS]
    + [("a.ply", ply(kind).replace(b"1.0\n", b"1.0\r\n").replace(b"_header\n", b"_header\r\n")) for kind in KINDS],
)
def test_every_vertex_and_face_is_read_without_meshio(tmp_path, monkeypatch, name, content):
    monkeypatch.setitem(sys.modules, "meshio", None)
    (tmp_path / name).write_bytes(content)
    surface = read_surface(str(tmp_path / name))
    assert np.array_equal(surface.positions, CORNERS)
    assert surface.triangles.tolist() == SurfaceMesh.of_faces(CORNERS, FACES).triangles.tolist()
    assert len(surface.triangles) == sum(len(face) - 2 for face in FACES)
    assert volume(surface) == pytest.approx(VOLUME, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.obj", {}),
        ("a.stl", {"binary": False}),
        ("a.stl", {"binary": True}),
        ("a.ply", {"binary": False}),
        ("a.ply", {"binary": True}),
    ],
)
def test_what_meshio_writes_is_read_as_meshio_reads_it(tmp_path, name, options):
    meshio = pytest.importorskip("meshio")
    box = box_surface()
    path = tmp_path / name
    meshio.write(path, meshio.Mesh(box.positions, [("triangle", box.triangles)]), **options)
    ours, theirs = read_surface(path), meshio.read(path)
    corners = np.asarray(theirs.points)[theirs.cells_dict["triangle"]]
    assert np.allclose(ours.positions[ours.triangles], corners, atol=1e-12, rtol=0.0)
    assert len(ours.positions) == len(box.positions), "corners at one place are one vertex"
    assert volume(ours) == pytest.approx(volume(box), rel=1e-6)


@pytest.mark.parametrize(("name", "content"), [("a.obj", obj()), *[("a.ply", ply(kind)) for kind in KINDS]])
def test_a_torn_file_is_refused_wherever_it_ends(tmp_path, name, content):
    """An OBJ may end anywhere after its first face: nothing in it tells."""
    path = tmp_path / name
    for end in range(0, len(content) - 2, 7):
        path.write_bytes(content[:end])
        try:
            surface = read_surface(path)
        except MeshError as error:
            assert error.remedy and name in error.message
        else:
            assert name == "a.obj" and len(surface.triangles) <= 16
    path.write_bytes(content.replace(b"element face 7", b"element face 99999999999"))
    if name == "a.ply":
        with pytest.raises(MeshError, match=r"a\.ply"):
            read_surface(path)


def test_a_torn_stl_is_refused(tmp_path):
    path = tmp_path / "a.stl"
    facet = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
    text = f"solid a\n{facet}endsolid a\n".encode()
    binary = bytes(80) + struct.pack("<I12fH", 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0)
    for whole in (text, binary, b"solid as some write it" + binary[22:]):
        path.write_bytes(whole)
        assert read_surface(path).area == 0.5
        for end in (0, 3, 83, len(whole) // 2, len(whole) - 12):
            path.write_bytes(whole[:end])
            with pytest.raises(MeshError, match=r"a\.stl"):
                read_surface(path)


@pytest.mark.parametrize("turned", [np.eye(3), np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]]), np.diag([-1.0, 1, -1])])
@pytest.mark.parametrize("first", range(8))
def test_faces_that_are_not_convex_are_covered_once(turned, first):
    """A fan around most corners of this comb would fold over itself."""
    comb = np.array([[0, 0], [6, 0], [6, 3], [5, 1], [4, 3], [3, 1], [2, 3], [0, 1]], dtype=float)
    around = np.roll(np.arange(8), first)
    positions = np.column_stack([comb, np.zeros(8)]) @ turned
    x, y = comb.T
    area = 0.5 * np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))
    surface = SurfaceMesh(positions, triangulate(positions, np.array([8]), around))
    assert len(surface.triangles) == 6 and surface.area == pytest.approx(area, rel=1e-12)
    a, b, c = (positions[surface.triangles[:, k]] for k in range(3))
    assert (np.cross(b - a, c - a) @ turned[2] >= 0.0).all()


def test_quads_are_not_taken_for_triangles():
    quads = np.array([face for face in FACES if len(face) == 4])
    with pytest.raises(MeshError, match=r"shape \(3, 4\).* Surface\.of_faces"):
        SurfaceMesh(CORNERS, quads)
    assert len(SurfaceMesh.of_faces(CORNERS, quads).triangles) == 6
    for positions, triangles in (
        (CORNERS[:, :2], [[0, 1, 2]]),
        (CORNERS, [[0.0, 1.0, 2.0]]),
        (CORNERS, [[0, 1, 2**32]]),
    ):
        with pytest.raises(MeshError) as raised:
            SurfaceMesh(positions, np.array(triangles))
        assert raised.value.remedy
    with pytest.raises(MeshError, match="does not exist"):
        SurfaceMesh.of_faces(CORNERS, [[0, 1, 10]])


MARKED = [
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
    (b"\xff\xfe\0\0", "utf-32-le"),
]
STL = (
    "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n"
)
OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


@pytest.mark.parametrize(("mark", "encoding"), MARKED)
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(("name", "text"), [("a.obj", OBJ), ("a.stl", STL), ("a.ply", ply("ascii").decode("latin-1"))])
def test_other_editors_text_is_read_as_without_their_mark(tmp_path, name, text, mark, encoding, ends):
    (tmp_path / name).write_bytes(text.encode())
    plain = read_surface(tmp_path / name)
    (tmp_path / name).write_bytes(mark + text.replace("\n", ends).encode(encoding))
    found = read_surface(tmp_path / name)
    assert np.array_equal(found.positions, plain.positions) and np.array_equal(found.triangles, plain.triangles)


def test_utf_16_without_a_mark_is_named(tmp_path):
    (tmp_path / "a.obj").write_bytes(OBJ.encode("utf-16-le"))
    with pytest.raises(MeshError, match="UTF-16"):
        read_surface(tmp_path / "a.obj")


@pytest.mark.parametrize("marked", ["a.node", "a.ele"])
def test_a_mark_that_meshio_would_misread_is_refused(tmp_path, marked):
    pytest.importorskip("meshio")
    corners, tets = "4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n", "1 4 0\n0 0 1 2 3\n"
    for name, text in (("a.node", corners), ("a.ele", tets)):
        (tmp_path / name).write_text(text, encoding="utf-8-sig" if name == marked else "utf-8")
    with pytest.raises(MeshError, match=f"{marked} begins with a byte order mark"):
        read_tets(tmp_path / "a.ele")
    (tmp_path / marked).write_text(corners if marked == "a.node" else tets, encoding="utf-8")
    assert len(read_tets(tmp_path / "a.ele")[1]) == 1
