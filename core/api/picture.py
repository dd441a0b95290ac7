"""Pictures of bodies with Matplotlib: surfaces coloured by a quantity of their tets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..foundation.errors import SettingsError, refusing
from ..foundation.files.array_file import whole_files
from ..geometry.mesh.embedding import embed
from ..geometry.mesh.face_subdivision import subdivide_faces
from .solid import Solid

QUANTITIES = {
    "von_mises": ("von Mises stress, Pa", lambda solid, x: solid.von_mises(x)),
    "energy_density": ("elastic energy, J/m³", lambda solid, x: solid.energy_density(x)),
    "displacement": ("displacement, m", lambda solid, x: np.linalg.norm(x - solid.rest, axis=1)[solid.tets].mean(1)),
}
"""Label of the colour bar, and function from a solid and vertices (n,3) m to the value in each tet (m,), by quantity.
"""


def draw(path: Path | str, bodies: Sequence[tuple[Solid, np.ndarray]], colour: str, title: str | None) -> None:
    """Draw bodies into the image file ``path``, coloured by a quantity.

    ``bodies``: pairs of a solid and the positions of its tet vertices, (n,3) m. ``colour``: a key of ``QUANTITIES``.
    Raises SettingsError if Matplotlib is not installed or ``colour`` is unknown. Raises StoreError if the file cannot
    be written.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection
    except ImportError as error:
        raise SettingsError("A picture needs Matplotlib.", "Install Matplotlib: pip install matplotlib.") from error
    if colour not in QUANTITIES:
        raise SettingsError(f"“{colour}” is not a quantity to show.", f"Choose one of {', '.join(QUANTITIES)}.")
    words, values_of = QUANTITIES[colour]
    corners, values = [], []
    for solid, x in bodies:
        mesh = solid.model.mesh
        fine = subdivide_faces(solid.surface, mesh.mean_edge)  # the surface also bends between its vertices
        points = embed(fine.positions, mesh).apply(x, mesh.tets)
        middles = embed(fine.positions[fine.triangles].mean(axis=1), mesh)
        corners.append(points[fine.triangles])
        values.append(values_of(solid, x)[middles.tet_indices])
    faces = np.concatenate(corners)
    figure = Figure(figsize=(8.0, 6.0), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot(projection="3d", proj_type="ortho", title=title or "")
    shown = Poly3DCollection(faces, cmap="viridis", linewidth=0.1, edgecolor="#00000040")
    shown.set_array(np.concatenate(values))
    axes.add_collection3d(shown)
    low, high = faces.min(axis=(0, 1)), faces.max(axis=(0, 1))
    room = 0.02 * (high - low).max()
    for axis, a, b in zip("xyz", low - room, high + room):
        axes.set(**{f"{axis}lim": (a, b), f"{axis}label": f"{axis}, m"})
        axes.locator_params(axis=axis, nbins=3)
    axes.set_box_aspect(high - low + 2.0 * room)
    figure.colorbar(shown, ax=axes, label=words, shrink=0.7)
    remedy = "Name a .png, .svg or .pdf in an existing folder."
    path, refused = Path(path), refusing(f"{path!s:.200} cannot be drawn", remedy, of=(OSError, ValueError))
    with refused, whole_files(path.parent) as folder:
        figure.savefig(folder / path.name, dpi=150, bbox_inches="tight")


def draw_sheet(path: Path, cells: Sequence[tuple[str, Path]]) -> None:
    """Draw a contact sheet of pictures. ``cells``: the label and the picture of each; a missing picture stays white."""
    try:
        from matplotlib import image
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise SettingsError("A contact sheet needs Matplotlib.", "Install it: pip install matplotlib.") from error
    across = math.ceil(math.sqrt(len(cells)))
    down = math.ceil(len(cells) / across)
    figure = Figure(figsize=(4.0 * across, 3.3 * down), layout="constrained")
    FigureCanvasAgg(figure)
    for axes in figure.subplots(down, across, squeeze=False).flat:
        axes.set_axis_off()
    for axes, (label, picture) in zip(figure.axes, cells):
        axes.set_title(label, fontsize=10, wrap=True, parse_math=False)
        if picture.is_file():
            axes.imshow(image.imread(picture))
    refused = refusing(f"{path} cannot be drawn", "Choose another folder.", of=(OSError, ValueError))
    with refused, whole_files(path.parent) as folder:
        figure.savefig(folder / path.name, dpi=100)
