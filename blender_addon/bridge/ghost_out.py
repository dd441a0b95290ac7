"""A second bake as a ghost on the graphics card: the surface that was simulated, seen through, at one frame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gpu
import numpy as np

from ...core.simulation.frame_store import FrameStore
from .card_state import drawing
from .frames_out import local_frames
from .overlay_out import View
from .overlay_shader import normal_rows, triangles_shader
from .preview_shader import ENCODED

# Push constants reach no farther than 128 bytes everywhere: the colour lies behind the rows.
_SEEN_THROUGH = """
  float rim = 1.0 - abs(normalize(lit_normal).z);
  vec3 linear = vec3(normal_x.w, normal_y.w, normal_z.w) * (1.0 - 0.25 * rim);
"""
_OPACITY = ENCODED + "  result.w = opacity * (0.6 + 0.4 * rim);\n"
HIDDEN = 0.3
"""Part of its opacity that is left of a ghost behind something."""


class GhostFrames:
    """The frames of a second bake, one at a time, in the object's own coordinates; a StoreError where they cannot be
    read.
    """

    def __init__(self, folder: Path) -> None:
        self._store = FrameStore.open(folder)
        self._job = self._store.job()
        self.triangles = self._job.surface.triangles
        # Triangles go around by the right hand in world space.
        self.outwards = 1.0 if np.linalg.det(self._job.object_to_world[0][:3, :3]) > 0.0 else -1.0

    def numbers(self) -> list[int]:
        """Frames that can be shown by now, ascending."""
        return [frame for frame in self._store.frames() if frame >= self._job.first_shown]

    def at(self, frame: int) -> np.ndarray:
        """Positions (n,3) float32."""
        return next(local_frames(self._job, [frame], self._store.read))


def nearest(frames: list[int], frame: int) -> int | None:
    """The frame that is shown: the newest up to ``frame``, the first before it; None without any."""
    return max((f for f in frames if f <= frame), default=frames[0] if frames else None)


def vertex_normals(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """(n,3) float64 unit normals, the triangles' own weighed by their areas; zero where there are none."""
    x = positions.astype(np.float64)
    across = np.cross(x[triangles[:, 1]] - x[triangles[:, 0]], x[triangles[:, 2]] - x[triangles[:, 0]])
    corners = triangles.ravel()
    total = [np.bincount(corners, np.repeat(across[:, k], 3), minlength=len(x)) for k in range(3)]
    normals = np.column_stack(total)
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.divide(normals, length, out=np.zeros_like(normals), where=length > 0.0)


class GhostBatch:
    """The surface at one frame, on the card."""

    def __init__(self, frames: GhostFrames, frame: int) -> None:
        positions = frames.at(frame)
        normals = frames.outwards * vertex_normals(positions, frames.triangles)
        form = gpu.types.GPUVertFormat()
        for name in ("position", "normal"):
            form.attr_add(id=name, comp_type="F32", len=4, fetch_mode="FLOAT")
        vertices = gpu.types.GPUVertBuf(form, len=len(positions))
        for name, values in (("position", positions), ("normal", normals)):
            columns = np.column_stack([values, np.ones(len(values))])
            vertices.attr_fill(id=name, data=np.ascontiguousarray(columns, dtype=np.float32))
        elements = gpu.types.GPUIndexBuf(type="TRIS", seq=np.ascontiguousarray(frames.triangles, dtype=np.int32))
        self.batch = gpu.types.GPUBatch(type="TRIS", buf=vertices, elem=elements)


class GhostPainter:
    """Makes the shader at first use; PreviewError where the driver refuses it."""

    def __init__(self) -> None:
        self._shader: Any = None

    def draw(self, ghost: GhostBatch, view: View, matrix: np.ndarray, colour: Any) -> None:
        """Draw a ghost under an object's world matrix (4,4): faint where something hides it, and each place once where
        nothing does. ``colour`` is linear, its fourth the opacity.
        """
        self._shader = self._shader or triangles_shader(_SEEN_THROUGH, _OPACITY)
        faint = HIDDEN * colour[3]
        flat = view.to_clip(matrix, lifted=True)
        rows = normal_rows(view.view, matrix)
        passes = (
            ({"depth_test": "GREATER", "depth_mask": False, "blend": "ALPHA", "culled": "BACK"}, faint),
            ({"depth_test": "LESS_EQUAL", "colour": False}, faint),
            ({"depth_test": "EQUAL", "depth_mask": False, "blend": "ALPHA"}, colour[3]),
        )
        for state, opacity in passes:
            with drawing(**state):
                self._shader.bind()
                self._shader.uniform_float("to_clip", flat)
                for name, row, part in zip("xyz", rows, colour[:3], strict=True):
                    self._shader.uniform_float(f"normal_{name}", (*row[:3], part))
                self._shader.uniform_float("opacity", opacity)
                ghost.batch.draw(self._shader)
