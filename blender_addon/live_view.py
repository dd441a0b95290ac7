"""What live mode draws into the 3D Views: the body, its pins, and a few words; the card's work is ``Preview``'s."""

from __future__ import annotations

import sys
import traceback
from typing import TYPE_CHECKING, Any

import blf
import bpy
import gpu
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d
from gpu_extras.batch import batch_for_shader

from ..core.errors import PreviewError, StoreError
from ..core.model.settings import moduli
from ..core.simulation.kept_handles import APART
from ..core.subspaces.skinning import Coordinates, skinned
from . import live_sight
from .bridge import preview_colours, stand_in
from .bridge.mesh_in import unit_scale
from .bridge.preview_light import studio_lights
from .bridge.preview_manner import manner_of
from .bridge.preview_mesh import Skin, read_drawn_mesh
from .bridge.preview_out import Preview
from .redrawing import redraw_views

if TYPE_CHECKING:
    from .live import Session

PIN_RADIUS = 6.0
"""Pixels of a pin's marker, at a scale of one."""
PIN_COLOUR, THREAD_COLOUR = (1.0, 0.55, 0.1, 1.0), (1.0, 0.85, 0.5, 0.8)
RECORDING_COLOUR, TEXT_COLOUR = (1.0, 0.3, 0.25, 1.0), (1.0, 1.0, 1.0, 1.0)

add_handler, remove_handler = bpy.types.SpaceView3D.draw_handler_add, bpy.types.SpaceView3D.draw_handler_remove


class View:
    """Draws the session's body into every 3D View of its scene until :meth:`remove`.

    Where the artist wants so, or the graphics card refuses (``refused`` says why), a mesh that stands in for the body
    is moved instead.
    """

    def __init__(self, session: Session) -> None:
        obj = session.object
        self._session = session
        self._arrays = _display(session)
        arrays = self._arrays
        self._skin = Skin(arrays["rest"], arrays["weights"], arrays["centre"], float(arrays["size"][0]))
        mesh = read_drawn_mesh(obj, bpy.context, session.state.first)
        self._coordinates = Coordinates(self._skin.centre, self._skin.size)
        lights = studio_lights(bpy.context.preferences)
        self._preview = Preview(mesh, self._skin, unit_scale(session.stage.scene), lights)
        self._triangles = mesh.triangles
        self._stand_in: stand_in.StandIn | None = None
        self._shown: tuple[str, int] | None = ("OBJECT", 0)
        self._seen: np.ndarray | None = None
        self._log_stiffness = arrays["log_stiffness"]
        self.refused = ""
        self._marks_failed = False
        self._handlers = [
            add_handler(self._draw_body, (), "WINDOW", "POST_VIEW"),
            add_handler(self._draw_marks, (), "WINDOW", "POST_PIXEL"),
        ]

    @property
    def triangles(self) -> np.ndarray:
        """(t,3) vertices of the surface."""
        return self._triangles

    @property
    def modes(self) -> int:
        """Skinning modes; the handles of pins come after them."""
        return len(self._arrays["eigenvalues"])

    @property
    def handles(self) -> int:
        """Modes and handles of pins."""
        return self._arrays["weights"].shape[1]

    @property
    def stand_in_uid(self) -> int | None:
        """Of the object that is moved instead, where there is one."""
        return None if self._stand_in is None else self._stand_in.uid

    def positions(self) -> np.ndarray:
        """(n,3), m, in world space, of the frame that has come last."""
        return self._preview.positions()

    def seen(self) -> np.ndarray:
        """The same of the frame that a view has drawn last: what a mouse aims at. Where drawing takes long, several
        frames come in between, and the body may have left the pixels at which it is still seen.
        """
        return self.positions() if self._seen is None else self._positions(slice(None), self._seen)

    def show(self, handles: np.ndarray) -> None:
        """Show the body as handles (h,4,3), m, deform it."""
        self._preview.set_handles(handles)
        if self._stand_in is not None:
            self._stand_in.move(self.positions())
        redraw_views()

    def follow_stiffness(self, youngs_moduli: list[float]) -> None:
        """Show the moduli that the materials have now, Pa; stiffness blends in the logarithm."""
        change = np.log10(youngs_moduli) - np.log10(moduli(self._session.job.materials))
        self._log_stiffness = self._arrays["log_stiffness"] + self._arrays["materials"] @ change
        self._shown = None

    def fall_back(self) -> None:
        """Where the card has refused, or the artist wants so: move a mesh in the scene instead, anew where saving or an
        undo took it away.
        """
        obj = self._session.object
        if obj is None:
            return
        settings = obj.sinew.live
        if self.refused and settings.preview == "MESH":
            self.refused = settings.message = ""  # the card may try again when it is chosen again
        if not self.refused and settings.preview == "CARD":
            self.put_away()
            self._stand_in = None
            return
        if self._stand_in is None:
            self._stand_in = stand_in.StandIn(obj, self._session.stage.scene, self._triangles)
        if self.refused and not settings.message:
            settings.message = f"{self.refused} The mesh itself is moved instead."
        if not self._stand_in.is_there:
            self._stand_in.move(self.positions())

    def put_away(self) -> None:
        """Take what is drawn out of the file for now; the next frame brings it back."""
        if self._stand_in is not None:
            self._stand_in.remove()

    def remove(self) -> None:
        """Draw no more."""
        for handler in self._handlers:
            remove_handler(handler, "WINDOW")
        self._handlers = []
        self.put_away()
        redraw_views()

    # -- drawing --------------------------------------------------------------------------------------------------

    def _draw_body(self) -> None:
        context, session = bpy.context, self._session
        obj = session.object
        if obj is None or self.refused or not live_sight.is_seen(obj, session.stage, context):
            return
        self._seen = self._preview.handles
        settings = obj.sinew.live
        if settings.preview == "MESH":
            return
        try:
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
        except PreviewError as error:
            self._refuse(str(error))
        except Exception as error:  # noqa: BLE001 - let out, it would be printed at each redraw, and no body be seen
            traceback.print_exc()
            self._refuse(f"The body cannot be drawn by the graphics card ({error}).")

    def _refuse(self, reason: str) -> None:
        """Draw no more; the next beat of the timer moves a mesh instead."""
        self.refused = reason
        print(f"sinew: {reason}", file=sys.stderr)

    def _colour(self, settings: Any) -> None:
        shown = (settings.show, settings.mode)
        if shown == self._shown:
            return
        self._shown, arrays = shown, self._arrays
        colours = None
        if settings.show == "STIFFNESS":
            colours = preview_colours.stiffness_colours(self._log_stiffness)
        elif settings.show == "WEIGHTS":
            index = min(settings.mode, self.handles) - 1
            colours = preview_colours.weight_colours(arrays["weights"][:, index])
        elif settings.show == "CLUSTERS":
            colours = preview_colours.cluster_colours(arrays["clusters"])
        self._preview.show_colours(colours)
        if settings.show == "POINTS":
            points = Skin(arrays["points_rest"], arrays["points_weights"], self._skin.centre, self._skin.size)
            self._preview.set_dots(points, arrays["points_volume"])

    def _draw_marks(self) -> None:
        context, session = bpy.context, self._session
        obj = session.object
        if obj is None or self._marks_failed or not live_sight.is_seen(obj, session.stage, context):
            return
        scale = context.preferences.system.ui_scale
        try:
            _draw_grabs(self.grab_marks(context.region, context.region_data), scale)
            _write(context, words(session), scale, session.state.recording)
        except Exception:  # noqa: BLE001 - let out, it would be printed at each redraw
            traceback.print_exc()
            self._marks_failed = True

    def _positions(self, vertices: Any, handles: np.ndarray) -> np.ndarray:
        return skinned(self._skin.rest[vertices], self._skin.weights[vertices], self._coordinates, handles)

    def grab_marks(self, region: Any, region_data: Any) -> list[tuple[int, Any, Any]]:
        """Of each grab its vertex, and the pixels of the vertex and of the target; those in view."""
        grabs, metres = list(self._session.state.grabs.values()), self._session.metres
        if not grabs:
            return []
        points = self._positions([g.vertex for g in grabs], self._preview.handles)
        marks = []
        for grab, point in zip(grabs, points, strict=True):
            ends = [location_3d_to_region_2d(region, region_data, p / metres) for p in (point, grab.target)]
            if None not in ends:
                marks.append((grab.vertex, *ends))
        return marks


def _display(session: Session) -> dict[str, np.ndarray]:
    kept = session.store.read_kept("display")
    if kept is None:
        raise StoreError("What is to be drawn cannot be read from the disk.", "Press Play again.")
    return kept[0]


def words(session: Session) -> list[str]:
    """What stands in the corner of the view."""
    state = session.state
    lines = [f"{state.doing}: frame {state.frame}" + (f" of {state.last}" if state.recording else "")]
    if state.playing:
        settled = "" if state.converged else ", not settled"
        speed = f"{state.rate:.0f} frames/s   {state.effort}{settled}   {1e3 * state.seconds:.1f} ms"
        lines.append(speed)
    if state.apart > APART * session.job.surface.size:
        share = state.apart / session.job.surface.size
        lines.append(f"Shown up to {share:.0%} of its size beside where it is: set more Cells Across, or more Modes")
    said = _shown_weights(session), session.message, session.words_of_edits, session.run.waits_for
    return [*lines, *(line for line in said if line)]


def _shown_weights(session: Session) -> str:
    """Whose weights are shown, or an empty text."""
    obj, view = session.object, session.view
    if obj is None or view is None or obj.sinew.live.show != "WEIGHTS":
        return ""
    number, modes = min(obj.sinew.live.mode, view.handles), view.modes
    if number <= modes:
        return f"Weights of mode {number} of {modes}"
    return f"Weights of pin handle {number - modes} of {view.handles - modes}"


def _draw_grabs(marks: list[tuple[int, Any, Any]], scale: float) -> None:
    if not marks:
        return
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    gpu.state.blend_set("ALPHA")
    angles = np.linspace(0.0, 2.0 * np.pi, 17)
    ring = PIN_RADIUS * scale * np.column_stack([np.cos(angles), np.sin(angles)])
    for _vertex, held, target in marks:
        shader.uniform_float("color", THREAD_COLOUR)
        batch_for_shader(shader, "LINES", {"pos": [(*held, 0.0), (*target, 0.0)]}).draw(shader)
        shader.uniform_float("color", PIN_COLOUR)
        around = [(target[0] + x, target[1] + y, 0.0) for x, y in ring]
        fan = [(0, k, k + 1) for k in range(1, len(around) - 1)]
        batch_for_shader(shader, "TRIS", {"pos": around}, indices=fan).draw(shader)
    gpu.state.blend_set("NONE")


def _write(context: Any, lines: list[str], scale: float, recording: bool) -> None:
    font, size = 0, 12.0 * scale
    left = _left_of(context) + 20.0 * scale
    blf.size(font, size)
    blf.enable(font, blf.SHADOW)
    blf.shadow(font, 3, 0.0, 0.0, 0.0, 0.8)
    for k, line in enumerate(reversed(lines)):
        first = k == len(lines) - 1
        blf.color(font, *(RECORDING_COLOUR if first and recording else TEXT_COLOUR))
        blf.position(font, left, (20.0 + 18.0 * k) * scale, 0.0)
        blf.draw(font, line)
    blf.disable(font, blf.SHADOW)


def _left_of(context: Any) -> float:
    """Width of the toolbar, which lies over the view."""
    if not context.preferences.system.use_region_overlap:
        return 0.0
    return next((float(r.width) for r in context.area.regions if r.type == "TOOLS" and r.alignment == "LEFT"), 0.0)
