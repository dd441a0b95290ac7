"""Scene files: from TOML to frames by the command line, and clear words for what is wrong in them."""

from __future__ import annotations

import io
import struct
from dataclasses import replace

import numpy as np
import pytest
from sinew.core import cli
from sinew.core.foundation.errors import MeshError, SettingsError, SinewError
from sinew.core.foundation.schema.settings import ContactSettings, DepthSettings
from sinew.core.jobs.job.pair import PairSettings
from sinew.core.jobs.scene_files.scene_file import read_scene
from sinew.core.jobs.scene_files.surface_file import read_surface
from sinew.core.mechanics.fibres.presets import muscle_preset

from ..jobs import box_surface

SCENE = """
mesh = "bar.npz"
frames = [1, 4]
[resolution]
cells_across = 6
[solver]
solver = "newton"
gravity = [0, 0, -5]
[[material]]
name = "flesh"
[[material]]
name = "bone"
youngs_modulus = 1e9
box = [[0.2, -1, -1], [1, 1, 1]]
[[pins]]
box = [[-1, -1, -1], [0.01, 1, 1]]
motion = [[1, 0, 0, 0], [3, 0, 0, 0.02]]
"""


@pytest.fixture
def scene(tmp_path):
    surface = box_surface()
    np.savez(tmp_path / "bar.npz", positions=surface.positions, triangles=surface.triangles)
    (tmp_path / "scene.toml").write_text(SCENE)
    return tmp_path / "scene.toml"


def test_a_scene_is_read(scene):
    job = read_scene(scene)
    X = job.body.surface.positions
    assert job.body.vibration_stiffness is None
    assert [m.name for m in job.body.materials] == ["flesh", "bone"]
    assert np.array_equal(job.body.material_weights[:, 1] == 1.0, X[:, 0] >= 0.2)
    assert job.body.solver.gravity == (0, 0, -5)
    assert np.allclose(job.body.pin_positions[:, 0, 2] - X[job.body.pinned_vertices[0], 2], [0.0, 0.01, 0.02, 0.02])


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_what_other_editors_save_is_read(scene, encoding):
    expected = read_scene(scene).body.surface.positions
    scene.write_bytes(SCENE.replace("\n", "\r\n").encode(encoding))
    assert np.array_equal(read_scene(scene).body.surface.positions, expected)
    scene.write_bytes(SCENE.encode() + "# Haut, grün".encode("latin-1"))
    with pytest.raises(SettingsError, match="not UTF-8 text"):
        read_scene(scene)


def test_layers_and_stiffness_maps_are_read(scene):
    count = len(read_scene(scene).body.surface.positions)
    lines = ['depth = { kind = "core", depth = 0.02, fade = 0.01 }', "painted_modulus = 1e10"]
    lines += ['region = "bar.npz"', f"stiffness_map = {[0.5] * count}"]
    scene.write_text(scene.read_text().replace(BONE_BOX, "\n".join(lines)))
    job = read_scene(scene)
    (layer,) = job.body.layers
    assert layer.material == 1 and layer.depth == DepthSettings("core", 0.02, 0.01) and len(layer.surfaces) == 1
    assert job.body.materials[1].painted_modulus == 1e10
    assert (job.body.stiffness_maps == (0.0, 0.5)).all()


def test_dynamic_nodes_are_read(scene):
    assert len(read_scene(scene).body.dynamic_nodes) == 0
    scene.write_text(SCENE + "[nodes]\nvertices = [40, 7]")
    assert read_scene(scene).body.dynamic_nodes.tolist() == [7, 40]
    scene.write_text(SCENE + "[nodes]\nbox = [[0.39, -1, -1], [1, 1, 1]]")
    job = read_scene(scene)
    assert np.array_equal(job.body.dynamic_nodes, np.flatnonzero(job.body.surface.positions[:, 0] > 0.39))


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ("vertices = [5000]", "vertex in nodes does not exist"),
        ("count = 4", "“count” in nodes"),
        ("", "nodes selects no vertices"),
    ],
)
def test_what_is_wrong_with_nodes_is_named(scene, nodes, said):
    scene.write_text(f"{SCENE}[nodes]\n{nodes}")
    with pytest.raises(SettingsError, match=said):
        read_scene(scene)


PAIR = """
[[contact.pairs]]
other = "Ground"
friction = 0.2
"""
MEETS = """
[contact]
self_contact = true
grow_apart = true
friction = 0.2
thickness = 0.001
only = ["left", "right"]
"""


def test_what_a_body_meets_is_read(scene):
    assert (read_scene(scene).body.contact, read_scene(scene).body.contact_with) == (ContactSettings(), None)
    scene.write_text(SCENE + MEETS)
    body = read_scene(scene).body
    assert body.contact == ContactSettings(
        self_contact=True, grow_apart=True, friction=0.2, thickness=0.001
    ) and body.contact_with == (
        "left",
        "right",
    )
    scene.write_text(SCENE + "[contact]\nonly = []")
    assert read_scene(scene).body.contact_with == ()
    scene.write_text(f"{SCENE}[contact]\n{PAIR}[ground]\n")
    assert read_scene(scene).body.pairs == (PairSettings("Ground", 0.2),)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("friction", "rubbing", "“rubbing” in contact"),
        ("friction = 0.2", "friction = -1", "friction is -1"),
        ("friction = 0.2", 'friction = "much"', "friction is 'much'"),
        ("thickness = 0.001", "thickness = nan", "thickness is nan"),
        ("self_contact = true", "self_contact = 1", "self contact is 1"),
        ('only = ["left", "right"]', 'only = "left"', "“only” under contact is not a list of names"),
        ('only = ["left", "right"]', "only = [1]", "“only” under contact is not a list of names"),
        ("[contact]", "[[contact]]", "Write [contact]"),
        ('other = "Ground"', 'other = "Grund"', "contact.pairs names “Grund”, which does not exist"),
        ('other = "Ground"', "thickness = 0.1", "A contact pair does not name its other body or collider"),
        ('other = "Ground"', "other = 1", "other is 1"),
        ("[[contact.pairs]]", "[contact.pairs]", "Write [[contact.pairs]]"),
    ],
)
def test_what_is_wrong_with_what_is_met_is_named(scene, capsys, before, after, said):
    given = MEETS + PAIR
    assert given.count(before) == 1 or before in MEETS
    scene.write_text(f"{SCENE}{given.replace(before, after, 1)}[ground]\n")
    assert cli.main([str(scene)]) == 1
    assert said in capsys.readouterr().err


SURROUNDINGS = """
release = 3
[[spring]]
name = "hook"
box = [[0.39, -1, -1], [1, 1, 1]]
motion = [[1, 0, 0, 0], [4, 0, 0, 0.3]]
stiffness = [[2, 100], [3, 0]]
[ground]
height = -1
[[collider]]
mesh = "bar.npz"
motion = [0, 0, -2]
friction = 0.1
[[field]]
acceleration = [[1, 0, 0, 0], [3, 2, 0, 0]]
[[field]]
acceleration = [0, 0, 1]
vertices = [5]
[[vibration]]
stiffness = 0.1
[[vibration]]
number = 4
stiffness = [[1, 1], [3, 10]]
[[muscle]]
material = "flesh"
strength = 2e5
activation = [[1, 0], [3, 1]]
origin = { vertices = [0, 1] }
insertion = { box = [[0.390, -1, -1], [1, 1, 1]] }
"""


def test_what_acts_from_outside_is_read(scene):
    scene.write_text(SCENE + SURROUNDINGS)
    job = read_scene(scene)
    assert job.body.pin_held.all(axis=1).tolist() == [True, True, False, False]
    (spring,), (ground, collider) = job.body.springs, job.body.colliders
    X = job.body.surface.positions
    assert (spring.name, spring.stiffness.tolist()) == ("hook", [100.0, 100.0, 0.0, 0.0])
    assert np.array_equal(spring.vertices, np.flatnonzero(X[:, 0] > 0.39))
    assert np.allclose(spring.targets[2] - X[spring.vertices], [0.0, 0.0, 0.2])
    assert ground.height == -1.0 and ground.friction == 0.5
    assert (collider.friction, collider.thickness) == (0.1, ground.thickness)
    assert np.allclose(collider.positions, [X - [0.0, 0.0, 2.0]])
    assert np.allclose(job.body.accelerations[:, 4], [[0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 0, 0]])
    assert np.allclose(job.body.accelerations[:, 5] - job.body.accelerations[:, 4], [0, 0, 1])
    expected = [[0.1, 1.0, 1.0, last] for last in (1.0, 5.5, 10.0, 10.0)]
    assert np.allclose(job.body.vibration_stiffness, expected)
    (muscle,) = job.body.muscles
    assert (muscle.settings.strength, muscle.activation.tolist()) == (2e5, [0.0, 0.5, 1.0, 1.0])
    assert muscle.origin.tolist() == [0, 1] and np.array_equal(muscle.insertion, spring.vertices)


def test_fields_of_a_muscle_override_its_preset(scene):
    own = 'preset = "Calf"\ntendon = 0.1'
    scene.write_text(SCENE + SURROUNDINGS.replace("strength = 2e5", own))
    (muscle,) = read_scene(scene).body.muscles
    assert muscle.settings == replace(muscle_preset("Calf"), tendon=0.1)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("release = 3", 'release = "soon"', "release of pins 1 is 'soon'"),
        ("stiffness = [[2, 100], [3, 0]]", "", "spring 1 has no stiffness"),
        ("stiffness = [[2, 100], [3, 0]]", "stiffness = [[2, 100], [1, 0]]", "stiffness of spring 1"),
        ("stiffness = [[2, 100], [3, 0]]", "stiffness = -3", "“hook” is negative"),
        ("stiffness = [[2, 100], [3, 0]]", "stiffness = nan", "stiffness of spring 1"),
        ("box = [[0.39", "boxes = [[0.39", "“boxes” in spring 1"),
        ("[ground]", "[[ground]]", "Write [ground]"),
        ("height = -1", "depth = -1", "“depth” in ground"),
        ("height = -1", "friction = -1", "friction is -1"),
        ("[[collider]]", "[collider]", "Write [[collider]]"),
        ('[[collider]]\nmesh = "bar.npz"', "[[collider]]", "mesh of collider 1 is None"),
        ('[[collider]]\nmesh = "bar.npz"', '[[collider]]\nmesh = "none.npz"', "no file none.npz"),
        ("motion = [0, 0, -2]", "motion = [0, 0]", "motion of collider 1"),
        ("friction = 0.1", "friction = nan", "friction is nan"),
        ("acceleration = [0, 0, 1]", "", "field 2 has no acceleration"),
        ("acceleration = [0, 0, 1]", 'acceleration = "up"', "acceleration of field 2"),
        ("vertices = [5]", "vertices = [5000]", "field 2 does not exist"),
        ("number = 4", "number = 0", "number of vibration 2 is 0"),
        ("number = 4", "number = 41", "number of vibration 2 is 41"),
        ("number = 4\nstiffness", "number = 4\nsoftness", "“softness” in vibration 2"),
        ("stiffness = 0.1", "stiffness = 0.05", "stiffness factor of a vibration"),
        ('material = "flesh"\nstrength', 'material = "steel"\nstrength', "material of muscle 1 is 'steel'"),
        ("origin = { vertices = [0, 1] }", "origin = [0, 1]", "origin of muscle 1 is not a table"),
        ('material = "flesh"\nstrength = 2e5', 'material = "flesh"\npreset = "Wing"', "muscle preset “Wing”"),
        ("origin = { vertices = [0, 1] }", "", "has no origin"),
        ("origin = { vertices = [0, 1] }", "curves = [[1, 2]]", "curve of muscle 1 does not have two points"),
        ("[3, 1]]\norigin", "[3, 2]]\norigin", "outside 0 to 1"),
    ],
)
def test_what_is_wrong_outside_is_named(scene, capsys, before, after, said):
    assert before in SURROUNDINGS
    scene.write_text(SCENE + SURROUNDINGS.replace(before, after, 1))
    assert cli.main([str(scene)]) == 1
    assert said in capsys.readouterr().err


def test_a_goal_is_read(scene):
    X = read_scene(scene).body.surface.positions
    painted = np.round(np.linspace(0.0, 1.0, len(X)), 3)
    scene.write_text(f"{SCENE}[goal]\nweights = {painted.tolist()}\nstrength = [[1, 2], [3, 0]]")
    goal = read_scene(scene).body.goal
    assert np.array_equal(goal.weights, painted) and goal.stiffness.tolist() == [2.0, 1.0, 0.0, 0.0]
    scene.write_text(f"{SCENE}[goal]\nbox = [[0.39, -1, -1], [1, 1, 1]]\nmotion = [[1, 0, 0, 0], [4, 0, 0, 0.3]]")
    goal = read_scene(scene).body.goal
    assert np.array_equal(goal.vertices, np.flatnonzero(X[:, 0] > 0.39)) and (goal.weights == 1.0).all()
    assert goal.stiffness.tolist() == [1.0] * 4 and np.allclose(goal.targets[2] - X[goal.vertices], [0.0, 0.0, 0.2])
    for wrong, said in (("", "goal selects no vertices"), ("weights = [2]", "weights of goal does not fit the mesh")):
        scene.write_text(f"{SCENE}[goal]\n{wrong}")
        with pytest.raises(SettingsError, match=said):
            read_scene(scene)


@pytest.mark.parametrize("suffix", [".npz", ".pc2", ".ply"])
def test_the_command_line_writes_frames(scene, suffix):
    out = scene.with_suffix(suffix)
    assert cli.main([str(scene), "--out", str(out)]) == 0
    n = len(box_surface().positions)
    if suffix == ".npz":
        with np.load(out) as data:
            assert data["positions"].shape == (4, n, 3)
            assert list(data["frames"]) == [1, 2, 3, 4]
    elif suffix == ".pc2":
        data = out.read_bytes()
        assert struct.unpack_from("<12siiffi", data) == (b"POINTCACHE2\0", 1, n, 1.0, 1.0, 4)
        assert len(data) == 32 + 4 * n * 12
    else:
        assert sorted(p.name for p in scene.parent.glob("*.ply")) == [f"scene_{k:04d}.ply" for k in range(1, 5)]
    assert not scene.with_name(out.name + ".frames").exists()


MESH, FRAMES, CELLS, YOUNG = 'mesh = "bar.npz"', "frames = [1, 4]", "cells_across = 6", "youngs_modulus = 1e9"
GRAVITY, BONE_BOX = "gravity = [0, 0, -5]", "box = [[0.2, -1, -1], [1, 1, 1]]"
PIN_BOX, MOTION = "box = [[-1, -1, -1], [0.01, 1, 1]]", "motion = [[1, 0, 0, 0], [3, 0, 0, 0.02]]"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("bar.npz", "missing.npz", "no file missing.npz"),
        ("[solver]", "[sover]", "sover"),
        (CELLS, "cels = 6", "cels"),
        (YOUNG, "youngs_modulus = -1.0", "youngs modulus is -1"),
        ('solver = "newton"', 'solver = "magic"', "magic"),
        (FRAMES, "frames = [4, 1]", "4-1 is empty"),
        (PIN_BOX, "vertices = [9999]", "does not exist"),
        (FRAMES, "frames = [1, 4", "cannot be read"),
        (MESH, "mesh = 3", "mesh is 3"),
        (MESH, 'mesh = ""', "not the name of a file"),
        (FRAMES, "frames = 3", "frames is 3"),
        (FRAMES, "frames = [1.5, 3]", "frames is [1.5, 3]"),
        (FRAMES, 'frames = ["a", "b"]', "frames is ['a', 'b']"),
        (FRAMES, "frames = [1, 2, 3]", "frames is [1, 2, 3]"),
        (FRAMES, "frames = [1, 10000000000]", "Use frame numbers from"),
        (FRAMES, FRAMES + "\npre_roll = 4", "pre-roll is 4 of 4 frames"),
        (FRAMES, FRAMES + "\npre_roll = 1.0", "pre roll is 1.0, not a whole number"),
        (FRAMES, FRAMES + '\nframe_rate = "fast"', "frame_rate is 'fast'"),
        (FRAMES, FRAMES + "\nframe_rate = true", "frame_rate is True"),
        (FRAMES, FRAMES + "\nframe_rate = 0", "frame_rate is 0"),
        (CELLS, 'cells_across = "6"', "cells across is '6'"),
        (CELLS, "cells_across = 6.5", "cells across is 6.5, not a whole number"),
        (CELLS, "cells_across = true", "cells across is True"),
        (CELLS, "cells_across = 1", "cells across is 1. Set it to at least 2"),
        (CELLS, "method = 3", "method is 3"),
        (GRAVITY, "gravity = 5", "gravity is 5"),
        (GRAVITY, 'gravity = "abc"', "gravity is 'abc'"),
        (GRAVITY, "gravity = [0, 0]", "gravity is [0, 0]"),
        (GRAVITY, 'gravity = [0, 0, "x"]', "gravity is 'x'"),
        (GRAVITY, "gravity = [0, 0, nan]", "three finite numbers"),
        (GRAVITY, "substeps = 1.5", "substeps is 1.5"),
        (GRAVITY, "max_iterations = 2.5", "max iterations is 2.5"),
        (GRAVITY, 'quadratic_finish = "yes"', "quadratic finish is 'yes'"),
        (GRAVITY, "tolerance = nan", "tolerance is nan"),
        (YOUNG, 'youngs_modulus = "stiff"', "youngs modulus is 'stiff'"),
        (YOUNG, "youngs_modulus = 1" + 400 * "0", "youngs modulus is too large"),
        ('name = "bone"', "name = 3", "name is 3, not a text"),
        ("[resolution]", "[[resolution]]", "Write [resolution]"),
        ("[[pins]]", "[pins]", "Write [[pins]]"),
        (BONE_BOX, "region = 3", "region of material 2 is 3"),
        (BONE_BOX, "depth = 3", "depth of material 2 is not a table"),
        (BONE_BOX, 'depth = { kind = "skin" }', "unknown kind “skin”"),
        (BONE_BOX, "depth = { deep = 3 }", "“deep” in the depth of material 2"),
        (BONE_BOX, "stiffness_map = [0.5, 2]", "stiffness_map of material 2 does not fit"),
        (BONE_BOX, 'region = "none.npz"', "no file none.npz"),
        (BONE_BOX, "box = [[0.2, -1, -1], [1, 1]]", "box of material 2"),
        (BONE_BOX, 'box = [["0.2", "-1", "-1"], ["1", "1", "1"]]', "box of material 2"),
        (BONE_BOX, "box = [[5, 5, 5], [6, 6, 6]]", "box of material 2 holds no vertex"),
        (PIN_BOX, "box = [[0.01, 1, 1], [-1, -1, -1]]", "box of pins 1 holds no vertex"),
        (PIN_BOX, "vertices = [0.5]", "vertices of pins 1 is [0.5]"),
        (PIN_BOX, "vertices = [true]", "vertices of pins 1 is [True]"),
        (PIN_BOX, "vertices = []", "vertices of pins 1 is []"),
        (PIN_BOX, "vertices = 3", "vertices of pins 1 is 3"),
        (PIN_BOX, "vertices = [0]\n" + PIN_BOX, "has both box and vertices"),
        (PIN_BOX, "", "selects no vertices"),
        (MOTION, 'motion = ["x"]', "motion of pins 1"),
        (MOTION, "motion = [[1, 0, 0, 0], [3, 0]]", "motion of pins 1"),
        (MOTION, "motion = []", "motion of pins 1"),
        (MOTION, "motion = [[1, 0, 0, inf]]", "motion of pins 1"),
    ],
)
def test_what_is_wrong_in_a_scene_is_named(scene, capsys, before, after, said):
    scene.write_text(SCENE.replace(before, after))
    assert cli.main([str(scene)]) == 1
    assert said in capsys.readouterr().err
    assert sorted(path.name for path in scene.parent.iterdir() if path.suffix == ".npz") == ["bar.npz"]


def test_every_error_of_a_scene_has_a_remedy(scene):
    scene.write_text(SCENE.replace("bar.npz", "missing.npz"))
    with pytest.raises(SinewError) as raised:
        read_scene(scene)
    assert raised.value.remedy


def _torn(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _npz(**arrays) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def _npy(array) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


TRIANGLE = {"positions": np.eye(3), "triangles": np.array([[0, 1, 2]])}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bar.npz", b""),
        ("bar.npz", b"not an archive"),
        ("bar.npz", b"PK\x03\x04 torn"),
        ("bar.npz", _torn(_npz(**TRIANGLE))),
        ("bar.npz", _npz(**TRIANGLE).replace(b"NUMPY", b"GUMPY")),
        ("bar.npz", _npy(np.eye(3))),
        ("bar.npz", _npz(positions=np.eye(3))),
        ("bar.npz", _npz(**{**TRIANGLE, "positions": np.eye(3).ravel()})),
        ("bar.npz", _npz(**{**TRIANGLE, "positions": np.full((3, 3), np.nan)})),
        ("bar.npz", _npz(**{**TRIANGLE, "triangles": np.array([[0.5, 1, 2]])})),
        ("bar.npz", _npz(**{**TRIANGLE, "triangles": np.array([[0, 1, 2**32]])})),
        ("bar.npz", _npz(**{**TRIANGLE, "triangles": np.empty((0, 3), int)})),
        ("bar.npz", _npz(**{**TRIANGLE, "positions": np.array([[None]])})),
        ("bar.obj", b"v 0 0 zero\n"),
        ("bar.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n"),
        ("bar.ply", b""),
        ("bar.ply", b"ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\n"),
        ("bar.stl", b"solid \xff\xfe"),
        ("bar.vtk", b"no vtk"),
        ("bar.unheard-of", b"?"),
    ],
)
def test_a_file_that_is_no_surface_is_refused(tmp_path, capfd, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(MeshError) as raised:
        read_surface(tmp_path / name)
    assert raised.value.remedy
    assert capfd.readouterr() == ("", "")


def test_polygons_become_triangles(tmp_path):
    corners = "".join(f"v {np.cos(a)} {np.sin(a)} 0\n" for a in np.arange(6) * np.pi / 3)
    (tmp_path / "fan.obj").write_text(corners + "f 1 2 3 4 5 6\nf 1 2 3 4\nf 1 2 3\nf 1 2 3 4 5\n")
    surface = read_surface(tmp_path / "fan.obj")
    assert len(surface.triangles) == 4 + 2 + 1 + 3
    assert surface.triangles[:4].tolist() == [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]]


@pytest.mark.parametrize(
    "content", ['mesh = "Bär.npz"'.encode("latin-1"), b"x = " + 5000 * b"[", b"x = 1" + 5000 * b"0"]
)
def test_a_scene_that_is_no_toml_is_refused(tmp_path, content):
    (tmp_path / "scene.toml").write_bytes(content)
    with pytest.raises(SettingsError, match=r"scene\.toml") as raised:
        read_scene(tmp_path / "scene.toml")
    assert raised.value.remedy
