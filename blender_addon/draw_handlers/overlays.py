"""Overlays of the active body in the 3D Views: tetrahedra, contacts, pins, springs, dynamic nodes and colliders.

Dynamic nodes are the vertices whose motion the ConJac solvers integrate in time.

GPU batches are built at first use and rebuilt when outdated: tetrahedra when their files, slice or colours change;
pins, springs, nodes and colliders after an update of Blender's depsgraph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import bpy
import numpy as np

from ..bake import outdated
from ..drawing import overlay_marks as marks
from ..drawing.gpu_overlay import Painter, View, marks_batch
from ..drawing.layer import Layer, Made
from ..drawing.overlay_colliders import collider_lines
from ..drawing.overlay_marks import COLLIDERS, FIBRES, NODES, OUTLINE, OUTSIDE, PINS, SPRINGS
from ..drawing.preview_colours import as_shown, stiffness_colours
from ..objects import duplicate_result
from ..picking import picking_view
from ..scene_import.colliders_in import distance_from
from ..scene_import.weights_in import group_weights
from ..translations.translate import marked, translated
from . import open_panel, overlay_legend
from .contact_overlay import ContactsOf
from .overlay_legend import Legend
from .tets_overlay import TetsOf

if TYPE_CHECKING:
    from ..drawing.overlay_tets import ShownTets

Kept = TypeVar("Kept")

GOAL = tuple(0.75 * part + 0.25 for part in PINS)
"""Colour (linear RGB) of a goal vertex of weight 0.5: ``PINS`` mixed with a quarter of white."""
OWN = {
    "over ground": ("LINE", "colliders", OUTLINE),
    "ground": ("LINE", "colliders", COLLIDERS),
    "lines": ("LINE", "springs", SPRINGS),
    "springs": ("DIAMOND", "springs", SPRINGS),
    "goal": ("SQUARE", "pins", PINS),
    "pins": ("SQUARE", "pins", PINS),
    "nodes": ("ROUND", "nodes", NODES),
}
"""Appearance of a body's marks by their names, in drawing order.

An entry is the shape, the overlay switch that shows the mark, and the colour (linear RGB).
"""
EXPLAINED = (
    ("pins", marked("Pins"), PINS),
    ("goal", marked("Goal, Paler Where Weaker"), GOAL),
    ("springs", marked("Springs"), SPRINGS),
    ("nodes", marked("Dynamic Nodes"), NODES),
)
"""Rows of the legend: name of a mark (a key of ``OWN``), label, and colour (linear RGB)."""
FIBRE_WORDS = {
    "ACTIVATION": marked("Fibers, Paler Where Relaxed"),
    "STRETCH": marked("Fibers, Redder Where Shorter"),
    "TENSION": marked("Fibers, Redder Where Tenser"),
}
"""Labels of the fibres in the legend, by the overlay setting *Fiber Color*."""
CONTACTS = {"contacts", "touching"}
DOT = 8.0
"""Diameter of a dot, pixels at a UI scale of 1."""
BODIES = 3
"""Maximum number of bodies whose batches stay on the GPU. Windows may show different bodies."""
FIRST = marked("Tetrahedralize first (Resolution)")


class ShownCollider(NamedTuple):
    """GPU batches of a collider's lines. A batch without lines is None.

    ``edges``: lines of the collider. ``outline``: lines at contact distance. ``sources``: ``session_uid`` of the
    objects from which the batches were built.
    """

    edges: Any
    outline: Any
    sources: frozenset[int]


class MarksOf:
    """GPU batches of the pins, springs, dynamic nodes and colliders of one body.

    Dynamic nodes are the vertices whose motion the ConJac solvers integrate in time. The rest of the body follows
    quasistatically.
    """

    def __init__(self, uid: int) -> None:
        self.uid = uid
        self._weights: Made[np.ndarray] = Made()
        self._own: Made[dict[str, Any]] = Made()
        self._balls = np.empty((0, 4))
        self._circles: Made[Any] = Made()
        self._colliders: dict[int, Made[ShownCollider]] = {}
        self._least: Made[float] = Made()

    def forget(self, shapes: set[int], transforms: set[int], frame_changed: bool) -> None:
        """Drop outdated batches.

        ``shapes`` and ``transforms``: ``session_uid`` of the objects whose geometry or transform has changed.
        ``frame_changed``: True after a change of the current frame.
        """
        self._own = Made()
        if self.uid in shapes and not frame_changed:
            self._weights = Made()
        if self.uid in shapes | transforms and not frame_changed:
            self._least = Made()
        for uid, kept in list(self._colliders.items()):
            if uid in shapes or not kept.value.sources.isdisjoint(shapes | (transforms - {uid})):
                del self._colliders[uid]

    def own(self, obj: Any, shown: Any, context: Any) -> dict[str, Any]:
        """Return the GPU batches of the body's marks by the keys of ``OWN``. An entry is None without such marks.

        ``shown``: the object that shows the body, which is the body or the duplicate with its bake.
        """
        made_for = groups, _count = marks.groups_of(obj), len(obj.data.vertices)
        weights = self._weights.get(made_for, lambda: group_weights(obj, obj.data, groups))

        def batches() -> dict[str, Any]:
            positions = marks.shown_positions(obj, shown, context.evaluated_depsgraph_get())
            points = marks.mark_points(obj, weights, positions)
            self._balls = points["balls"]
            return {name: marks_batch(kind_of(form), points[name]) for name, (form, *_) in OWN.items()}

        return self._own.get(made_for, batches)

    def circles(self, view: View) -> Any:
        """Return a batch of circles that face the viewer, one around each dynamic node. Returns None without nodes.

        A radius is the rest distance to the nearest other node, clipped to bounds. Call :meth:`own` first.
        """
        made_for = self._balls.tobytes(), view.view[:3, :3].tobytes()
        return self._circles.get(made_for, lambda: marks_batch("LINES", marks.circles(self._balls, view.view)))

    @property
    def there(self) -> set[str]:
        """Names of the marks drawn for the body: keys of ``OWN`` such as ``pins``, ``colliders`` and ``distance``.

        ``colliders`` includes the ground. ``distance`` is an outline at contact distance.
        """
        own, around = self._own.value or {}, [kept.value for kept in self._colliders.values()]
        found = {name for name, batch in own.items() if batch is not None}
        if "ground" in found or any(each.edges is not None for each in around):
            found.add("colliders")
        if "over ground" in found or any(each.outline is not None for each in around):
            found.add("distance")
        return found

    def collider(self, collider: Any, obj: Any, context: Any) -> ShownCollider:
        """Return the line batches of ``collider``, one of the colliders of the body ``obj``."""
        from ..setup.measure_in import sheet_distance

        distance, least = distance_from(collider, obj), self._least.get(None, lambda: sheet_distance(obj, context))

        def shown() -> ShownCollider:
            lines = collider_lines(collider, obj, distance, least, context.evaluated_depsgraph_get())
            return ShownCollider(marks_batch("LINES", lines.edges), marks_batch("LINES", lines.outline), lines.sources)

        stretch = stretch_of(np.array(collider.matrix_world)[:3, :3])
        made = self._colliders.get(collider.session_uid, Made())
        found = made.get((distance, least, stretch), shown)
        self._colliders[collider.session_uid] = made
        return found


class Overlays(Layer):
    """Draw handler of the active body's overlays, with cached GPU batches."""

    FAILED = "The overlays cannot be drawn ({error}). Switch them off and on."

    def __init__(self) -> None:
        self._painter = Painter()
        self._failed: tuple[frozenset[str], int, str] | None = None  # switches, uid, reason
        self._trying: tuple[frozenset[str], int] | None = None
        self.forget()
        super().__init__()

    @property
    def handlers(self) -> dict[str, Callable[..., None]]:
        """Handlers by the name of their list in ``bpy.app.handlers``."""
        return {
            "depsgraph_update_post": self.after_update,
            "frame_change_post": self.after_frame_change,
            "undo_post": self.forget_marks,
            "redo_post": self.forget_marks,
            "load_pre": self.forget,
        }

    @bpy.app.handlers.persistent
    def forget(self, *_: Any) -> None:
        """Drop all GPU batches (handler of ``load_pre``)."""
        self._tets: dict[int, TetsOf] = {}
        self._contacts: dict[int, ContactsOf] = {}
        self.forget_marks()

    @bpy.app.handlers.persistent
    def forget_marks(self, *_: Any) -> None:
        """Drop the batches of pins, springs, nodes and colliders after an undo. Batches of tetrahedra are kept."""
        self._marks: dict[int, MarksOf] = {}

    @bpy.app.handlers.persistent
    def after_update(self, scene: Any, depsgraph: Any) -> None:
        """Drop outdated batches of marks after a change of objects (handler)."""
        self._note_update(depsgraph, frame_changed=False)

    @bpy.app.handlers.persistent
    def after_frame_change(self, scene: Any, depsgraph: Any) -> None:
        """Drop outdated batches of marks after a change of the current frame (handler)."""
        self._note_update(depsgraph, frame_changed=True)

    def _note_update(self, depsgraph: Any, frame_changed: bool) -> None:
        if self._marks:
            objects = [each for each in depsgraph.updates if isinstance(each.id, bpy.types.Object)]
            shapes = {each.id.original.session_uid for each in objects if each.is_updated_geometry}
            transforms = {each.id.original.session_uid for each in objects if each.is_updated_transform}
            for kept in self._marks.values():
                kept.forget(shapes, transforms, frame_changed)

    # -- drawing --------------------------------------------------------------------------------------------------

    def draw_view(self, context: Any) -> None:
        """Draw the tetrahedra, marks and contacts of the active body."""
        self._trying = None
        switches = asked_for(context)
        found = shown_body(context) if switches else None
        if found is not None and context.region_data is not None and not self._failure(switches, found[0]):
            self._trying = switches, found[0].session_uid
            self._draw_body(context, switches, *found)

    def refuse(self, reason: str, drawing: Callable[[Any], None]) -> None:
        """Record the ``reason`` why the active body cannot be drawn with the current overlay switches.

        Drawing continues for other switches and other bodies.
        """
        if drawing == self.draw_over or self._trying is None:
            super().refuse(reason, drawing)
        else:
            self._failed = *self._trying, reason

    def _failure(self, switches: frozenset[str], obj: Any) -> str:
        """Return the reason why drawing this body with these overlay switches failed; "" if it has not."""
        if self._failed is not None and self._failed[:2] == (switches, obj.session_uid):
            return self._failed[2]
        self._failed = None
        return ""

    def _draw_body(self, context: Any, switches: frozenset[str], obj: Any, shown: Any) -> None:
        region, matrix = context.region_data, np.array(shown.matrix_world)
        dot = DOT * context.preferences.system.pixel_size
        tets = self._tets_of(obj, switches)
        view = View(region.view_matrix, region.window_matrix, in_front=tets is not None and "tets" in switches)
        if tets is not None and "tets" in switches:
            self._painter.tets(tets.batch(context.workspace.sinew), view, matrix)
        if tets is not None and "fibres" in switches:
            for batch in tets.fibres(obj, context.workspace.sinew, context.scene.frame_current):
                self._painter.marks("LINES", batch, view, matrix, FIBRES)
        if (kept := self._marks_of(obj, switches)) is not None:
            own = kept.own(obj, shown, context)
            if "colliders" in switches:
                self._draw_colliders(kept, obj, view, context)
            if "nodes" in switches:
                self._painter.marks("LINES", kept.circles(view), view, np.eye(4), NODES)
            for name, (form, switch, colour) in OWN.items():
                if switch in switches:
                    width = (0.75 if name == "goal" else 1.0) * dot
                    self._painter.marks(kind_of(form), own[name], view, np.eye(4), colour, width, form)
        if tets is not None and "outside" in switches:
            self._painter.marks("POINTS", tets.outside(), view, matrix, OUTSIDE, 1.4 * dot, "CROSS")
        if switches & CONTACTS:
            contacts = latest(self._contacts, obj.session_uid, ContactsOf)
            contacts.draw(self._painter, switches, view, (obj, shown), context)

    def _draw_colliders(self, kept: MarksOf, obj: Any, view: View, context: Any) -> None:
        for collider in marks.colliders_of(obj, context):
            lines, matrix = kept.collider(collider, obj, context), np.array(collider.matrix_world)
            self._painter.marks("LINES", lines.outline, view, matrix, OUTLINE)
            self._painter.marks("LINES", lines.edges, view, matrix, COLLIDERS)

    def draw_over(self, context: Any) -> None:
        """Draw the legend."""
        switches = asked_for(context)
        found = shown_body(context) if switches else None
        if found is not None:
            overlay_legend.draw(self.legend(found[0], switches, context.workspace.sinew), context)

    def legend(self, obj: Any, switches: frozenset[str], settings: Any) -> Legend:
        """Return the legend of a body drawn with these overlay switches."""
        if refused := self._failure(switches, obj):
            return Legend(words=[refused])
        drawn = self._tets.get(obj.session_uid)
        legend, tets = Legend(), None if drawn is None else drawn.tets
        if switches & {"tets", "outside", "fibres"} and tets is None:
            legend.words.append(translated(FIRST))
        elif tets is not None and "tets" in switches:
            explain_tets(legend, tets, settings)
            if changed := outdated.words(obj, bpy.context.scene):
                legend.words.append(translated("Edited since: {changed}", changed=outdated.labels(changed)))
        if tets is not None and "fibres" in switches:
            if tets.muscles:
                legend.add(FIBRES, translated(FIBRE_WORDS[settings.fibre_colour]), "LINE")
            else:
                legend.words.append(
                    translated("No fibers: switch on Muscle in a physical material, and Tetrahedralize")
                )
        if tets is not None and "outside" in switches:
            explain_outside(legend, len(tets.outside))
        there = self._marks_there(obj)
        for name, words, colour in EXPLAINED:
            form, switch, _colour = OWN[name]
            if switch in switches and name in there:
                legend.add(colour, translated(words), form)
        for name, words, colour in (
            ("colliders", marked("Colliders"), COLLIDERS),
            ("distance", marked("Contact Distance"), OUTLINE),
        ):
            if "colliders" in switches and name in there:
                legend.add(colour, translated(words), "LINE")
        if switches & CONTACTS and (contacts := self._contacts.get(obj.session_uid)):
            contacts.explain(legend, switches)
        return legend

    def _marks_there(self, obj: Any) -> set[str]:
        """Return the names of the marks drawn for a body; empty outside Object Mode."""
        kept = self._marks.get(obj.session_uid)
        return set() if kept is None or obj.mode != "OBJECT" else kept.there

    # -- caches ---------------------------------------------------------------------------------------------------

    def _tets_of(self, obj: Any, switches: frozenset[str]) -> TetsOf | None:
        """Return the GPU batches of a body's tetrahedra, or None."""
        if not switches & {"tets", "outside", "fibres"}:
            return None
        kept = latest(self._tets, obj.session_uid, TetsOf)
        kept.look(obj)
        return kept if kept.tets is not None else None

    def _marks_of(self, obj: Any, switches: frozenset[str]) -> MarksOf | None:
        wanted = switches & {"pins", "springs", "nodes", "colliders"}
        if not wanted or obj.mode != "OBJECT":  # in other modes the artist may change the mesh
            return None
        return latest(self._marks, obj.session_uid, MarksOf)


def kind_of(form: str) -> str:
    """Return the GPU primitive type (LINES or POINTS) of the mark shape ``form``."""
    return "LINES" if form == "LINE" else "POINTS"


def explain_outside(legend: Legend, count: int) -> None:
    """Add the number of badly embedded vertices to the legend."""
    if count:
        legend.add(OUTSIDE, translated("{count:,} badly embedded", count=count), "CROSS")
    else:
        legend.words.append(translated("No vertex is badly embedded"))


def stretch_of(linear: np.ndarray) -> tuple[float, ...]:
    """Return a cache key of a (3,3) matrix that ignores rotations: the Cauchy-Green tensor, rounded."""
    squares = linear.T @ linear
    size = float(np.trace(squares))
    digits = np.round(squares / size, 4) + 0.0 if size > 0.0 else squares
    return float(f"{size:.4g}"), *digits.ravel().tolist()


def latest(kept: dict[int, Kept], uid: int, make: Callable[[int], Kept]) -> Kept:
    """Return the entry of the object ``uid`` in the cache ``kept``. A missing entry is made by ``make(uid)``.

    The cache keeps the ``BODIES`` most recently used entries.
    """
    kept[uid] = kept.pop(uid, None) or make(uid)
    while len(kept) > BODIES:
        del kept[next(iter(kept))]
    return kept[uid]


def asked_for(context: Any) -> frozenset[str]:
    """Return the names of the overlays to draw.

    Overlays are switched on in the workspace. Pins, springs and nodes are drawn while the pick tool is chosen, pins
    while the Pins panel is open.
    """
    space = context.space_data
    if space is None or not space.overlay.show_overlays:
        return frozenset()
    settings = context.workspace.sinew
    picked = {"pins", "springs", "nodes"}
    on = {
        name
        for name in ("tets", "outside", "fibres", "colliders", *CONTACTS, *picked)
        if getattr(settings, f"show_{name}")
    }
    opened = {"pins"} if open_panel.PINS.is_open else set()
    return frozenset(on | opened | (picked if picking_view.tool_is_chosen(context) else set()))


def shown_body(context: Any) -> tuple[Any, Any] | None:
    """Return the active body and the object that shows it in this view.

    The object is the body or the duplicate with its bake. Returns None if both are hidden, or without a body.
    """
    obj = duplicate_result.body_of(context)
    shown = None if obj is None else picking_view.seen_as(obj, context.space_data)
    return None if shown is None else (obj, shown)


def explain_tets(legend: Legend, tets: ShownTets, settings: Any) -> None:
    """Add the number of tetrahedra and the meaning of their colours to the legend."""
    legend.words.append(translated("{count:,} tetrahedra, at rest", count=tets.count))
    if settings.colour == "MATERIALS":
        legend.title = translated("Materials")
        for colour, name in zip(tets.colours_of_materials, tets.names, strict=True):
            legend.add(colour, name)
        return
    legend.title = translated("Stiffness")
    low, high = tets.stiffness
    legend.ticks = overlay_legend.ticks(low, high)
    # A body of a single stiffness is drawn in the middle colour.
    logs = np.linspace(0.0, 1.0, 64) if len(legend.ticks) > 1 else np.zeros(1)
    legend.bar = as_shown(stiffness_colours(logs))
