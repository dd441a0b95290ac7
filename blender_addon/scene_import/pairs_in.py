"""Contact settings and ties of a body for pairs with one other body or collider."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.foundation.errors import TieError
from ...core.jobs.job.environment import Collider, Ground
from ...core.jobs.job.pair import PairSettings
from ...core.jobs.job.tie import Tie
from ..properties.mirror import clean
from .animation_in import EvaluatedFrame, Track
from .colliders_in import seen_of
from .mesh_in import unit_scale
from .weights_in import group_weights, has_weights


def pair_settings(
    obj: Any, colliders: Sequence[Ground | Collider], scene: Any, alone: bool = False
) -> tuple[PairSettings, ...]:
    """Return the contact settings of a body for pairs with one other body or collider.

    A pair with a deleted partner is kept, as a pair with a body that is not in the job. The bake then warns that the
    pair has no effect.

    ``colliders``: colliders of the body in the job.
    ``alone``: True if the body is simulated without other bodies. Pairs are then left out if the partner is not one of
        the ``colliders``.
    """
    found = []
    for pair in obj.sinew.pairs:
        overrides = {
            "friction": clean(pair.friction) if pair.use_friction else None,
            "thickness": clean(pair.thickness) * unit_scale(scene) if pair.use_thickness else None,
        }
        if pair.other != obj and pair.name not in ("", obj.name):
            found += [PairSettings(name, **overrides) for name in _names(pair, colliders, alone)]
    return tuple(sorted(found, key=lambda each: each.other))


def _names(pair: Any, colliders: Sequence[Ground | Collider], alone: bool) -> list[str]:
    """Return the names under which the partner of a contact ``pair`` appears in a job.

    An object that instances others appears as several colliders, named "object" and "object > instanced object". An
    object that is not among the ``colliders`` appears as a body. If one body is simulated ``alone``, the job has no
    other bodies, and the list is then empty.
    """
    seen = {each.name for each in (pair.other, pair.other and seen_of(pair.other)) if each is not None}
    names = [each.name for each in colliders]
    found = [name for name in names if any(name == own or name.startswith(f"{own} > ") for own in seen)]
    return found or [pair.other.name if pair.other else pair.name] * (not alone)


class TieSampler:
    """Sampler of one tie of a body: its strength is animated.

    Raises TieError if its vertex group does not exist or is empty.
    """

    def __init__(self, obj: Any, mesh: Any, index: int) -> None:
        self._obj, self._index, self._weights = obj, index, None
        tie = obj.sinew.ties[index]
        if tie.vertex_group:
            self._weights = group_weights(obj, mesh, [tie.vertex_group])[:, 0].clip(0.0, 1.0)
            if not self._weights.any():
                gone = "is empty" if has_weights(obj, mesh, tie.vertex_group) else "does not exist any more"
                raise TieError(
                    f"The vertex group “{tie.vertex_group}” of the tie to “{tie.name}” {gone}.",
                    "Paint it, choose another under Ties, or clear it to tie wherever the two are near.",
                )
        self.tracks = (Track(self._strength_at),)

    def _strength_at(self, moment: EvaluatedFrame) -> float:
        return clean(moment.obj.sinew.ties[self._index].strength)

    def tie(self, scene: Any, names: Sequence[str]) -> Tie:
        """Return the tie as sampled. ``names``: names of the body's colliders."""
        tie = self._obj.sinew.ties[self._index]
        if tie.other is None:
            gone = f"is tied to “{tie.name}”, which was deleted" if tie.name else "has a tie without a partner"
            raise TieError(f"“{self._obj.name}” {gone}.", "Choose an object under Ties, or remove the tie.")
        seen = seen_of(tie.other)
        other = seen.name if seen is not None and seen.name in names else tie.other.name
        stress = clean(tie.breaking_stress) if tie.use_breaking else 0.0
        distance = clean(tie.distance) * unit_scale(scene)
        return Tie(other, tie.kind, self._weights, distance, stress, self.tracks[0].samples())


def tie_samplers(obj: Any, mesh: Any) -> list[TieSampler]:
    """Return one sampler per tie of a body. ``mesh``: the body's mesh before the simulation."""
    return [TieSampler(obj, mesh, k) for k in range(len(obj.sinew.ties))]
