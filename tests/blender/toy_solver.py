"""Run by itself: a solver is declared before anything has read the declarations, and looked for wherever solvers are.

Prints what was found as JSON. ``argv``: a folder to write in.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import conftest  # noqa: F401 - mounts the package
from sinew.core.foundation.schema import solver_kinds
from sinew.core.foundation.schema.setting_fields import choice, number

TOY = solver_kinds.SolverKind(
    name="toy",
    label="Toy FEM",
    description="Nothing moves",
    method="toy.ToySolver",
    seconds=7.0,
    iterates=False,
    at_contrast="a toy does not care",
    own={
        "wobble": number(0.5, 0.0, 2.0, "m", "How much it wobbles, m"),
        "stubborn": choice(False, "Whether it wobbles at all", is_advanced=True),
    },
)


def declare() -> None:
    """The one entry, and the one file."""
    solver_kinds.SOLVER_KINDS[TOY.name] = TOY
    from sinew.core.methods.solvers.step_solver import StepReport, StepSolver

    class ToySolver(StepSolver):
        def step(self, state, pin_targets, time_step, loads=()):
            return state, StepReport(f"wobbled by {self.settings.wobble:g} m")

    module = sys.modules["sinew.core.methods.solvers.toy"] = ModuleType("toy")
    module.ToySolver = ToySolver


def in_library(folder: Path) -> dict:
    """Return the library's data of the toy solver."""
    import numpy as np
    from sinew.benchmarks.bodies import block
    from sinew.core.foundation.errors import SettingsError
    from sinew.core.foundation.schema.settings import ResolutionSettings, SolverSettings
    from sinew.core.geometry.tetrahedra.tet_count import SurfaceMeasure
    from sinew.core.jobs.checks.advice import BodyFacts, advice
    from sinew.core.jobs.checks.costs import GROWTH, cost_of
    from sinew.core.jobs.scene_files.scene_file import read_scene
    from sinew.core.methods.model.model import build_model
    from sinew.core.methods.solvers import make_solver

    try:
        refused = SolverSettings(solver="toy", wobble=3.0)
    except SettingsError as error:
        refused = str(error)
    corners = [[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    np.savez(folder / "mesh.npz", positions=corners, triangles=[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    lines = ['mesh = "mesh.npz"', "[solver]", 'solver = "toy"', "wobble = 1.5", "stubborn = true"]
    (folder / "scene.toml").write_text("\n".join(lines))
    read = read_scene(folder / "scene.toml").body.solver
    cost = cost_of(SurfaceMeasure(1.0, 1.0, 6.0, 12, 0.0), ResolutionSettings(), read, 8)
    body = build_model(block((1, 1, 1), (1.0, 1.0, 1.0)), 1e5, 0.4, 1e3)
    stiff = BodyFacts(tets=100, cells_across=5, size=1.0, contrast=1e4, thickness=0.0, movement=0.0)
    return {
        "refused": refused,
        "read": [read.solver, read.wobble, read.stubborn],
        "seconds": cost.seconds / (cost.tets / 1e4) ** GROWTH,
        "advice": [[each.value, each.reason] for each in advice(stiff, read, ResolutionSettings())],
        "stepped": make_solver(body, read).step(body.rest_state(), np.zeros((0, 3)), 0.04)[1].solver,
    }


def in_blender() -> dict:
    """Return the add-on's display of the toy solver."""
    import bpy
    from sinew.blender_addon import registration
    from sinew.blender_addon.command.options import parser
    from sinew.blender_addon.properties import choices
    from sinew.blender_addon.scene_import.settings_in import solver_settings
    from sinew.ui import compare, solver

    from blender.drawn import drawn_by

    registration.register()
    mesh = bpy.data.meshes.new("Body")
    body = bpy.data.objects.new("Body", mesh)
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    bpy.context.scene.collection.objects.link(body)
    bpy.context.view_layer.objects.active = body
    body.sinew.enabled = True
    body.sinew.solver = body.sinew.compare.solver = "toy"
    for name, value in {"wobble": 0.25, "stubborn": True}.items():
        setattr(body.sinew, name, value)
    settings, wobble = solver_settings(body.sinew, bpy.context.scene), body.sinew.bl_rna.properties["wobble"]
    drawn = (*solver.draw_solver, *solver.draw_advanced, *compare.draw_compare)
    panels = {cls.bl_label: drawn_by(cls).properties for cls in drawn}
    said = {
        "menus": [choices.solver_items()[-1], choices.compared_solver_items()[-1]],
        "property": [wobble.name, wobble.hard_min, wobble.hard_max, wobble.description],
        "settings": [settings.solver, settings.wobble, settings.stubborn],
        "panels": panels,
        "command": [parser("bake", True).format_help(), parser("bake", True).parse_args(["a", "--solver=toy"]).solver],
    }
    registration.unregister()
    return said


if __name__ == "__main__":
    declare()
    print("FOUND", json.dumps(in_library(Path(sys.argv[1])) | in_blender()))
