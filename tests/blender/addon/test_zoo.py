"""Every specimen of the zoo through the whole chain: a correct bake, or a refusal with a remedy; and no trace is left.

Prints a table of what came of each. Shapes and settings are the library's matter: one Blender is enough for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
import sinew
from sinew.blender_addon.bake import baking
from sinew.blender_addon.objects.modifier_stack import shown
from sinew.core.jobs.job.job import Job

from .test_cycles import data_blocks
from .zoo import ZOO, Specimen, enabled

SHOWN = ZOO if sinew.__name__ == "sinew" else [one for one in ZOO if one.of_blender]
ROUND_OFF = 2.0**-22
"""Round-off of 32-bit positions, as a fraction of the largest coordinate."""


@pytest.fixture(scope="module")
def table(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """Collect the outcome of each specimen, printed at the end."""
    outcomes: dict[str, str] = {}
    yield outcomes
    width = max(map(len, outcomes), default=0)
    with request.config.pluginmanager.get_plugin("capturemanager").global_and_fixture_disabled():
        print("", *(f"{name:{width}}  {outcome}" for name, outcome in outcomes.items()), sep="\n")


def surroundings(obj: Any, folder: Path) -> dict[str, Any]:
    """All of the scene and the disk that a bake that is deleted gives back."""
    layer, objects = bpy.context.view_layer, bpy.data.objects
    layer.update()
    return {
        "data-blocks": data_blocks(),
        "hidden": {o.name: (o.hide_viewport, o.hide_render, o in layer.objects[:] and o.hide_get()) for o in objects},
        "collections": {c.name: (c.hide_viewport, c.hide_render) for c in bpy.data.collections},
        "modifiers": [(m.name, m.show_viewport, m.show_render) for o in objects for m in o.modifiers],
        "groups": {o.name: [group.name for group in o.vertex_groups] for o in objects},
        "keys": [[block.name for block in key.key_blocks] for key in bpy.data.shape_keys],
        "places": {o.name: np.array(o.matrix_basis).tobytes() for o in objects},
        "frame": bpy.context.scene.frame_current,
        "mode": obj.mode,
        "active": layer.objects.active and layer.objects.active.name,
        "selected": [o.name for o in layer.objects if o.select_get()],
        "files": sorted(str(path.relative_to(folder)) for path in folder.rglob("*")),
    }


def pressed(obj: Any) -> str:
    """Switch the object on and bake it, as its buttons do; what they say against it, or ""."""
    try:
        if bpy.context.object == obj and not obj.sinew.enabled and obj.mode != "EDIT":
            enabled(obj)
        assert bpy.ops.sinew.bake() == {"FINISHED"}
    except RuntimeError as error:
        return str(error).strip()
    return ""


def fall(job: Job) -> np.ndarray:
    """Return the displacement (3,) of a free body that falls from rest by implicit Euler."""
    steps, step = (job.frame_count - 1) * job.body.solver.substeps, 1.0 / (job.frame_rate * job.body.solver.substeps)
    return np.array(job.body.solver.gravity) * step**2 * steps * (steps + 1) / 2.0


def check(one: Specimen, obj: Any, evaluated: Any) -> str:
    """A bake that is correct, in words."""
    record = obj.sinew.bake
    assert record.status == "DONE" and not baking.lost_words(obj)
    store = baking.open_store(obj)
    job, frames = store.job(), store.frames()
    assert len(frames) == job.frame_count == record.frames
    first, last = store.read(frames[0]), store.read(frames[-1])
    moved, far = last - first, fall(job)
    exact = ROUND_OFF * max(np.abs(first).max(), np.abs(last).max())
    assert np.abs(first - job.body.surface.positions).max() <= exact
    if one.falls:
        assert np.abs(moved - far).max() < exact + 1e-9 * np.linalg.norm(far)
    for k, frame in enumerate(frames):
        held = store.read(frame)[job.body.pinned_vertices] - job.body.pin_positions[k]
        assert not held.size or np.abs(held).max() <= exact
    guided = np.ptp(job.body.pin_positions, axis=0).max(initial=0.0)
    pushed = job.body.surface.size if job.body.colliders else 0.0
    # The end of a rigid rod that is held at the other falls 1.5 times as fast; one that also bends, a little more.
    assert np.abs(moved).max() <= 2.0 * np.linalg.norm(far) + 2.0 * guided + pushed + exact
    carrier = obj if record.on_itself else record.result
    with shown(carrier):
        seen = evaluated(carrier, frames[-1])
    assert np.isfinite(seen).all()
    if len(seen) == len(last):  # no modifier comes after it
        metres = bpy.context.scene.unit_settings.scale_length
        assert np.abs(seen * metres - last).max() <= 4.0 * exact
    warnings = " ".join(
        filter(None, (record.mesh_warning, record.resolution_warning, record.pin_warning, record.message))
    )
    assert re.search(one.warning, warnings), warnings
    return f"baked: {record.mesh_summary.split(' on ')[0]}, moved {np.abs(moved).max():.3g} m. {warnings}"


@pytest.mark.parametrize("one", SHOWN, ids=lambda one: one.name)
def test_the_zoo(one: Specimen, saved: Path, evaluated: Any, table: dict[str, str]):
    obj = one.build(saved.parent)
    before = surroundings(obj, saved.parent)
    said = pressed(obj)
    if said:
        assert one.refused and re.search(one.refused, said), said
        table[one.name] = f"refused: {said}"
    else:
        assert not one.refused
        table[one.name] = check(one, obj, evaluated)
        bpy.context.scene.frame_set(before["frame"])
        bpy.ops.sinew.delete_bake()
        bpy.ops.wm.save_mainfile()
    assert surroundings(obj, saved.parent) == before
