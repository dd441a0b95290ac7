"""What the panel Resolution promises: methods, from Blender's meshes to bakes."""

from __future__ import annotations

from importlib.machinery import PathFinder

import bpy
import pytest
from sinew.blender_addon import baking
from sinew.core.simulation.kept_mesh import unpack


@pytest.mark.skipif(PathFinder.find_spec("tetgen") is None, reason="TetGen is not installed")
def test_a_clean_bake_follows_its_vertices_exactly(body, saved):
    body.sinew.method = "clean"
    bpy.ops.sinew.bake()
    assert body.sinew.bake.status == "DONE", body.sinew.bake.message
    arrays, _ = baking.open_store(body).read_kept("mesh")
    mesh, embedding = unpack(arrays, len(body.data.vertices))
    assert embedding.barycentric.max(axis=1) == pytest.approx(1.0, abs=1e-9)
    assert mesh.volumes.sum() == pytest.approx(0.09, rel=1e-5)


@pytest.mark.skipif(PathFinder.find_spec("tetgen") is None, reason="TetGen is not installed")
def test_clean_says_why_it_refuses_a_mesh(body, saved):
    mesh = body.data
    mesh.clear_geometry()
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [], [(0, 2, 1), (0, 1, 3), (0, 3, 2)])
    body.sinew.method, body.sinew.pin_group = "clean", ""
    with pytest.raises(RuntimeError, match="is open: 3 edges"):
        bpy.ops.sinew.tetrahedralize()
    assert "Draft or Robust" in body.sinew.bake.message
