"""Scene files: from TOML to frames by the command line, and clear words for what is wrong in them."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from sinew.core import cli
from sinew.core.errors import SinewError
from sinew.core.simulation.scene_file import read_scene

from .jobs import box_surface

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
    X = job.surface.positions
    assert [m.name for m in job.materials] == ["flesh", "bone"]
    assert np.array_equal(job.material_weights[:, 1] == 1.0, X[:, 0] >= 0.2)
    assert job.solver.gravity == (0, 0, -5)
    assert np.allclose(job.pin_positions[:, 0, 2] - X[job.pinned_vertices[0], 2], [0.0, 0.01, 0.02, 0.02])


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


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("bar.npz", "missing.npz", "no file missing.npz"),
        ("[solver]", "[sover]", "sover"),
        ("cells_across = 6", "cels = 6", "cels"),
        ("youngs_modulus = 1e9", "youngs_modulus = -1.0", "youngs modulus is -1"),
        ('solver = "newton"', 'solver = "magic"', "magic"),
        ("frames = [1, 4]", "frames = [4, 1]", "4-1 is empty"),
        ("box = [[-1, -1, -1], [0.01, 1, 1]]", "vertices = [9999]", "does not exist"),
        ("frames = [1, 4]", "frames = [1, 4", "cannot be read"),
    ],
)
def test_what_is_wrong_in_a_scene_is_named(scene, capsys, before, after, said):
    scene.write_text(SCENE.replace(before, after))
    assert cli.main([str(scene)]) == 1
    assert said in capsys.readouterr().err


def test_every_error_of_a_scene_has_a_remedy(scene):
    scene.write_text(SCENE.replace("bar.npz", "missing.npz"))
    with pytest.raises(SinewError) as raised:
        read_scene(scene)
    assert raised.value.remedy
