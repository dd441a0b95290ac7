"""Set-ups: settings, vertex groups and muscle curves on another mesh, mirrored, and through a file."""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest
from sinew.blender_addon.objects.surface_transfer import SurfaceTransfer, barycentric
from sinew.blender_addon.objects.vertex_weights import set_weights
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.blender_addon.scene_import.mesh_in import vertex_positions
from sinew.blender_addon.scene_import.settings_in import material_settings, solver_settings
from sinew.blender_addon.scene_import.weights_in import group_weights
from sinew.blender_addon.setup import setup_file, setups
from sinew.core.foundation.errors import SinewError, StoreError
from sinew.core.foundation.files.array_file import read_arrays, write_arrays

from .test_muscles import curve_object


def ball(name, rings, scale=(1.0, 1.0, 1.0), at=(0.0, 0.0, 0.0)):
    """A sphere of radius 1, stretched and moved in its object coordinates."""
    bpy.ops.mesh.primitive_uv_sphere_add(segments=2 * rings, ring_count=rings)
    obj = bpy.context.object
    obj.name = name
    obj.data.vertices.foreach_set("co", (vertex_positions(obj.data) * scale + at).ravel())
    obj.data.update()
    return obj


@pytest.fixture
def source(empty_file):
    """A ball with a muscle along a curve on its left, pins below and a painted material."""
    obj = ball("Source", 16)
    bpy.ops.sinew.enable()
    bpy.ops.sinew.add_material(preset="Bone")
    points = vertex_positions(obj.data)
    set_weights(obj, "Pins", (points[:, 2] < -0.6).astype(float))
    set_weights(obj, "Hard", np.clip(points[:, 0], 0.0, 1.0))
    obj.sinew.pin_group, obj.sinew.materials[1].vertex_group = "Pins", "Hard"
    obj.sinew.substeps, obj.sinew.solver = 3, "newton"
    bpy.ops.sinew.add_material(preset="Soft Flesh")
    obj.sinew.materials[2].name = "Biceps.L"
    own = obj.sinew.materials[2].muscle
    own.enabled, own.direction, own.strength = True, "CURVES", 2e5
    own.curve = curve_object([(0.3, 0.0, -0.5), (0.5, 0.0, 0.0), (0.3, 0.0, 0.5)], 0.1, name="Path.L")
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    return obj


def curve_points(curve):
    return np.array([curve.matrix_world @ point.co.xyz for point in curve.data.splines[0].points])


def check(obj, flipped=False):
    """The set-up on a ball of 0.5 x 1 x 2 about (3, 0, 0), with other vertices."""
    settings, points = obj.sinew, vertex_positions(obj.data)
    assert settings.enabled and settings.substeps == 3 and settings.solver == "newton"
    rest = (points - (3.0, 0.0, 0.0)) / (0.5, 1.0, 2.0)
    pins, hard = group_weights(obj, obj.data, ["Pins", "Hard"]).T
    assert set(pins) == {0.0, 1.0}
    clear = np.abs(rest[:, 2] + 0.6) > 0.15
    np.testing.assert_array_equal(pins[clear], rest[clear, 2] < -0.6)
    side = -1.0 if flipped else 1.0
    np.testing.assert_allclose(hard, np.clip(side * rest[:, 0], 0.0, 1.0), atol=0.05)
    muscle = settings.materials[2]
    assert muscle.name == ("Biceps.R" if flipped else "Biceps.L") and muscle.muscle.strength == pytest.approx(2e5)
    wanted = np.array([(0.3, 0.0, -0.5), (0.5, 0.0, 0.0), (0.3, 0.0, 0.5)]) * (side, 1.0, 1.0)
    np.testing.assert_allclose(curve_points(muscle.muscle.curve), wanted * (0.5, 1.0, 2.0) + (3.0, 0.0, 0.0), atol=0.03)
    assert muscle.muscle.curve.data.bevel_depth == pytest.approx(0.1, rel=0.05)


@pytest.mark.parametrize("flipped", [False, True])
def test_a_setup_follows_the_surface_of_another_mesh(source, flipped):
    other = ball("Other", 23, (0.5, 1.0, 2.0), (3.0, 0.0, 0.0))
    source.select_set(True)
    bpy.context.view_layer.objects.active = source
    assert bpy.ops.sinew.transfer_setup(mirror=flipped) == {"FINISHED"}
    check(other, flipped)
    job = make_job(other, bpy.context)
    assert job.body.muscles[0].curves[0].radii[0] == pytest.approx(0.1, rel=0.05)


def test_a_setup_is_saved_and_loaded(source, tmp_path):
    path = tmp_path / "arm"
    assert bpy.ops.sinew.save_setup(filepath=str(path)) == {"FINISHED"}
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    other = ball("Other", 23, (0.5, 1.0, 2.0), (3.0, 0.0, 0.0))
    assert bpy.ops.sinew.load_setup(filepath=f"{path}.sinewsetup") == {"FINISHED"}
    check(other)


def test_the_same_mesh_gets_the_same(source, tmp_path):
    """Without fitting: weights, settings and curve are those of the source."""
    setup_file.save_setup(setups.setup_of(source), tmp_path / "a.sinewsetup")
    twin = ball("Twin", 16)
    assert setups.apply_setup(setup_file.load_setup(tmp_path / "a.sinewsetup"), twin, fit=False, replace=False) == []
    names = ["Pins", "Hard"]
    np.testing.assert_allclose(
        group_weights(twin, twin.data, names), group_weights(source, source.data, names), atol=2e-4
    )
    first, second = source.sinew, twin.sinew
    assert [material_settings(m) for m in second.materials] == [material_settings(m) for m in first.materials]
    assert solver_settings(second, bpy.context.scene) == solver_settings(first, bpy.context.scene)
    paths = [curve_points(each.materials[2].muscle.curve) for each in (first, second)]
    np.testing.assert_allclose(*paths, atol=1e-5)


def test_weights_of_the_mesh_are_kept_unless_replaced(source):
    twin = ball("Twin", 16)
    set_weights(twin, "Pins", np.full(len(twin.data.vertices), 0.25))
    setup = setups.setup_of(source)
    setups.apply_setup(setup, twin, fit=True, replace=False)
    assert set(group_weights(twin, twin.data, ["Pins"]).ravel()) == {0.25}
    setups.apply_setup(setup, twin, fit=True, replace=True)
    np.testing.assert_array_equal(
        group_weights(twin, twin.data, ["Pins"]), group_weights(source, source.data, ["Pins"])
    )


def test_what_another_file_lacks_is_told(source, tmp_path):
    region = ball("Skull", 6)
    source.sinew.materials[1].region = region
    setup_file.save_setup(setups.setup_of(source), tmp_path / "a.sinewsetup")
    bpy.data.objects.remove(region)
    twin = ball("Twin", 16)
    before = len(bpy.data.meshes)
    left = setups.apply_setup(setup_file.load_setup(tmp_path / "a.sinewsetup"), twin, fit=True, replace=False)
    assert left == ["“Skull”, which this file does not have"]
    assert len(bpy.data.meshes) == before, "the trial leaves nothing behind"


def test_damaged_and_foreign_files_change_nothing(source, tmp_path):
    path = tmp_path / "a.sinewsetup"
    setup_file.save_setup(setups.setup_of(source), path)
    arrays, about = read_arrays(path)
    changes = [
        {"settings": {**about["settings"], "substeps": "many"}},
        {"settings": {**about["settings"], "solver": "x"}},
        {"settings": {**about["settings"], "materials": 3}},
        {"settings": [1]},
        {"groups": ["Pins"]},
        {"curves": [["Biceps.L", "Path", 0.1, [["POLY", 10**9, 2]]]]},
        {"curves": [["None", "Path", 0.1, [["POLY", 3, 2]]]]},
        {"curves": 7},
        {"setup": 99},
        {"settings": {**about["settings"], "pairs": [{"name": "A", "other": {"data-block": "Scene"}}]}},
    ]
    twin = ball("Twin", 16)
    before = [len(each) for each in (bpy.data.objects, bpy.data.curves, bpy.data.meshes)]
    for change in changes:
        write_arrays(path, arrays, {**about, **change})
        with pytest.raises(StoreError):
            setup_file.load_setup(path)
    for name, values in (("positions", arrays["positions"] * np.nan), ("triangles", arrays["triangles"] + 10**6)):
        write_arrays(path, {**arrays, name: values}, about)
        with pytest.raises(StoreError):
            setup_file.load_setup(path)
    path.write_text(json.dumps({"setup": 1}))
    with pytest.raises(SinewError):
        setup_file.load_setup(path)
    assert not twin.sinew.enabled and not twin.vertex_groups
    assert [len(each) for each in (bpy.data.objects, bpy.data.curves, bpy.data.meshes)] == before
    with pytest.raises(RuntimeError, match="is damaged"):
        bpy.ops.sinew.load_setup(filepath=str(path))


def test_barycentric_coordinates():
    rng = np.random.default_rng(1)
    corners = rng.standard_normal((50, 3, 3))
    weights = rng.dirichlet((1.0, 1.0, 1.0), 50)
    np.testing.assert_allclose(barycentric(corners, np.einsum("pc,pci->pi", weights, corners)), weights, atol=1e-10)
    flat = barycentric(np.zeros((1, 3, 3)), np.zeros((1, 3)))
    np.testing.assert_array_equal(flat, [[1.0, 0.0, 0.0]])


def test_points_inside_move_as_the_surface_around_them():
    """A ball whose upper half is moved: a point near the top moves along, a point near the bottom stays."""
    obj = ball("Ball", 16)
    points = vertex_positions(obj.data)
    obj.data.calc_loop_triangles()
    triangles = np.array([t.vertices for t in obj.data.loop_triangles])
    moved = points + np.outer(points[:, 2] > 0.3, (0.02, 0.0, 0.03))
    found = SurfaceTransfer(points, triangles, moved, fit=False).points(np.array([[0.0, 0.0, 0.9], [0.0, 0.0, -0.9]]))
    np.testing.assert_allclose(found[0], [0.0, 0.0, 0.93], atol=0.02)
    np.testing.assert_allclose(found[1], [0.0, 0.0, -0.9], atol=1e-3)
