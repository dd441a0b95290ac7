"""Peers' input and answers in scenes of bodies in contact, and crossings and time of anyone's frames."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core.geometry.mesh.topology import boundary_triangles
from ...core.mechanics.materials.lame import lame_parameters
from ..crossings import crossings
from ..meetings import Scene
from ..processes import ask
from ..registry import Row, row

RATIO = 0.4
"""Poisson's ratio of all bodies of the scenes."""

Answer = dict[str, np.ndarray]
"""Arrays by name: ``positions`` of the first frame and each one after it, and processor ``seconds`` of the latter."""


class Peers:
    """Peers on ``frames`` frames of ``h`` seconds of a scene.

    Attributes
    ----------
    tets, faces, body : tets, surface triangles, and number of the body of each vertex
    surface : vertices of the surface
    heights : heights of the upper plate at the first frame and each one after it; nothing without one
    """

    def __init__(self, scene: Scene, frames: int, h: float) -> None:
        self.scene, self.frames, self.h = scene, frames, h
        counts = [len(each.mesh.rest_positions) for each in scene.bodies]
        self.X = np.concatenate([each.mesh.rest_positions for each in scene.bodies])
        starts = np.cumsum([0, *counts])
        self.tets = np.concatenate([each.mesh.tets + start for each, start in zip(scene.bodies, starts)])
        self.faces = boundary_triangles(self.tets)
        self.surface = np.unique(self.faces)
        self.body, self.heights = np.repeat(np.arange(len(counts)), counts), np.zeros(0)
        if len(scene.colliders) > 1:
            ends = (scene.places(k)[4, 2] for k in range(frames))
            self.heights = np.array([scene.colliders[1][0][0, 2], *ends])
        self._common = {
            "frames": frames,
            "heights": self.heights,
            "friction": scene.friction,
            "selves": len(scene.selves),
            "masses": np.concatenate([each.lumped_masses for each in scene.bodies]),
        }

    def mujoco(self, python: str, substeps: int, **more: Any) -> Answer:
        """Return MuJoCo's flexes: ``radius``, ``iterations`` and ``material`` are ``more``."""
        # Rounded, since a stack falls elsewhere after a change in the last bit.
        moduli = np.round([each.youngs_modulus[0] for each in self.scene.bodies], 6)
        material = {"youngs_modulus": moduli, "poissons_ratio": RATIO, "damping": 0.0}
        question = self._common | material | self._stepped(substeps) | more
        return ask(python, "mujoco_meeting.py", question, blas_threads=1)

    def newton(self, python: str, substeps: int, **more: Any) -> Answer:
        """Return Newton's vertex block descent: ``radius`` and ``iterations`` are ``more``."""
        mu, lam = lame_parameters(np.concatenate([each.youngs_modulus for each in self.scene.bodies]), RATIO)
        material = {"faces": self.faces, "mu": mu, "lam": lam}
        question = self._common | material | self._stepped(substeps) | more
        return ask(python, "newton_meeting.py", question, blas_threads=1)

    def _stepped(self, substeps: int) -> dict[str, Any]:
        steps = {"time_step": self.h / substeps, "substeps": substeps}
        return {"positions": self.X, "tets": self.tets, "body": self.body, **steps}

    def blender(self, kind: str, substeps: int, ball: float) -> Answer:
        """Return Blender's Soft Body, of this Ball Size, m, or Cloth on the surface; other vertices stay."""
        question = self._common | {
            "positions": self.X[self.surface],
            "faces": np.searchsorted(self.surface, self.faces),
            "mass": float(self._common["masses"].sum()),
            "substeps": substeps,
            "kind": kind,
            "ball": ball,
            "fps": round(1.0 / self.h),
        }
        found = ask(sys.executable, "blender_meeting.py", question, blas_threads=1)
        whole = np.tile(self.X, (len(found["positions"]), 1, 1))
        whole[:, self.surface] = found["positions"]
        return found | {"positions": whole}

    def rows(self, case: str, words: str, found: Answer, bar: float | None = None) -> Iterator[Row]:
        """Yield the numbers of frames with intersections of bodies or self-contact surfaces, and with plates; times."""
        crossed, beyond, deepest = 0, 0, 0.0
        frames, seconds = found["positions"], found["seconds"]
        for k, x in enumerate(frames):
            if not np.isfinite(x).all():
                crossed, beyond = crossed + 1, beyond + 1
                continue
            pairs = crossings(x, self.faces)
            one, other = self.body[pairs[:, 0]], self.body[self.faces[pairs[:, 2], 0]]
            crossed += bool(((one != other) | np.isin(one, self.scene.selves)).any())
            below = max(0.0, -float(x[self.surface, 2].min()))
            above = max(0.0, float(x[self.surface, 2].max()) - self.heights[k]) if len(self.heights) else 0.0
            deepest = max(deepest, below, above)
            beyond += bool(below > 0.0 or above > 0.0)
        yield row(case, f"frames in which bodies cross, of {len(frames)}, {words}", crossed, "", at_most=bar)
        yield row(case, f"frames in which plates are crossed, {words}", beyond, "", at_most=bar)
        yield row(case, f"deepest in a plate, {words}", deepest, "m")
        yield row(case, f"processor ms a frame, mean, {words}", 1e3 * float(np.mean(seconds)), "ms")
        yield row(case, f"processor ms a frame, median, {words}", 1e3 * float(np.median(seconds)), "ms")
        yield row(case, f"processor ms a frame, most, {words}", 1e3 * float(seconds.max()), "ms")
        height = float(np.ptp(frames[-1][self.surface, 2]) / np.ptp(frames[0][self.surface, 2]))
        yield row(case, f"height at the end, of the first, {words}", height)
