"""Models of bodies built in code."""

from __future__ import annotations

import numpy as np
from sinew.benchmarks.bodies import block, held_end
from sinew.core.foundation.schema.solver_kinds import SOLVER_KINDS
from sinew.core.methods.model.model import Model, build_model

FULL_SPACE = [name for name, kind in SOLVER_KINDS.items() if not kind.takes_modes and not kind.takes_nodes]
"""Solvers in which every vertex has inertia."""


def bar(stiff: float = 1e9, soft: float = 1e5, energy: str = "stable_neo_hookean", pinned: bool = True) -> Model:
    """A bar of 0.4 x 0.1 x 0.1 m whose middle half is stiff; held at x = 0."""
    mesh = block((8, 2, 2), (0.4, 0.1, 0.1))
    centres = mesh.rest_positions[mesh.tets].mean(axis=1)
    E = np.where(np.abs(centres[:, 0] - 0.2) < 0.1, stiff, soft)
    held = held_end(mesh) if pinned else ()
    return build_model(mesh, E, 0.4, 1000.0, energy, pinned=held)
