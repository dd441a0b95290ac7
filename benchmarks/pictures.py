"""Pictures of the benchmarks: curves and shaded bodies side by side, in ``out/bench/BENCHMARK/CASE.png``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.colors import LogNorm, to_rgb
from matplotlib.figure import Figure

from ..core.geometry.mesh.topology import boundary_triangles

FOLDER = Path(__file__).resolve().parents[1] / "out" / "bench"

_LIGHT = np.array([0.35, 0.45, 0.82])  # in camera axes: right, up, towards the viewer


@dataclass(frozen=True)
class Curve:
    """One line of a plot; ``style`` is matplotlib's (``"C0-"``, ``"k--"``, ``"C1o"``)."""

    label: str
    x: Sequence[float] | np.ndarray
    y: Sequence[float] | np.ndarray
    style: str = "-"


@dataclass(frozen=True)
class Plot:
    """Curves over common axes; a logarithmic axis omits nonpositive values."""

    title: str
    x_label: str
    y_label: str
    curves: Sequence[Curve]
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Bars:
    """Named horizontal bars, the first on top; several series side by side, each with one value per name."""

    title: str
    x_label: str
    names: Sequence[str]
    series: Mapping[str, Sequence[float]]
    log_x: bool = False


@dataclass(frozen=True)
class Grid:
    """Numbers over two settings as a heat map with labels: ``values`` (y, x)."""

    title: str
    x_label: str
    y_label: str
    x: Sequence[float]
    y: Sequence[float]
    values: np.ndarray


@dataclass(frozen=True)
class Snapshot:
    """Shaded surface of a tet mesh, seen along ``view`` with ``up`` upwards.

    ``values`` (m,) colours each tet by its logarithm, for example stiffness.
    """

    title: str
    positions: np.ndarray
    tets: np.ndarray
    values: np.ndarray | None = None
    view: tuple[float, float, float] = (-0.5, 0.9, -0.4)
    up: tuple[float, float, float] = (0.0, 0.0, 1.0)


Panel = Plot | Bars | Grid | Snapshot


def draw(benchmark: str, case: str, panels: Sequence[Panel], columns: int = 3) -> Path:
    """Draw the panels in rows of ``columns``; return the file's path."""
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(5.0 * columns, 4.0 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    for k, panel in enumerate(panels):
        axes = figure.add_subplot(rows, columns, k + 1)
        axes.set_title(panel.title, fontsize=10)
        _DRAW[type(panel)](axes, panel)
    path = FOLDER / benchmark / f"{case}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)
    return path


def _plot(axes: Axes, plot: Plot) -> None:
    for curve in plot.curves:
        axes.plot(curve.x, curve.y, curve.style, label=curve.label, markersize=4, linewidth=1.4)
    if plot.log_x:
        axes.set_xscale("log")
    if plot.log_y:
        axes.set_yscale("log")
    axes.set_xlabel(plot.x_label)
    axes.set_ylabel(plot.y_label)
    axes.grid(True, alpha=0.3)
    if any(curve.label for curve in plot.curves):
        axes.legend(fontsize=8)


def _bars(axes: Axes, bars: Bars) -> None:
    places, height = np.arange(len(bars.names)), 0.8 / len(bars.series)
    for k, (label, values) in enumerate(bars.series.items()):
        axes.barh(places + (k - 0.5 * (len(bars.series) - 1)) * height, values, height, label=label)
    axes.set_yticks(places, bars.names, fontsize=8)
    axes.invert_yaxis()
    if bars.log_x:
        axes.set_xscale("log")
    axes.set_xlabel(bars.x_label)
    axes.grid(True, axis="x", alpha=0.3)
    if any(bars.series):
        axes.legend(fontsize=8)


def _grid(axes: Axes, grid: Grid) -> None:
    shown = axes.imshow(np.log10(grid.values), origin="lower", cmap="viridis", aspect="auto")
    middle = np.log10(grid.values).mean()
    for (j, i), value in np.ndenumerate(grid.values):
        colour = "white" if np.log10(value) < middle else "black"
        axes.text(i, j, f"{value:.2g}", ha="center", va="center", color=colour, fontsize=8)
    axes.set_xticks(range(len(grid.x)), [f"{x:g}" for x in grid.x])
    axes.set_yticks(range(len(grid.y)), [f"{y:g}" for y in grid.y])
    axes.set_xlabel(grid.x_label)
    axes.set_ylabel(grid.y_label)
    axes.figure.colorbar(shown, ax=axes, label="log10")


def _shade(axes: Axes, shot: Snapshot) -> None:
    """Draw a surface with the painter's algorithm, one light, orthographic."""
    forward = np.asarray(shot.view) / np.linalg.norm(shot.view)
    right = np.cross(forward, shot.up)
    right /= np.linalg.norm(right)
    camera = np.stack([right, np.cross(right, forward), -forward])
    triangles, owners = _boundary(shot.tets)
    corners = (shot.positions @ camera.T)[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    seen = np.flatnonzero(normals[:, 2] > 0)
    order = seen[np.argsort(corners[seen, :, 2].mean(axis=1))]
    shade = 0.35 + 0.65 * np.clip(normals[order] @ _LIGHT, 0, 1)
    colours = np.clip(shade[:, None] * _base_colours(shot.values, owners)[order], 0, 1)
    # Edges in the face's own colour hide the gaps between neighbours.
    faces = PolyCollection(corners[order, :, :2], facecolors=colours, edgecolors=colours, linewidths=0.3)
    axes.add_collection(faces)
    axes.autoscale_view()
    axes.set_aspect("equal")
    axes.set_axis_off()


def _boundary(tets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return boundary triangles (t,3), and the tet of each (t,)."""
    triangles = boundary_triangles(tets)
    # Three vertices are shared by at most two tets, those of a boundary face by one.
    of_tet = {}
    for e, corners in enumerate(np.sort(tets, axis=1).tolist()):
        for left_out in range(4):
            of_tet[tuple(corners[:left_out] + corners[left_out + 1 :])] = e
    return triangles, np.array([of_tet[tuple(sorted(face))] for face in triangles.tolist()])


def _base_colours(values: np.ndarray | None, owners: np.ndarray) -> np.ndarray:
    soft, stiff = np.array(to_rgb("#e58b6b")), np.array(to_rgb("#4b6fa5"))
    if values is None or np.ptp(values) == 0:
        return np.broadcast_to(soft, (len(owners), 3))
    part = np.asarray(LogNorm(values.min(), values.max())(values[owners]))[:, None]
    return (1 - part) * soft + part * stiff


_DRAW = {Plot: _plot, Bars: _bars, Grid: _grid, Snapshot: _shade}
