"""Split surfaces: closed pieces that add up, coincident seams, and the frames in which a cutter passes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import sinew as sw
from scipy.spatial.transform import Rotation
from sinew.core.foundation.errors import CutError, MeshError
from sinew.core.geometry.mesh.nearest_point import NearestPointSearch
from sinew.core.geometry.mesh.surface_mesh import signed_volume

from ..surfaces import box, joined, sphere

TURN = Rotation.from_rotvec([0.3, -0.5, 0.8]).as_matrix()
FRAMES = np.arange(1.0, 11.0)
SPEED = 0.15


def torus(radius: float = 1.0, thickness: float = 0.3, around: int = 32, across: int = 12) -> sw.Surface:
    """A torus about the z axis."""
    u, v = np.meshgrid(2 * np.pi * np.arange(around) / around, 2 * np.pi * np.arange(across) / across, indexing="ij")
    ring = radius + thickness * np.cos(v)
    points = np.stack([ring * np.cos(u), ring * np.sin(u), thickness * np.sin(v)], axis=-1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    corner = [((i + a) % around) * across + (j + b) % across for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
    return sw.Surface.of_faces(points, np.stack(corner, axis=-1).reshape(-1, 4))


def knife(y: float = 0.45, lowest: float = -0.15, height: float = 0.5, name: str = "Knife") -> sw.Cutter:
    """A blade in a plane y, whose edge moves down to ``lowest`` at SPEED a frame."""
    blade = np.array([(-5, y, 0), (5, y, 0), (5, y, height), (-5, y, height)], dtype=float)
    edge = lowest + SPEED * (FRAMES[-1] - FRAMES)
    return sw.Cutter(name, blade + edge[:, None, None] * (0, 0, 1), [(0, 1, 2), (0, 2, 3)], (), FRAMES)


def placed(cutter: sw.Cutter, matrix: np.ndarray, offset: np.ndarray) -> sw.Cutter:
    return sw.Cutter(cutter.name, cutter.positions @ matrix.T + offset, cutter.triangles, cutter.edges, cutter.frames)


def volumes(split: sw.SplitSurface) -> np.ndarray:
    T = split.surface.triangles
    of_face = split.pieces[T[:, 0]]
    return np.array([signed_volume(split.surface.positions, T[of_face == k]) for k in range(split.count)])


def assert_sound(split: sw.SplitSurface, whole: float) -> None:
    """Every piece is closed and of its own vertices, both sides of a seam coincide, and the outside is unchanged."""
    X, T = split.surface.positions, split.surface.triangles
    assert (np.ptp(split.pieces[T], axis=1) == 0).all()
    sides = np.concatenate([np.roll(T, -k, axis=1)[:, :2] for k in range(3)])
    forth, count = np.unique(sides, axis=0, return_counts=True)
    assert (count == 1).all() and set(map(tuple, forth)) == set(map(tuple, forth[:, ::-1]))
    assert volumes(split).sum() == pytest.approx(whole, rel=1e-6)
    assert (volumes(split) > 0.0).all()

    seam = [tuple(map(tuple, X[triangle])) for triangle in T[split.seam_faces]]
    turns = {turned for a, b, c in seam for turned in ((a, b, c), (b, c, a), (c, a, b))}
    assert all((c, b, a) in turns for a, b, c in seam)
    on_seam = np.isin(np.arange(len(X)), T[split.seam_faces])
    assert np.isinf(split.cut_frames[~on_seam]).all() and np.isinf(split.tear_stress[~on_seam]).all()

    outer, size = split.source >= 0, split.original.size
    corners = split.original.positions[split.original.triangles[split.source[outer]]]
    np.testing.assert_allclose(
        np.einsum("tcd,tdi->tci", split.weights[outer], corners), X[T[outer]], rtol=0, atol=3e-6 * size
    )
    used = split.original.positions[split.original.used]
    away = NearestPointSearch(X, T[~split.seam_faces]).nearest(used).points - used
    assert np.abs(away).max() <= 3e-6 * size


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_a_knife_cuts_a_box_at_constant_speed(scale):
    matrix, offset = scale * TURN, scale * np.array([7.0, -3.0, 2.0])
    cube = box()
    body = sw.Surface(cube.positions @ matrix.T + offset, cube.triangles)
    split = sw.split_surface(body, placed(knife(), matrix, offset), edge_length=0.1 * scale)
    assert split.count == 2 and split.missed == () and split.slivers == 0
    assert_sound(split, scale**3)
    np.testing.assert_allclose(np.sort(volumes(split)), [0.45 * scale**3, 0.55 * scale**3], rtol=1e-6)
    at_seam = np.unique(split.surface.triangles[split.seam_faces])
    height = ((split.surface.positions[at_seam] - offset) @ TURN)[:, 2] / scale
    np.testing.assert_allclose(split.cut_frames[at_seam], FRAMES[-1] - (height + 0.15) / SPEED, atol=5e-3)


def test_a_knife_that_stops_leaves_the_rest_glued():
    split = sw.split_surface(torus(), knife(y=0.9, lowest=0.1, height=3.0))
    assert_sound(split, signed_volume(torus().positions, torus().triangles))
    at_seam = np.unique(split.surface.triangles[split.seam_faces])
    height = split.surface.positions[at_seam, 2]
    assert np.isfinite(split.cut_frames[at_seam])[height > 0.1].all()
    assert np.isinf(split.cut_frames[at_seam])[height < 0.08].all()


def test_a_knife_through_a_torus_frees_two_halves():
    split = sw.split_surface(torus(), knife(y=0.1, lowest=-0.6))
    assert split.count == 2
    assert_sound(split, signed_volume(torus().positions, torus().triangles))
    assert np.isfinite(split.cut_frames[np.unique(split.surface.triangles[split.seam_faces])]).all()


def test_a_cutter_that_turns_frees_only_what_it_passes():
    """The extension of a blade that stops in one side of a ring also splits the other side, which stays glued."""
    short = np.array([(0.5, 0, 0), (1.5, 0, 0), (1.5, 0, 1), (0.5, 0, 1)], dtype=float)
    moving = short + (0.05 + 0.4 * np.cos(np.linspace(0.0, np.pi, 10)) - 0.1)[:, None, None] * (0, 0, 1)
    split = sw.split_surface(torus(), sw.Cutter("Short", moving, [(0, 1, 2), (0, 2, 3)], (), FRAMES))
    assert_sound(split, signed_volume(torus().positions, torus().triangles))
    at_seam = np.unique(split.surface.triangles[split.seam_faces])
    X = split.surface.positions[at_seam]
    assert np.isfinite(split.cut_frames[at_seam])[X[:, 0] > 0.6].all()
    assert np.isinf(split.cut_frames[at_seam])[X[:, 0] < 0.4].all()


def test_a_saw_counts_its_first_pass():
    down = knife(height=3.0)
    there_and_back = np.concatenate([down.positions, down.positions[-2::-1]])
    saw = sw.Cutter("Saw", there_and_back, down.triangles, (), np.arange(1.0, len(there_and_back) + 1.0))
    one, both = (sw.split_surface(box(), each, edge_length=0.1) for each in (down, saw))
    np.testing.assert_array_equal(one.surface.positions, both.surface.positions)
    np.testing.assert_allclose(one.cut_frames, both.cut_frames, atol=1e-9)


def test_a_wire_cuts_along_its_curved_path():
    u, t = np.linspace(-2.0, 2.0, 9), np.linspace(0.0, 1.0, 21)
    path = np.stack([0.0 * t, 0.3 * np.sin(4.0 * t), 1.2 - 2.4 * t], axis=1)
    wire = np.stack([u, 0.0 * u, 0.0 * u], axis=1) + path[:, None]
    edges = np.array([(k, k + 1) if k % 2 else (k + 1, k) for k in range(8)])
    split = sw.split_surface(sphere(4), sw.Cutter("Wire", wire, (), edges, np.arange(1.0, 22.0)))
    assert split.count == 2
    assert_sound(split, signed_volume(sphere(4).positions, sphere(4).triangles))
    seam = np.unique(split.surface.triangles[split.seam_faces])
    X = split.surface.positions[seam]
    time = (1.2 - X[:, 2]) / 2.4
    np.testing.assert_allclose(X[:, 1], 0.3 * np.sin(4.0 * time), atol=0.02)
    np.testing.assert_allclose(split.cut_frames[seam], 1.0 + 20.0 * time, atol=0.3)


def test_a_closed_knife_is_a_flat_blade():
    """Turned, in 32 bits: its narrow sides are round-off on its plane."""
    blade = box((4.0, 0.02, 0.6)).positions + (-2.0, 0.49, 0.0)
    drop = np.linspace(1.1, -0.2, 10)[:, None, None] * np.array([0, 0, 1.0])
    knife = placed(sw.Cutter("Knife", blade + drop, box().triangles, (), FRAMES), TURN, np.zeros(3))
    knife = sw.Cutter("Knife", knife.positions.astype(np.float32), knife.triangles, (), FRAMES)
    split = sw.split_surface(sw.Surface(box().positions @ TURN.T, box().triangles), knife)
    assert split.count == 2
    np.testing.assert_allclose(volumes(split), [0.5, 0.5], rtol=1e-6)
    seam = np.unique(split.surface.triangles[split.seam_faces])
    time = 1.0 + 9.0 * (1.1 - (split.surface.positions[seam] @ TURN)[:, 2]) / 1.3
    np.testing.assert_allclose(split.cut_frames[seam], time, atol=0.01)


def test_a_still_closed_cutter_cuts_out_its_inside():
    ball = sphere(4, radius=0.4, centre=(0.5, 0.5, 0.9))
    split = sw.split_surface(box(), sw.Cutter("Ball", ball.positions[None], ball.triangles), edge_length=0.05)
    assert split.count == 2
    assert_sound(split, 1.0)
    cap = np.pi * 0.4**2 * (2 * 0.4 / 3 + 0.1 - 0.1**3 / (3 * 0.4**2))  # of the ball, below the top of the box
    assert min(volumes(split)) == pytest.approx(cap, rel=0.02)
    assert set(split.cut_frames) == {1.0, np.inf}


def test_two_cutters_make_four_pieces_and_one_that_misses_is_named():
    turned = placed(knife(), np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]]), np.array([1.0, 0.0, 0.0]))
    split = sw.split_surface(box(), (knife(), knife(y=4.0, name="Beside"), turned), edge_length=0.08)
    assert split.count == 4 and split.missed == (1,)
    assert_sound(split, 1.0)
    sides = [0.45, 0.55]
    np.testing.assert_allclose(np.sort(volumes(split)), np.sort(np.outer(sides, sides).ravel()), rtol=1e-6)


@pytest.mark.parametrize(
    ("surface", "count"),
    [(box(), 7), (sphere(3), 2), (torus(), 7), (torus(), 40)],
    ids=["box-7", "sphere-2", "torus-7", "torus-40"],
)
def test_fragments_fill_the_body(surface, count):
    split = sw.split_surface(surface, fragments=count, tear_stress=2e4, seed=3)
    assert_sound(split, signed_volume(surface.positions, surface.triangles))
    assert split.count + split.slivers >= count  # a concave body may lose a fragment's contact with itself
    seam = np.unique(split.surface.triangles[split.seam_faces])
    assert (split.tear_stress[seam] == 2e4).all() and np.isinf(split.cut_frames).all()


def test_a_painted_seam_runs_where_the_weight_is_half():
    body = sphere(4)
    weights = np.clip(0.5 + 2.0 * (body.positions[:, 0] - 0.2 * body.positions[:, 1]), 0.0, 1.0)
    split = sw.split_surface(body, painted=weights, tear_stress=5e3)
    assert split.count == 2
    assert_sound(split, signed_volume(body.positions, body.triangles))
    seam = split.surface.positions[np.unique(split.surface.triangles[split.seam_faces])]
    assert np.abs(seam[:, 0] - 0.2 * seam[:, 1]).max() < 0.06


def test_cutter_and_fragments_work_together():
    split = sw.split_surface(box(), knife(y=0.52), fragments=6, tear_stress=1e4, edge_length=0.08)
    assert_sound(split, 1.0)
    assert np.isfinite(split.cut_frames).any() and np.isfinite(split.tear_stress).any()


def test_the_same_input_gives_the_same_bits():
    one, two = (sw.split_surface(torus(), knife(y=0.1, lowest=-0.6), fragments=5) for _ in range(2))
    np.testing.assert_array_equal(one.surface.positions, two.surface.positions)
    np.testing.assert_array_equal(one.surface.triangles, two.surface.triangles)
    np.testing.assert_array_equal(one.cut_frames, two.cut_frames)


def test_a_sliver_joins_its_neighbour():
    """Two parallel knives 0.4 mm apart in a box of 1 m."""
    split = sw.split_surface(box(), (knife(y=0.5), knife(y=0.5004)), edge_length=0.1)
    assert split.count == 2 and split.slivers == 1
    assert_sound(split, 1.0)


def test_a_knife_in_the_face_of_a_box_leaves_it_whole():
    with pytest.raises(CutError, match="one piece"):
        sw.split_surface(box(), knife(y=1.0), edge_length=0.1)


def test_a_knife_through_edges_and_vertices_is_robust():
    """Planes through the vertices, the edges and the diagonals of a subdivided box."""
    steps = np.linspace(0.0, 1.0, 5)
    points = np.array([p for p in itertools.product(steps, steps, steps) if 0.0 in p or 1.0 in p])
    index = {tuple(p): k for k, p in enumerate(points)}
    faces = []
    for axis in range(3):
        for end, (i, j) in itertools.product((0.0, 1.0), itertools.product(range(4), range(4))):
            quad = []
            for a, b in ((0, 0), (1, 0), (1, 1), (0, 1)):
                p = [steps[i + a], steps[j + b]]
                p.insert(axis, end)
                quad.append(index[tuple(p)])
            faces.append(quad if (end == 1.0) == (axis != 1) else quad[::-1])
    body = sw.Surface.of_faces(points, faces)
    for y in (0.25, 0.5):
        split = sw.split_surface(body, knife(y=y), edge_length=0.125)
        assert split.count == 2
        assert_sound(split, 1.0)
    diagonal = np.array([[1, 0, 0], [0, 1, 1], [0, 0, 1.0]])
    split = sw.split_surface(body, placed(knife(y=0.0, lowest=-2.0, height=4.0), diagonal, np.zeros(3)))
    assert_sound(split, 1.0)


def test_overlapping_parts_stay_together():
    body = joined(sphere(3), sphere(3, radius=0.3, centre=(0.0, 0.9, 0.0)))
    split = sw.split_surface(body, placed(knife(y=0.0, lowest=-1.5), np.eye(3), np.array([0.0, 0.1, 0.0])))
    assert split.count == 2


def test_a_hollow_stays_with_its_wall():
    inner = sphere(3, radius=0.3, centre=(0.0, 0.5, 0.0))
    body = joined(sphere(3), sw.Surface(inner.positions, inner.triangles[:, ::-1]))
    split = sw.split_surface(body, knife(y=0.0, lowest=-1.5))
    assert split.count == 2
    assert_sound(split, signed_volume(body.positions, body.triangles))


def test_an_open_body_is_closed_first():
    whole = sphere(4)
    body = sw.Surface(whole.positions, whole.triangles[whole.positions[whole.triangles][:, :, 2].min(axis=1) < 0.8])
    split = sw.split_surface(body, knife(y=0.1, lowest=-1.5))
    assert split.count == 2
    assert (volumes(split) > 0.0).all()
    assert ((split.source < 0) & ~split.seam_faces).any()


def test_values_follow_the_vertices():
    body = torus()
    split = sw.split_surface(body, knife(y=0.1, lowest=-0.6))
    outer = np.unique(split.surface.triangles[split.source >= 0])
    found = split.values(body.positions)
    np.testing.assert_allclose(found[outer], split.surface.positions[outer], atol=1e-5)
    assert np.abs(found - split.surface.positions).max() < 0.1
    inner = np.setdiff1d(np.arange(len(split.pieces)), outer)
    assert len(inner) and not split.values(body.positions, inside=False)[inner].any()


@pytest.mark.parametrize(
    ("error", "words", "options"),
    [
        (CutError, "one piece", {"cutters": knife(y=4.0)}),
        (CutError, "one piece", {"painted": np.ones(8)}),
        (CutError, "one piece", {"cutters": sw.Cutter("Around", 9.0 * box().positions[None] - 4.0, box().triangles)}),
        (CutError, "Nothing splits", {}),
        (CutError, "out of range", {"fragments": 1}),
        (CutError, "out of range", {"fragments": 3, "tear_stress": 0.0}),
        (CutError, "too many", {"fragments": 3, "edge_length": 1e-4}),
        (CutError, "volume", {"cutters": placed(knife(), np.array([[1, 0, 0], [0, 0, 1], [0, 1, 0.0]]), np.ones(3))}),
    ],
)
def test_bad_input_is_named_with_a_remedy(error, words, options):
    if words == "volume":  # a blade that moves along its normal
        along = knife().positions[:1] + np.linspace(0.0, 1.0, 10)[:, None, None] * (0, 1, 0)
        options = {"cutters": sw.Cutter("Wall", along, [(0, 1, 2), (0, 2, 3)], (), FRAMES)}
    with pytest.raises(error, match=words) as caught:
        sw.split_surface(box(), **options)
    assert caught.value.remedy


def test_bad_bodies_and_cutters_are_named():
    ball = sphere(2)
    moving = ball.positions + np.linspace(0.0, 1.0, 10)[:, None, None]
    with pytest.raises(CutError, match="thick"):
        sw.split_surface(box(), sw.Cutter("Ball", moving, ball.triangles, (), FRAMES))
    with pytest.raises(CutError, match="sweeps no surface"):
        sw.split_surface(box(), sw.Cutter("Wire", np.eye(3)[None], (), [(0, 1)]))
    inside_out = sw.Surface(box().positions, box().triangles[:, ::-1])
    with pytest.raises(MeshError, match="inwards"):
        sw.split_surface(inside_out, knife())
    finned = sw.Surface(np.vstack([box().positions, [(2, 2, 2)]]), np.vstack([box().triangles, [(0, 1, 8)]]))
    with pytest.raises(MeshError, match="two faces"):
        sw.split_surface(finned, knife())
