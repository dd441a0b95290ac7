"""Force fields of scene files: what is read, what is refused, and that the example of the docs is blown aside."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sinew.core import cli
from sinew.core.foundation.errors import SettingsError
from sinew.core.jobs.scene_files.scene_file import read_scene, scene_inputs
from sinew.core.mechanics.forces.field_coordinates import FieldForm, FieldNumbers
from sinew.core.mechanics.forces.field_formulas import FORMULAS

from ..jobs import box_surface

EXAMPLE = Path(__file__).parents[3] / "docs" / "scenes" / "blown_bar.toml"
SCENE = """
mesh = "bar.npz"
frames = [1, 4]
"""
TABLE = """
[[force_field]]
name = "Gust"
type = "FORCE"
shape = "SURFACE"
mesh = "bar.npz"
location = [[1, 0, 0, 0], [3, 0, 0, 2]]
axis = [0, 3, 4]
strength = [[2, -1], [4, 1]]
flow = 0.5
noise = 0.25
seed = 7
use_gravity_falloff = true
falloff_type = "CONE"
z_direction = "POSITIVE"
falloff_power = 2
distance_min = 0.1
distance_max = 5
radial_falloff = 1
radial_min = 10
radial_max = 80
weight = 0.5
"""


@pytest.fixture
def scene(tmp_path):
    surface = box_surface()
    np.savez(tmp_path / "bar.npz", positions=surface.positions, triangles=surface.triangles)

    def write(*tables):
        (tmp_path / "scene.toml").write_text(SCENE + "".join(tables))
        return tmp_path / "scene.toml"

    return write


def table(**entries) -> str:
    lines = [f"{name} = {value!r}".replace("True", "true") for name, value in entries.items()]
    return "\n[[force_field]]\n" + "\n".join(lines)


def test_a_field_is_read(scene):
    (field,) = read_scene(scene(TABLE)).body.force_fields
    assert field.name == "Gust" and field.seed == 7
    assert field.form == FieldForm("FORCE", "SURFACE", "CONE", "POSITIVE", True)
    numbers = FieldNumbers(*field.numbers.T)
    assert numbers.strength.tolist() == [-1.0, -1.0, 0.0, 1.0]
    still = numbers._replace(strength=[0.0] * 4)
    assert [value[0] for value in still] == [0.0, 0.0, 0.5, 2.0, 0.1, 5.0, 1.0, 10.0, 80.0, 0.0, 0.25, 0.5]
    assert field.axes == pytest.approx(np.array([[0.0, 0.6, 0.8]]))
    assert field.centres[:, 2].tolist() == [0.0, 1.0, 2.0, 2.0]
    assert np.allclose(field.vertices, box_surface().positions + field.centres[:, None])
    assert len(field.triangles) == len(box_surface().triangles) and field.normals is None


def test_each_vertex_is_a_field_with_a_normal(scene):
    (field,) = read_scene(scene(table(type="WIND", shape="POINTS", mesh="bar.npz"))).body.force_fields
    X = box_surface().positions
    ends = X[:, 0] == X[:, 0].max()
    inner = ends & (np.abs(X[:, 1:] - 0.05) < 1e-9).all(axis=1)
    assert field.normals[0, inner] == pytest.approx(np.array([[1.0, 0.0, 0.0]]))
    assert np.linalg.norm(field.normals[0], axis=1) == pytest.approx(1.0)


def test_meshes_of_fields_are_inputs(scene, tmp_path):
    assert scene_inputs(scene(TABLE))[2:] == [tmp_path / "bar.npz"]


def test_every_type_is_read_and_keeps_its_own_numbers(scene):
    fields = read_scene(scene(*(table(type=kind) for kind in FORMULAS))).body.force_fields
    assert [field.form.kind for field in fields] == list(FORMULAS) and fields[0].name == "1"
    (drag,) = read_scene(scene(table(type="DRAG", linear_drag=0.3, quadratic_drag=0.7))).body.force_fields
    assert FieldNumbers(*drag.numbers[0])[:2] == (0.3, 0.7)
    (spring,) = read_scene(scene(table(type="HARMONIC", harmonic_damping=0.2, rest_length=0.4))).body.force_fields
    assert FieldNumbers(*spring.numbers[0]).damping == 0.2 and FieldNumbers(*spring.numbers[0]).rest_length == 0.4


WALL = """
[[collider]]
name = "Wall"
mesh = "bar.npz"
motion = [0, 0, -2]
absorption = [[1, 0], [3, 0.5]]
[[collider]]
mesh = "bar.npz"
motion = [0, 0, -3]
"""


def test_colliders_absorb_what_lets_them(scene):
    job = read_scene(scene(WALL, table(type="WIND", use_absorption=True), table(type="WIND")))
    (wall,) = job.body.absorbers
    assert (wall.name, wall.absorption.tolist()) == ("Wall", [0.0, 0.25, 0.5, 0.5]) and len(job.body.colliders) == 2
    assert np.array_equal(wall.positions, job.body.colliders[0].positions)
    assert [field.absorbers for field in job.body.force_fields] == [(0,), ()]


@pytest.mark.parametrize("absorption", ["-0.1", "1.1", "[[1, 0], [3, 2]]", '"all"'])
def test_an_absorption_that_is_no_part_is_named(scene, capsys, absorption):
    assert cli.main([str(scene(WALL.replace("[[1, 0], [3, 0.5]]", absorption)))]) == 1
    assert "The absorption of collider 1 is" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({}, "force_field 1 has no type. Give type ="),
        ({"type": "wind"}, "The type of force_field 1 is 'wind'. Choose one of FORCE"),
        ({"type": ["WIND"]}, "The type of force_field 1 is ['WIND']. Choose one of FORCE"),
        ({"type": "TURBULENCE"}, "which only Blender knows. Bake the .blend"),
        ({"type": "WIND", "shape": "BLOB"}, "The shape of force_field 1 is 'BLOB'. Choose one of POINT"),
        ({"type": "WIND", "shape": ["PLANE"]}, "The shape of force_field 1 is ['PLANE']"),
        ({"type": "WIND", "falloff_type": 3}, "The falloff_type of force_field 1 is 3"),
        ({"type": "WIND", "z_direction": "UP"}, "The z_direction of force_field 1"),
        ({"type": "WIND", "strenght": 3}, "Unknown entry “strenght” in force_field 1, a field of the type WIND"),
        ({"type": "WIND", "linear_drag": 3}, "Unknown entry “linear_drag”"),
        ({"type": "DRAG", "strength": 3}, "Unknown entry “strength” in force_field 1, a field of the type DRAG"),
        ({"type": "DRAG", "flow": 3}, "Unknown entry “flow”"),
        ({"type": "WIND", "use_gravity_falloff": True}, "Unknown entry “use_gravity_falloff”"),
        ({"type": "WIND", "use_absorption": 1}, "use_absorption of force_field 1 is 1. Write true"),
        ({"type": "FORCE", "use_gravity_falloff": 1}, "use_gravity_falloff of force_field 1 is 1. Write true"),
        ({"type": "WIND", "strength": "strong"}, "The strength of force_field 1 is 'strong'. Give [[frame, value]"),
        ({"type": "WIND", "strength": [[3, 1], [2, 1]]}, "strength of force_field 1 has frames that do not ascend"),
        ({"type": "WIND", "falloff_power": -1}, "The falloff_power of force_field 1 is negative. Give 0 or more"),
        ({"type": "WIND", "noise": [[1, 0], [4, -1]]}, "The noise of force_field 1 is negative"),
        ({"type": "WIND", "location": [0, 0]}, "The location of force_field 1"),
        ({"type": "WIND", "axis": [0, 0, 0]}, "The axis of force_field 1 is zero at frame 1. Give a direction"),
        ({"type": "WIND", "axis": [[1, 0, 0, 1], [3, 0, 0, -1]]}, "is zero at frame 2"),
        ({"type": "FORCE", "shape": "SURFACE"}, "force_field 1 has the shape SURFACE and no mesh. Give mesh"),
        ({"type": "FORCE", "mesh": "bar.npz"}, "has a mesh and the shape POINT. Set shape to SURFACE or POINTS"),
        ({"type": "FORCE", "shape": "POINTS", "mesh": 3}, "The mesh of force_field 1 is 3"),
        ({"type": "FORCE", "shape": "POINTS", "mesh": "none.npz"}, "no file none.npz"),
        ({"type": "FORCE", "name": 3}, "The name of force_field 1 is 3, not a text"),
        ({"type": "FORCE", "seed": 0.5}, "The seed of force_field 1 is 0.5. Give a whole number"),
    ],
)
def test_what_is_wrong_in_a_field_is_named(scene, capsys, entries, said):
    assert cli.main([str(scene(table(**entries)))]) == 1
    assert said in capsys.readouterr().err


def test_a_single_bracket_is_told(scene):
    with pytest.raises(SettingsError, match=r"Write \[\[force_field\]\]"):
        read_scene(scene('\n[force_field]\ntype = "WIND"'))


def test_the_example_is_blown_aside(tmp_path):
    text = EXAMPLE.read_text()
    (tmp_path / "bar.obj").write_text(EXAMPLE.with_name("bar.obj").read_text())
    (tmp_path / "scene.toml").write_text(
        text.replace("[1, 48]", "[1, 16]").replace("cells_across = 8", "cells_across = 4")
    )
    out = tmp_path / "frames.npz"
    assert cli.main([str(tmp_path / "scene.toml"), "--out", str(out)]) == 0
    with np.load(out) as data:
        moved = data["positions"][-1] - data["positions"][0]
    # The mean of the four upper corners.
    along, aside, _up = moved[4:].mean(axis=0)
    assert along > 0.005 and abs(aside) < 0.2 * along
