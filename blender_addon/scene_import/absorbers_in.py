"""Sampling of the objects that absorb force fields: the objects with a Collision modifier.

An :class:`Absorber` weakens a field at points behind the absorber. Only fields with Absorption switched on are
weakened.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core.foundation.errors import FieldError
from ...core.jobs.job.absorber import Absorber
from ..objects.collider_objects import shows_collection
from ..properties.field_weights import is_enabled
from ..properties.mirror import clean
from .animation_in import EvaluatedFrame, Track
from .colliders_in import Piece, instances_of, pieces_at


def absorber_samplers(body: Any, context: Any) -> list[AbsorberSampler]:
    """Return one sampler per object with a Collision modifier, sorted by name.

    The objects are in the view layer or in a collection instance. The body and the result of the body's bake are left
    out.
    """
    own, seen = (body, body.sinew.bake.result), context.view_layer.objects
    samplers = [AbsorberSampler(obj) for obj in seen if obj not in own and _collision(obj) is not None]
    for instancer in (obj for obj in seen if shows_collection(obj)):
        instanced = (obj for obj in _within(instancer) if obj not in own and _collision(obj) is not None)
        samplers += [AbsorberSampler(obj, instancer) for obj in instanced]
    return sorted(samplers, key=lambda sampler: sampler.name)


def _within(instancer: Any) -> set[Any]:
    """Return the objects of an instanced collection, nested collection instances included."""
    objects = set(instancer.instance_collection.all_objects)
    return objects.union(*(_within(obj) for obj in objects if shows_collection(obj)))


def _collision(obj: Any) -> Any:
    """Return the Collision modifier of an object, or None."""
    return next((m for m in obj.modifiers if m.type == "COLLISION"), None) if obj.type == "MESH" else None


class AbsorberSampler:
    """Sampler of an object's evaluated mesh and absorption.

    With ``instancer``, the sampler reads the instances of the object that ``instancer`` displays. An instance absorbs
    fields at its own position. Blender's particle systems use the original object's position instead.
    """

    def __init__(self, obj: Any, instancer: Any | None = None) -> None:
        self.object, self._instancer = obj, instancer
        self.name = obj.name if instancer is None else f"{instancer.name} > {obj.name}"
        self._first: Piece | None = None
        self.track = Track(self._moment_at)

    def _moment_at(self, moment: EvaluatedFrame) -> tuple[float, np.ndarray | None]:
        """Return the absorption at a frame and the vertex positions, (k,3) m."""
        absorption = self._absorption(moment)
        parts = self._parts(moment.context.evaluated_depsgraph_get()) if absorption > 0.0 else ()
        piece = pieces_at(moment, parts).get(self.name)
        if piece is None:  # no absorption, or no faces
            return 0.0, None
        self._first = self._first or piece
        if not np.array_equal(piece.corners, self._first.corners):
            raise FieldError(
                f"“{self.object.name}”, which absorbs force fields, changes its mesh at frame {moment.frame}.",
                "Remove the modifier that changes it, or set the object's Field Absorption (Physics > Collision) to 0.",
            )
        return absorption, piece.positions

    def _absorption(self, moment: EvaluatedFrame) -> float:
        settings, modifier = self.object.collision, _collision(self.object)
        acts = modifier is not None and modifier.show_viewport and settings.use and not self.object.hide_viewport
        shown = self._instancer or self.object
        return clean(settings.absorption) if acts and is_enabled(shown, moment.context.view_layer) else 0.0

    def _parts(self, depsgraph: Any) -> Iterator[tuple[str, Any, Any]]:
        if self._instancer is None:
            evaluated = self.object.evaluated_get(depsgraph)
            yield self.name, evaluated, evaluated.matrix_world
            return
        for source, matrix in instances_of(self._instancer, (), depsgraph):
            if source.original == self.object:
                yield self.name, source, matrix

    def acts(self) -> bool:
        """Return True if the object absorbs force fields at any frame."""
        return self._first is not None

    def absorber(self) -> Absorber:
        """Return the sampled object as an absorber of force fields.

        The absorber has one absorption and one set of positions per frame. A frame without absorption repeats the
        positions of the last frame with absorption. Before the first frame with absorption, the positions are those of
        that frame.
        """
        absorption, positions = zip(*self.track.at_frames, strict=True)
        placed, last = [], self._first.positions
        for each in positions:
            last = last if each is None else each
            placed.append(last)
        return Absorber(self.name, self._first.triangles, np.array(placed), np.array(absorption))
