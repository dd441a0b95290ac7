"""Draws what the solver of the active body got, and what holds it, into the 3D Views whose workspace asks for it.

Batches are made when something is shown for the first time and again when it has changed: tetrahedra when the files of
the store are newer or the slice has moved, marks after a change that Blender tells of.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import bpy
import numpy as np

from ..core.errors import PreviewError
from . import overlay_legend, picking_view, sources
from .bridge import overlay_marks as marks
from .bridge.colliders_in import distance_from
from .bridge.overlay_colliders import collider_lines
from .bridge.overlay_out import Painter, View, marks_batch, tets_batch
from .bridge.preview_colours import as_shown, stiffness_colours
from .overlay_legend import Legend

if TYPE_CHECKING:
    from .bridge.overlay_tets import ShownTets

Kept = TypeVar("Kept")

OUTSIDE = (1.0, 0.0, 0.5)
PINS = (1.0, 0.26, 0.01)
SPRINGS = (0.05, 0.6, 1.0)
COLLIDERS = (0.25, 0.8, 0.1)
OUTLINE = (0.1, 0.35, 0.25)
"""Linear colours."""
DOT = 8.0
"""Pixels across a dot, at a scale of one."""
LOOK = 0.5
"""Seconds between two looks at the disk for newer tetrahedra."""
BODIES = 3
"""Of which tetrahedra and marks stay on the card, for windows that show different ones."""
FIRST = "Tetrahedralize first (Resolution)"

add_handler, remove_handler = bpy.types.SpaceView3D.draw_handler_add, bpy.types.SpaceView3D.draw_handler_remove


class TetsOf:
    """The tetrahedra of one body, on the card."""

    def __init__(self, uid: int) -> None:
        self.uid = uid
        self.tets: ShownTets | None = None
        self._times: Any = None
        self._looked = 0.0
        self._drawn: tuple[Any, Any] | None = None
        self._outside: Any = None

    def look(self, obj: Any) -> None:
        """Read what is on the disk where it is newer than what is shown."""
        if time.monotonic() - self._looked < LOOK:
            return
        from .bridge.overlay_tets import newest_store, read_tets

        found = newest_store(obj)
        times = None if found is None else (found[0].folder, found[1])
        if times != self._times:
            self.tets = None if found is None else read_tets(found[0])
            self._times, self._drawn, self._outside = times, None, None
        self._looked = time.monotonic()

    def batch(self, settings: Any) -> Any:
        """Triangles for the slice and colours that are asked for."""
        from .bridge.overlay_tets import Slice

        cut = Slice("XYZ".index(settings.slice_axis), settings.slice_offset, settings.slice_flip)
        wanted = settings.colour, cut if settings.use_slice else None
        if self._drawn is None or self._drawn[0] != wanted:
            self._drawn = wanted, tets_batch(self.tets.corners(*wanted))
        return self._drawn[1]

    def outside(self) -> Any:
        """Dots of the badly embedded vertices, or None."""
        if self._outside is None:
            self._outside = (marks_batch("POINTS", self.tets.outside),)
        return self._outside[0]


class ShownCollider(NamedTuple):
    """Lines of a collider on the card, or None; what they were made for, and the uids of what they were made of."""

    made_for: Any
    edges: Any
    outline: Any
    sources: frozenset[int]


class MarksOf:
    """Pins, springs and colliders of one body, on the card."""

    def __init__(self, uid: int) -> None:
        self.uid = uid
        self._held: marks.Held | None = None
        self._own: dict[str, tuple[Any, int]] | None = None
        self._colliders: dict[int, ShownCollider] = {}
        self._least: float | None = None

    def forget(self, shapes: set[int], places: set[int], frame_changed: bool) -> None:
        """Something has changed: objects of these uids in their shape, others in their place."""
        self._own = None
        if self.uid in shapes and not frame_changed:
            self._held = None
        if self.uid in shapes | places and not frame_changed:
            self._least = None
        for uid, kept in list(self._colliders.items()):
            if uid in shapes or not kept.sources.isdisjoint(shapes | (places - {uid})):
                del self._colliders[uid]

    def own(self, obj: Any, shown: Any, context: Any) -> dict[str, tuple[Any, int]]:
        """Batch and number of pins, springs, lines and the ground."""
        if self._held is None or not self._held.fits(obj):
            self._held, self._own = marks.Held(obj), None
        if self._own is None:
            positions = marks.shown_positions(obj, shown, context.evaluated_depsgraph_get())
            pulled, lines = marks.spring_points(obj, self._held, positions)
            kinds = {
                "pins": ("POINTS", marks.pinned_points(obj, self._held, positions)),
                "springs": ("POINTS", pulled),
                "lines": ("LINES", lines),
                "ground": ("LINES", marks.ground_points(obj, positions)),
                "over ground": ("LINES", marks.ground_points(obj, positions, obj.sinew.collisions.thickness)),
            }
            self._own = {name: (marks_batch(kind, points), len(points)) for name, (kind, points) in kinds.items()}
        return self._own

    @property
    def shows_distance(self) -> bool:
        """Whether something is kept so far off that it is shown."""
        over_ground = self._own is not None and self._own["over ground"][0] is not None
        return over_ground or any(kept.outline is not None for kept in self._colliders.values())

    def collider(self, collider: Any, obj: Any, context: Any) -> ShownCollider:
        """Lines of one collider of the body ``obj``."""
        uid, distance = collider.session_uid, distance_from(collider, obj)
        if self._least is None:
            from .bridge.measure_in import sheet_distance

            self._least = sheet_distance(obj, context)
        made_for = distance, self._least, stretch_of(np.array(collider.matrix_world)[:3, :3])
        kept = self._colliders.get(uid)
        if kept is None or kept.made_for != made_for:
            lines = collider_lines(collider, obj, distance, self._least, context.evaluated_depsgraph_get())
            edges, outline = marks_batch("LINES", lines.edges), marks_batch("LINES", lines.outline)
            kept = self._colliders[uid] = ShownCollider(made_for, edges, outline, lines.sources)
        return kept


class Overlays:
    """The two draw handlers, and what they keep from one drawing to the next."""

    def __init__(self) -> None:
        self._painter = Painter()
        self._tets: dict[int, TetsOf] = {}
        self._marks: dict[int, MarksOf] = {}
        self._refused = ""
        self._failed: tuple[frozenset[str], int, str] | None = None  # what of which body could not be drawn, and why
        self._handlers = [
            add_handler(self._draw_view, (), "WINDOW", "POST_VIEW"),
            add_handler(self._draw_legend, (), "WINDOW", "POST_PIXEL"),
        ]

    def remove(self) -> None:
        """Draw no more."""
        for handler in self._handlers:
            remove_handler(handler, "WINDOW")
        self._handlers = []
        self.forget()

    def forget(self) -> None:
        """Free what is on the card: it comes back when it is drawn."""
        self._tets, self._marks = {}, {}

    def forget_marks(self) -> None:
        """After an undo anything may be elsewhere; tetrahedra are read from the disk and stay."""
        self._marks = {}

    def note_update(self, depsgraph: Any, frame_changed: bool) -> None:
        """Blender has evaluated something anew."""
        if self._marks:
            objects = [each for each in depsgraph.updates if isinstance(each.id, bpy.types.Object)]
            shapes = {each.id.original.session_uid for each in objects if each.is_updated_geometry}
            places = {each.id.original.session_uid for each in objects if each.is_updated_transform}
            for kept in self._marks.values():
                kept.forget(shapes, places, frame_changed)

    # -- drawing --------------------------------------------------------------------------------------------------

    def _draw_view(self) -> None:
        context = bpy.context
        asked = asked_for(context)
        found = shown_body(context) if asked else None
        if found is None or context.region_data is None or self._refused:
            return
        obj, shown = found
        if self._failure(asked, obj):
            return
        try:
            self._draw_body(context, asked, obj, shown)
        except PreviewError as error:
            self._refused = str(error)
        except Exception as error:  # noqa: BLE001 - let out, it would be printed at each redraw
            traceback.print_exc()
            self._failed = asked, obj.session_uid, f"The overlays cannot be drawn ({error}). Switch them off and on."

    def _failure(self, asked: frozenset[str], obj: Any) -> str:
        """Why a body could not be drawn with these switches; others, or another body, are tried again."""
        if self._failed is not None and self._failed[:2] == (asked, obj.session_uid):
            return self._failed[2]
        self._failed = None
        return ""

    def _draw_body(self, context: Any, asked: frozenset[str], obj: Any, shown: Any) -> None:
        region, matrix = context.region_data, np.array(shown.matrix_world)
        tets = self._tets_of(obj, asked)
        view = View(region.view_matrix, region.window_matrix, in_front=tets is not None and "tets" in asked)
        if tets is not None and "tets" in asked:
            self._painter.tets(tets.batch(context.workspace.sinew), view, matrix)
        self._draw_marks(context, asked, obj, shown, view)
        if tets is not None and "outside" in asked and tets.outside() is not None:
            self._painter.dots(tets.outside(), view, matrix, OUTSIDE, DOT * context.preferences.system.pixel_size)

    def _draw_marks(self, context: Any, asked: frozenset[str], obj: Any, shown: Any, view: View) -> None:
        kept = self._marks_of(obj, asked)
        if kept is None:
            return
        own, still = kept.own(obj, shown, context), np.eye(4)
        size = DOT * context.preferences.system.pixel_size
        if "colliders" in asked:
            for collider in marks.colliders_of(obj):
                lines, matrix = kept.collider(collider, obj, context), np.array(collider.matrix_world)
                self._draw_lines(lines.outline, view, matrix, OUTLINE)
                self._draw_lines(lines.edges, view, matrix, COLLIDERS)
            self._draw_lines(own["over ground"][0], view, still, OUTLINE)
            self._draw_lines(own["ground"][0], view, still, COLLIDERS)
        if "springs" in asked and own["springs"][0] is not None:
            self._draw_lines(own["lines"][0], view, still, SPRINGS)
            self._painter.dots(own["springs"][0], view, still, SPRINGS, size)
        if "pins" in asked and own["pins"][0] is not None:
            self._painter.dots(own["pins"][0], view, still, PINS, size)

    def _draw_lines(self, batch: Any, view: View, matrix: np.ndarray, colour: Any) -> None:
        if batch is not None:
            self._painter.lines(batch, view, matrix, colour)

    def _draw_legend(self) -> None:
        context = bpy.context
        asked = asked_for(context)
        found = shown_body(context) if asked else None
        if found is not None:
            overlay_legend.draw(self.legend(found[0], asked, context.workspace.sinew), context)

    def legend(self, obj: Any, asked: frozenset[str], settings: Any) -> Legend:
        """What is said of a body that was drawn with these switches, and what they ask for."""
        if refused := self._refused or self._failure(asked, obj):
            return Legend(words=[refused])
        drawn = self._tets.get(obj.session_uid)
        legend, tets = Legend(), None if drawn is None else drawn.tets
        if ("tets" in asked or "outside" in asked) and tets is None:
            legend.words.append(FIRST)
        elif tets is not None and "tets" in asked:
            explain_tets(legend, tets, settings)
            if obj.sinew.bake.stale:
                legend.words.append(f"Edited since: {obj.sinew.bake.stale}")
        if tets is not None and "outside" in asked:
            legend.rows.append((as_shown(np.array(OUTSIDE)), f"{len(tets.outside):,} badly embedded"))
        names = (("pins", PINS, "Pins"), ("springs", SPRINGS, "Springs"), ("colliders", COLLIDERS, "Colliders"))
        for name, colour, word in names:
            if name in asked:
                legend.rows.append((as_shown(np.array(colour)), word))
        kept = self._marks.get(obj.session_uid)
        if "colliders" in asked and kept is not None and kept.shows_distance:
            legend.rows.append((as_shown(np.array(OUTLINE)), "Their Distance"))
        return legend

    # -- what is kept ---------------------------------------------------------------------------------------------

    def _tets_of(self, obj: Any, asked: frozenset[str]) -> TetsOf | None:
        """The tetrahedra of a body where they are asked for and there; else what is kept is let go."""
        if not asked & {"tets", "outside"}:
            return None
        kept = latest(self._tets, obj.session_uid, TetsOf)
        kept.look(obj)
        return kept if kept.tets is not None else None

    def _marks_of(self, obj: Any, asked: frozenset[str]) -> MarksOf | None:
        wanted = asked & {"pins", "springs", "colliders"}
        if not wanted or obj.mode != "OBJECT":  # elsewhere the mesh is being changed under us
            return None
        return latest(self._marks, obj.session_uid, MarksOf)


def stretch_of(linear: np.ndarray) -> tuple[float, ...]:
    """What tells how a (3,3) map stretches, four digits of it; the same however it turns."""
    squares = linear.T @ linear
    size = float(np.trace(squares))
    digits = np.round(squares / size, 4) + 0.0 if size > 0.0 else squares
    return float(f"{size:.4g}"), *digits.ravel().tolist()


def latest(kept: dict[int, Kept], uid: int, make: Callable[[int], Kept]) -> Kept:
    """What is kept of a body, or else made; the bodies drawn last are kept."""
    kept[uid] = kept.pop(uid, None) or make(uid)
    while len(kept) > BODIES:
        del kept[next(iter(kept))]
    return kept[uid]


def asked_for(context: Any) -> frozenset[str]:
    """What is to be shown: the workspace's switches that are on, and pins and springs while they are picked."""
    space = context.space_data
    if space is None or not space.overlay.show_overlays:
        return frozenset()
    settings = context.workspace.sinew
    on = {name for name in ("tets", "outside", "pins", "springs", "colliders") if getattr(settings, f"show_{name}")}
    return frozenset(on | ({"pins", "springs"} if picking_view.tool_is_chosen(context) else set()))


def shown_body(context: Any) -> tuple[Any, Any] | None:
    """The active body, and the object that is seen of it in this view: itself, or the one that carries its bake."""
    obj = sources.body_of(context)
    shown = None if obj is None else picking_view.seen_as(obj, context.space_data)
    return None if shown is None else (obj, shown)


def explain_tets(legend: Legend, tets: ShownTets, settings: Any) -> None:
    """Add what the colours of the tetrahedra mean."""
    legend.words.append(f"{tets.count:,} tetrahedra, at rest")
    if settings.colour == "MATERIALS":
        legend.title = "Materials"
        legend.rows += zip(as_shown(tets.colours_of_materials), tets.names, strict=True)
        return
    legend.title = "Stiffness"
    low, high = tets.stiffness
    legend.ticks = overlay_legend.ticks(low, high)
    # One stiffness has one colour, that of the middle.
    logs = np.linspace(0.0, 1.0, 64) if len(legend.ticks) > 1 else np.zeros(1)
    legend.bar = as_shown(stiffness_colours(logs))


_overlays: Overlays | None = None


def register() -> None:
    """Begin to draw what is switched on."""
    global _overlays
    _overlays = Overlays()
    for name, handler in HANDLERS:
        getattr(bpy.app.handlers, name).append(handler)


def unregister() -> None:
    """The reverse; the card's memory is free."""
    global _overlays
    for name, handler in HANDLERS:
        getattr(bpy.app.handlers, name).remove(handler)
    if _overlays is not None:
        _overlays.remove()
    _overlays = None


@bpy.app.handlers.persistent
def after_update(scene: Any, depsgraph: Any) -> None:
    """A shape or a place has changed."""
    if _overlays is not None:
        _overlays.note_update(depsgraph, frame_changed=False)


@bpy.app.handlers.persistent
def after_frame_change(scene: Any, depsgraph: Any) -> None:
    """Another frame."""
    if _overlays is not None:
        _overlays.note_update(depsgraph, frame_changed=True)


@bpy.app.handlers.persistent
def forget(*_: Any) -> None:
    """Another file is loaded."""
    if _overlays is not None:
        _overlays.forget()


@bpy.app.handlers.persistent
def after_return(*_: Any) -> None:
    """An undo or a redo."""
    if _overlays is not None:
        _overlays.forget_marks()


HANDLERS = (
    ("depsgraph_update_post", after_update),
    ("frame_change_post", after_frame_change),
    ("undo_post", after_return),
    ("redo_post", after_return),
    ("load_pre", forget),
)
