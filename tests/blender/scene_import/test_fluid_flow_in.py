"""Force fields of the type Fluid Flow: a domain's velocities become the samples of a field, or are missed by name.

The domains here hold no fluid of Blender's: its solver is not whole in the Python module that these tests run in. What
was compared with Blender's own particles, elsewhere, stands in `docs/design/forces.md`.
"""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix
from sinew.blender_addon.properties.field_weights import reason_for
from sinew.blender_addon.scene_import import fluid_in
from sinew.blender_addon.scene_import.fluid_in import FluidGrid
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.core.foundation.errors import FieldError
from sinew.core.simulation.preparation.field_interpolation import interpolate_field

from ..scenes import CUBE

# Of Blender's matrices some versions make single precision.
TURN = np.array(Euler((0.4, 0.7, -0.3)).to_matrix(), dtype=float)
SIDES = (6, 4, 8)
WORLD = np.eye(4)


@pytest.fixture
def flow(body, add_mesh, tmp_path):
    """A field that takes its flow from a domain with a cache of frames 1 to 4, of which nothing is evaluated."""
    domain = add_mesh(*CUBE, "Domain")
    modifier = domain.modifiers.new("Fluid", "FLUID")
    modifier.show_viewport = False
    modifier.fluid_type = "DOMAIN"
    settings = modifier.domain_settings
    settings.cache_type, settings.cache_directory = "MODULAR", str(tmp_path / "cache")
    settings.cache_frame_start, settings.cache_frame_end = 1, 4
    (tmp_path / "cache" / "data").mkdir(parents=True)
    for frame in range(1, 5):
        (tmp_path / "cache" / "data" / f"fluid_data_{frame:04d}.vdb").touch()
    field = bpy.data.objects.new("Breeze", None)
    bpy.context.scene.collection.objects.link(field)
    with bpy.context.temp_override(object=field, active_object=field):
        bpy.ops.object.forcefield_toggle()
    field.field.type, field.field.source_object = "FLUID_FLOW", domain
    bpy.context.view_layer.objects.active = body
    return field


def linear_grid(matrix=WORLD, length=0.4) -> FluidGrid:
    """Velocities that grow along the cells, so that between their middles they are known exactly."""
    at = np.stack(np.meshgrid(*(np.arange(n) + 0.5 for n in SIDES), indexing="ij"), axis=-1)
    values = np.concatenate([at @ TURN.T + 20.0, np.ones((*SIDES, 1))], axis=-1)
    return FluidGrid(values, np.array([-1.0, -1.0, -2.0]), np.array([0.3, 0.5, 0.5]), matrix, length)


def placed(scale=(1.0, 1.0, 1.0)) -> np.ndarray:
    return np.array(Matrix.LocRotScale((1.0, 2.0, 3.0), Euler((0.3, 0.2, 0.5)), scale), dtype=float)


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (0.5, 1.0, 2.0)])
def test_a_velocity_keeps_its_length_and_turns_with_the_domain(scale):
    matrix, rng = placed(scale), np.random.default_rng(3)
    cells = rng.uniform(0.5, np.array(SIDES) - 0.5, (50, 3))
    grid = linear_grid(matrix)
    local = grid.corner + cells * grid.cell
    found = grid.at(local @ matrix[:3, :3].T + matrix[:3, 3])
    raw = cells @ TURN.T + 20.0
    turned = raw @ matrix[:3, :3].T
    speed = 2.5 * 0.4 * np.linalg.norm(raw, axis=1)
    assert np.linalg.norm(found[:, :3], axis=1) == pytest.approx(speed)
    assert np.abs(np.cross(found[:, :3], turned)).max() < 1e-9 * speed.max() * np.abs(turned).max()
    assert found[:, 3] == pytest.approx(1.0)


def test_outside_of_the_domain_there_is_nothing():
    grid = linear_grid()
    low, high = grid.box
    assert low.tolist() == [-1.0, -1.0, -2.0] and high == pytest.approx([0.8, 1.0, 2.0])
    middle = 0.5 * (low + high)
    for axis in range(3):
        for side, inward in ((low, 1e-6), (high, -1e-6)):
            at = middle.copy()
            at[axis] = side[axis] + inward
            assert grid.at(at[None])[0, 3] == 1.0
            at[axis] = side[axis] - inward
            assert (grid.at(at[None]) == 0.0).all()


def test_fine_domains_are_averaged():
    values = np.random.default_rng(2).uniform(0.0, 1.0, (130, 3, 2, 4)).astype(np.float16)
    blocks, count = fluid_in._averaged(values)
    assert count == 3 and blocks.shape == (44, 1, 1, 4)
    padded = np.concatenate([values[:3], values[:3, :, 1:]], axis=2).astype(float)
    assert blocks[0, 0, 0] == pytest.approx(padded.mean(axis=(0, 1, 2)), abs=1e-3)
    thin = FluidGrid(blocks, np.zeros(3), np.ones(3), np.eye(4), 1.0)
    assert thin.at(np.array([[0.5, 0.2, 0.9]]))[0, 3] == blocks[0, 0, 0, 3]


def test_a_field_carries_the_flow_to_the_body(body, flow, monkeypatch):
    grid = linear_grid(placed((1.0, 1.0, 1.0)) @ np.diag([3.0, 3.0, 3.0, 1.0]))
    frames = iter(range(4))
    monkeypatch.setattr(fluid_in, "_grid", lambda *_: None if next(frames) == 0 else grid)
    flow.field.strength, flow.field.flow = 2.0, 0.5
    body.sinew.field_weights.smokeflow = 0.25
    bpy.context.scene.unit_settings.scale_length = 0.1
    (made,) = make_job(body, bpy.context).body.force_fields
    assert made.samples.shape[0] == 4 and not made.samples[0].any()
    points = np.array([v.co for v in body.data.vertices], dtype=float)
    inside = grid.at(points)[:, 3] == 1.0
    assert inside.any()
    pull = interpolate_field(made, 3, 1.0).pull(0.1 * points)
    velocities = np.tile([1.0, 2.0, -0.5], (len(points), 1))
    expected = 0.5 * (0.1 * grid.at(points)[:, :3] - 0.5 * velocities)
    deep = grid.at(points + 0.2)[:, 3] * grid.at(points - 0.2)[:, 3] == 1.0
    assert deep.sum() >= 2
    assert pull.at(velocities)[deep] == pytest.approx(expected[deep], rel=0.02)


def test_a_fluid_without_a_cache_is_missed_by_name(body, flow, tmp_path):
    (tmp_path / "cache" / "data" / "fluid_data_0003.vdb").unlink()
    with pytest.raises(FieldError, match="“Domain”, from which the force field “Breeze”.* at frame 3") as raised:
        make_job(body, bpy.context)
    assert "Bake it" in raised.value.remedy
    settings = flow.field.source_object.modifiers[0].domain_settings
    settings.cache_frame_offset = 10
    with pytest.raises(FieldError, match="which has no flow at these frames"):
        make_job(body, bpy.context)
    settings.cache_frame_offset, settings.cache_frame_end = 0, 2
    with pytest.raises(FieldError, match="takes its flow from “Domain”, which has no flow at these") as raised:
        make_job(body, bpy.context)
    assert "Enable the domain" in raised.value.remedy


def test_without_a_domain_it_does_nothing_and_says_why(body, flow):
    assert reason_for(flow.field) == ""
    flow.field.source_object = body
    assert "fluid domain" in reason_for(flow.field) and make_job(body, bpy.context).body.force_fields == ()
    flow.field.source_object = None
    assert "fluid domain" in reason_for(flow.field) and make_job(body, bpy.context).body.force_fields == ()


def test_a_weight_of_zero_asks_for_no_fluid(body, flow, tmp_path):
    (tmp_path / "cache" / "data" / "fluid_data_0001.vdb").unlink()
    body.sinew.field_weights.smokeflow = 0.0
    assert make_job(body, bpy.context).body.force_fields == ()
