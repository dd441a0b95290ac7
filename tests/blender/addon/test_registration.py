"""Registering leaves nothing behind when it is undone; no class is without a word for the artist."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import bpy
import numpy as np
import pytest
from sinew import operators, ui
from sinew.blender_addon import registration
from sinew.core.foundation.kernels import jit
from sinew.core.foundation.kernels.small_matrix import batch_svd


def test_off_and_on_again(body):
    registration.unregister()
    assert not registration.is_registered() and not hasattr(bpy.types, "SINEW_OT_bake")
    assert not hasattr(bpy.types, "VIEW3D_PT_sinew_bake")
    registration.register()
    assert registration.is_registered() and hasattr(bpy.types, "SINEW_OT_bake")
    assert body.sinew.enabled and len(body.sinew.materials) == 1


def test_blenders_start_waits_for_no_library():
    script = f"""
import sys
sys.path.insert(0, {str(Path(__file__).resolve().parents[2])!r})
import conftest
from sinew.blender_addon import registration
if not registration.is_registered():
    registration.register()
print("loaded:", *sorted({{"numba", "scipy", "cvxopt", "psutil"}} & set(sys.modules)), "end")
registration.unregister()
"""
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert "loaded: end" in said.stdout, said.stdout + said.stderr


def test_kernels_leave_no_thread_behind_however_often_it_is_switched_off_and_on():
    """With kernels that have run, as after a click that measures a body."""

    def kernel_threads():
        return [thread for thread in threading.enumerate() if thread.name.startswith("sinew-kernel")]

    many = np.tile(np.eye(3), (4 * jit.FEW, 1, 1))
    for _ in range(20):
        sigma = batch_svd(many)[1]
        assert (sigma == 1.0).all()
        registration.unregister()
        assert not kernel_threads()
        registration.register()


@pytest.mark.parametrize("cls", operators.CLASSES, ids=lambda cls: cls.__name__)
def test_operators_have_words_and_names(cls):
    assert cls.bl_idname.startswith("sinew.") and cls.bl_label[0].isupper()
    assert (
        getattr(cls, "bl_description", "")
        or hasattr(cls, "description")
        or "INTERNAL" in cls.bl_options
        or (issubclass(cls, bpy.types.Macro))
    )


def test_the_physics_tab_has_every_panel_and_the_sidebar_what_is_done_often():
    panels = [cls for cls in ui.CLASSES if issubclass(cls, bpy.types.Panel)]
    sidebar = sorted(c.bl_label for c in panels if getattr(c, "bl_category", "") == "Sinew")
    physics = sorted(c.bl_label for c in panels if c.bl_space_type == "PROPERTIES" and c.bl_context == "physics")
    often = [
        *("Sinew", "Physical Materials", "Placement", "Muscle", "Advanced", "Pins", "Collisions", "Advanced", "Live"),
        *("Resolution", "Simulated Shape", "Solver", "Advice", "Frames and Result", "Attributes", "Compare"),
    ]
    more = [
        *(
            "Per Collider",
            "Pairs",
            "Ties",
            "Cuts",
            "Springs",
            "Joint",
            "Fields",
            "Field Weights",
            "Pressure",
            "Plasticity",
            "Advanced",
            "Vibrations",
        ),
        *("Diagnostics", "Solver Report"),
    ]
    assert sidebar == sorted(often) and physics == sorted(often + more)
