"""Contact overlay of a body: the contact pressure at a frame, and the contact surface at rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..drawing import overlay_marks as marks
from ..drawing.gpu_overlay import Painter, View, marks_batch
from ..drawing.layer import Made
from ..drawing.preview_colours import as_shown
from ..translations.translate import translated
from . import overlay_legend
from .overlay_legend import Legend

if TYPE_CHECKING:
    from ..drawing.overlay_contacts import Pushed

TOUCHING = (0.02, 0.35, 0.6)
THROUGH = (0.9, 0.05, 0.6)
"""Colours (linear RGB) of the contact surface, and of its vertices excluded from self-contact."""


class ContactsOf:
    """Contact overlay of one body, with cached GPU batches."""

    def __init__(self, uid: int) -> None:
        self.uid = uid
        self.pushed: Pushed | None = None
        self.knows_surface = self.has_through = False
        self._read: Made[Any] = Made()
        self._surface: Made[Any] = Made()

    def draw(self, painter: Painter, switches: frozenset[str], view: View, seen: tuple[Any, Any], context: Any) -> None:
        """Draw the contact surface or the contact pressure of a body.

        ``switches`` contain ``touching`` for the surface, and ``contacts`` for the pressure. ``seen``: the body, and
        the object that shows it (the body or the duplicate with its bake).
        """
        from ..drawing import overlay_contacts

        obj, shown = seen
        store, record = overlay_contacts.store_of(obj), obj.sinew.bake
        if "touching" in switches:
            made_for = store and (store.folder, record.shows)
            lines = self._surface.get(made_for, lambda: overlay_contacts.touching_lines(store) if store else ())
            edges, through = lines or (np.empty((0, 3)), np.empty((0, 3)))
            self.knows_surface, self.has_through = len(edges) > 0, len(through) > 0
            matrix = np.array(shown.matrix_world)
            painter.marks("LINES", marks_batch("LINES", edges), view, matrix, TOUCHING)
            painter.marks("POINTS", marks_batch("POINTS", through), view, matrix, THROUGH, self._dot(context))
        if "contacts" in switches:
            frame = context.scene.frame_current
            made_for = store and (store.folder, record.shows, record.frames, frame)
            self.pushed = self._read.get(made_for, lambda: overlay_contacts.pushed_at(store, frame) if store else None)
            if self.pushed is not None:
                self._draw_pushed(painter, view, obj, shown, context)

    def _draw_pushed(self, painter: Painter, view: View, obj: Any, shown: Any, context: Any) -> None:
        from ..drawing import overlay_contacts

        positions = marks.shown_positions(obj, shown, context.evaluated_depsgraph_get())
        vertices, levels, _range = self.pushed
        if len(vertices) and vertices[-1] >= len(positions):  # a simulated modifier has added vertices
            return
        for level, colour in enumerate(overlay_contacts.colours().tolist()):
            points = marks_batch("POINTS", positions[vertices[levels == level]])
            painter.marks("POINTS", points, view, np.eye(4), colour, self._dot(context))

    def explain(self, legend: Legend, switches: frozenset[str]) -> None:
        """Add the colours of contact pressure and contact surface to the legend."""
        if "contacts" in switches and self.pushed is None:
            legend.words.append(translated("No contact at this frame"))
        elif "contacts" in switches:
            from ..drawing import overlay_contacts

            legend.title, legend.bar = translated("Pressure"), as_shown(overlay_contacts.colours())
            legend.ticks = overlay_legend.ticks(*self.pushed.range)
        if "touching" in switches and self.knows_surface:
            legend.add(TOUCHING, translated("Contact Surface, at Rest"), "LINE")
            if self.has_through:
                legend.add(THROUGH, translated("Self-Contact Excluded"), "ROUND")
        elif "touching" in switches:
            legend.words.append(translated("Bake first: contacts are not known yet"))

    @staticmethod
    def _dot(context: Any) -> float:
        return 8.0 * context.preferences.system.pixel_size
