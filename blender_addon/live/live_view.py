"""Drawing of live mode in 3D Views: the body (``Preview``), pins and text."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d

from ...core.foundation.errors import StoreError
from ...core.foundation.schema.settings import moduli
from ...core.jobs.store.cached_handles import APART
from ..drawing import preview_colours, screen, stand_in
from ..drawing.display_mode import manner_of
from ..drawing.gpu_preview import Preview
from ..drawing.layer import Layer
from ..drawing.overlay_marks import PINS
from ..drawing.preview_fine import FineCard
from ..drawing.preview_mesh import Skin, read_drawn_mesh
from ..objects.modifier_stack import subdivision_after
from ..properties.live_properties import OF_SUBSPACE
from ..scene_import.subdivision_in import coarser_words, settings_of, subdivided
from ..translations.translate import translated
from ..window.redraw import redraw_views
from . import live_visibility

if TYPE_CHECKING:
    from .live_session import Session

PIN_RADIUS = 6.0
"""Radius of a pin's marker, pixels at a UI scale of 1."""
PIN_COLOUR = (*preview_colours.as_shown(np.array(PINS)), 1.0)
THREAD_COLOUR = (0.7, 0.92, 1.0, 0.8)
RECORDING_COLOUR = (1.0, 0.3, 0.25, 1.0)


class View(Layer):
    """Draw handler of the session's body in the 3D Views of its scene, until :meth:`remove`.

    A *stand-in*, a temporary mesh object in the scene, is moved instead if the user chose so, or the GPU cannot draw
    the body.

    Attributes
    ----------
    modes, handles : numbers of skinning modes (0 without a subspace) and of handles (including those of pins)
    coarser : message if a Subdivision modifier is drawn at a lower level than its setting, else ""
    refused : reason why the GPU cannot draw the body, else ""
    """

    FAILED = "The body cannot be drawn by the graphics card ({error})."

    def __init__(self, session: Session) -> None:
        obj = session.object
        self._session = session
        self._arrays = arrays = _display(session)
        self._skin = Skin(arrays["rest"], arrays["weights"], arrays["centre"], float(arrays["size"][0]))
        self._mesh = read_drawn_mesh(obj, bpy.context, session.state.first)
        self._stand_in: stand_in.StandIn | None = None
        self._begin_to_draw(self._subdivision_of(obj))
        self._log_stiffness = arrays["log_stiffness"]
        self.modes, self.handles = len(arrays["eigenvalues"]), arrays["weights"].shape[1]
        self.refused = ""
        super().__init__()

    def _subdivision_of(self, obj: Any) -> dict[str, Any] | None:
        subdivision = subdivision_after(obj, self._session.stage.scene)
        return None if subdivision is None else settings_of(*subdivision)

    def _begin_to_draw(self, settings: dict[str, Any] | None) -> None:
        """Set up the preview of the body, subdivided by ``settings`` of a Subdivision modifier, if given."""
        self._subdivision, fine, self.coarser = settings, None, ""
        if settings is not None:
            made = subdivided(self._mesh.cage, settings)
            self.coarser = coarser_words(made, settings["levels"])
            fine = None if made is None else FineCard(made, self._mesh.mirrored)
        self._preview = Preview(self._mesh, self._skin, self._session.metres, fine=fine)
        self._shown: tuple[str, int] | None = ("OBJECT", 0)
        self._seen: tuple[np.ndarray, np.ndarray] | None = None

    def follow_subdivision(self, obj: Any) -> None:
        """Set up the preview again after a change of the body's Subdivision modifier."""
        settings = self._subdivision_of(obj)
        if settings == self._subdivision:
            return
        self._begin_to_draw(settings)
        self.put_away()
        self._stand_in = None
        self.show(self._session.state.handles, self._session.state.positions)

    @property
    def stand_in_uid(self) -> int | None:
        """``session_uid`` of the stand-in (temporary mesh object), or None."""
        return None if self._stand_in is None else self._stand_in.uid

    def positions(self) -> np.ndarray:
        """Return the vertex positions of the last frame received, (n,3) m in world space."""
        return self._preview.positions()

    def seen(self) -> np.ndarray:
        """Return the vertex positions of the last frame drawn, (n,3) m in world space.

        If drawing is slow, several frames arrive between two redraws. For picking, the frame that the user sees counts,
        not the last frame received.
        """
        return self._preview.positions(self._seen)

    def surface(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the surface that was drawn last: vertex positions (m,3), m, and triangles (t,3).

        Triangles are vertex indices. The surface is subdivided if the viewport shows a Subdivision.
        """
        return self._preview.surface(self._seen), self._preview.triangles

    def carrier_of(self, vertex: int) -> int:
        """Return the body's vertex with the largest influence on a vertex of the drawn surface, as an index."""
        return self._preview.carrier_of(vertex)

    def show(self, handles: np.ndarray, positions: np.ndarray | None = None) -> None:
        """Display the body at vertex positions, or deformed by handles (affine displacements).

        ``handles`` (h,4,3), m: used if ``positions`` is None.
        ``positions`` (n,3), m: vertex positions.
        """
        if positions is None:
            self._preview.set_handles(handles)
        else:
            self._preview.set_positions(positions)
        if self._stand_in is not None:
            self._stand_in.move(self._preview.surface())
        redraw_views()

    def follow_stiffness(self, youngs_moduli: list[float]) -> None:
        """Update the stiffness colors after a change of the materials' Young's moduli.

        Where materials are mixed, the logarithms of the moduli are averaged.

        ``youngs_moduli``, Pa: one per material.
        """
        change = np.log10(youngs_moduli) - np.log10(moduli(self._session.job.body.materials))
        self._log_stiffness = self._arrays["log_stiffness"] + self._arrays["materials"] @ change
        self._shown = None

    def fall_back(self) -> None:
        """Display or remove the stand-in, a temporary mesh object that shows the body.

        The stand-in is displayed if the GPU cannot draw the body or the user chose so. A stand-in that a save or an
        undo has removed is created again.
        """
        obj = self._session.object
        if obj is None:
            return
        settings = obj.sinew.live
        if self.refused and settings.preview == "MESH":
            self.refused = settings.message = ""  # choosing the card again retries it
        if not self.refused and settings.preview == "CARD":
            self.put_away()
            self._stand_in = None
            return
        if self._stand_in is None:
            triangles, metres = self._preview.triangles, self._session.metres
            self._stand_in = stand_in.StandIn(obj, self._session.stage.scene, triangles, metres)
        if self.refused and not settings.message:
            settings.message = f"{self.refused} {translated('The mesh itself is moved instead.')}"
        if not self._stand_in.is_there:
            self._stand_in.move(self._preview.surface())

    def put_away(self) -> None:
        """Remove the stand-in (temporary mesh object that shows the body) from the scene.

        The next poll creates the stand-in again.
        """
        if self._stand_in is not None:
            self._stand_in.remove()

    def remove(self) -> None:
        """Stop drawing, and remove the stand-in (temporary mesh object that shows the body)."""
        super().remove()
        self.put_away()
        redraw_views()

    # -- drawing --------------------------------------------------------------------------------------------------

    def draw_view(self, context: Any) -> None:
        """Draw the body in world space, unless a stand-in (temporary mesh object) shows the body."""
        obj = self._body_in(context)
        if obj is None or self.refused:
            return
        self._seen = self._preview.shape
        settings = obj.sinew.live
        if settings.preview == "MESH":
            return
        self._colour(settings)
        region = context.region_data
        self._preview.draw(
            region.view_matrix,
            region.window_matrix,
            preview_colours.object_colour(obj, context.space_data.shading),
            manner_of(obj, context.space_data, context.preferences.themes[0].view_3d),
            dots=settings.show == "POINTS",
            pixel_size=context.preferences.system.pixel_size,
        )

    def _body_in(self, context: Any) -> Any | None:
        """Return the body if a 3D View would show the body without live mode."""
        obj = self._session.object
        return obj if obj is not None and live_visibility.is_seen(obj, self._session.stage, context) else None

    def refuse(self, reason: str, drawing: Callable[[Any], None]) -> None:
        """Stop drawing with a callback that has failed.

        If this callback draws the body, a stand-in (temporary mesh object) is displayed instead.

        ``reason``: reason of the failure.
        ``drawing``: the callback.
        """
        if drawing == self.draw_over:
            super().refuse(reason, drawing)
        else:
            self.refused = reason
            print(f"sinew: {reason}", file=sys.stderr)

    def _colour(self, settings: Any) -> None:
        shown = (settings.show if self.modes or settings.show not in OF_SUBSPACE else "OBJECT", settings.mode)
        if shown == self._shown:
            return
        self._shown, arrays = shown, self._arrays
        colours, show = None, shown[0]
        if show == "STIFFNESS":
            colours = preview_colours.stiffness_colours(self._log_stiffness)
        elif show == "WEIGHTS":
            index = min(settings.mode, self.handles) - 1
            colours = preview_colours.weight_colours(arrays["weights"][:, index])
        elif show == "CLUSTERS":
            colours = preview_colours.cluster_colours(arrays["clusters"])
        self._preview.show_colours(colours)
        if show == "POINTS":
            points = Skin(arrays["points_rest"], arrays["points_weights"], self._skin.centre, self._skin.size)
            self._preview.set_dots(points, arrays["points_volume"])

    def draw_over(self, context: Any) -> None:
        """Draw the grabs' markers and the text in the corner over the 3D View."""
        if self._body_in(context) is None:
            return
        scale = context.preferences.system.ui_scale
        for _vertex, held, target in self.grab_marks(context.region, context.region_data):
            screen.line(held, target, THREAD_COLOUR)
            screen.disc(target, PIN_RADIUS * scale, PIN_COLOUR)
        colour = RECORDING_COLOUR if self._session.state.recording else screen.WHITE
        screen.write_lines(context, words(self._session), [colour])

    def grab_marks(self, region: Any, region_data: Any) -> list[tuple[int, Any, Any]]:
        """Return the vertex and two pixels of each grab in view.

        A grab is a spring that pulls a vertex to a target. The pixels are those of the vertex and of the target. If a
        Subdivision is drawn, both pixels are shifted to the subdivided surface.
        """
        grabs, metres = list(self._session.state.grabs.values()), self._session.metres
        if not grabs:
            return []
        vertices = [grab.vertex for grab in grabs]
        points, seen = self._preview.positions(vertices=vertices), self._preview.marked(vertices)
        marks = []
        for grab, point, shown in zip(grabs, points, seen, strict=True):
            ends = (shown, grab.target + (shown - point))
            ends = [location_3d_to_region_2d(region, region_data, end / metres) for end in ends]
            if None not in ends:
                marks.append((grab.vertex, *ends))
        return marks


def _display(session: Session) -> dict[str, np.ndarray]:
    kept = session.store.read_cached("display")
    if kept is None:
        raise StoreError("The data to draw cannot be read from the disk.", "Press Play again.")
    return kept[0]


def words(session: Session) -> list[str]:
    """Return the lines of text that live mode writes in the corner of a 3D View."""
    state = session.state
    lines = [state.frame_words]
    if state.playing:
        converged = "" if state.shown.converged else translated(", not converged")
        speed = translated(
            "{rate:.0f} frames/s   {effort}{converged}   {milliseconds:.1f} ms per frame",
            rate=state.rate,
            effort=state.effort,
            converged=converged,
            milliseconds=1000.0 * state.shown.seconds,
        )
        lines.append(speed)
    share = state.shown.apart / session.job.body.surface.size
    if share > APART:
        lines.append(
            translated(
                "The preview is off by at most {share:.0%} of the body's size: raise Modes or Cells Across", share=share
            )
        )
    said = session.view.coarser, _shown_weights(session), state.message, session.words_of_edits, state.waits_for
    return [*lines, *(line for line in said if line)]


def _shown_weights(session: Session) -> str:
    """Return the label of the mode or pin handle with displayed weights, or ""."""
    obj, view = session.object, session.view
    if obj is None or not view.modes or obj.sinew.live.show != "WEIGHTS":
        return ""
    number, modes = min(obj.sinew.live.mode, view.handles), view.modes
    if number <= modes:
        return translated("Weights of mode {number} of {modes}", number=number, modes=modes)
    return translated(
        "Weights of pin handle {number} of {handles}", number=number - modes, handles=view.handles - modes
    )
