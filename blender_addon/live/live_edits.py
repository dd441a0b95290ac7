"""What the artist edits while a body is played with: stiffness counts at once, all else from the next start.

Looked at is what takes no time: settings, and the mesh's vertices by a checksum. What is animated differs from frame to
frame and is left out; so are weights of vertex groups, which Blender gives one by one, and other objects. Reset and
Record compare whole jobs.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...core.job.body import Body
from ...core.job.fingerprints import LENGTHS, telling
from ...core.settings import moduli
from ..basics.list_animation import animated_paths
from ..scene_in.mesh_in import length_factor
from ..scene_in.settings_in import (
    depth_settings,
    ground_of,
    material_settings,
    meet_settings,
    resolution_settings,
    solver_settings,
    vibration_stiffness,
)

TRANSFORM = ("location", "rotation_", "scale", "delta_")
"""How data paths begin that move an object."""


class Stiffness(NamedTuple):
    """``moduli`` of the materials, Pa, and factors of the stiffness of ``vibrations``, as they are set; none that are
    keyed.
    """

    moduli: list[float]
    vibrations: list[float]


class Edits:
    """Compares an object with what it was when the session began; cheap, so it can be asked all the time. ``body`` is
    what it was read as: stiffness that is keyed there is played as it is keyed.
    """

    def __init__(self, obj: Any, scene: Any, body: Body) -> None:
        factors = body.vibration_stiffness
        self._are_keyed = body.moduli is not None, factors is not None and bool((factors != factors[0]).any())
        self._stiffness = self._first_stiffness = self._by_hand(obj)
        self._others = _others(obj, scene)
        self._vertices = len(obj.data.vertices)

    @property
    def stiffness_differs(self) -> bool:
        """Whether the child plays with other stiffness than it began with."""
        return self._stiffness != self._first_stiffness

    def new_stiffness(self, obj: Any) -> Stiffness | None:
        """Where it has changed since this was asked last."""
        now = self._by_hand(obj)
        if now == self._stiffness or [*map(len, now)] != [*map(len, self._stiffness)]:
            return None
        self._stiffness = now
        return now

    def others(self, obj: Any, scene: Any) -> list[str]:
        """Words for what else differs from the beginning."""
        now = _others(obj, scene)
        return list(telling([word for word, before in self._others.items() if before != now[word]]))

    def words(self, obj: Any, scene: Any) -> list[str]:
        """Words for all that differs from what is played with."""
        changed = zip(("materials", "solver"), self._by_hand(obj), self._stiffness, strict=True)
        differing = [word for word, now, before in changed if now != before]
        return list(dict.fromkeys([*differing, *self.others(obj, scene)]))

    def _by_hand(self, obj: Any) -> Stiffness:
        of_materials, of_vibrations = self._are_keyed
        factors = [] if of_vibrations else vibration_stiffness(obj.sinew)
        return Stiffness([] if of_materials else _moduli(obj), factors)

    def reason_to_end(self, obj: Any) -> str:
        """Why the body cannot be drawn any longer; "" while it can."""
        if len(obj.data.vertices) != self._vertices:
            return "Live mode ended: the mesh was edited."
        return ""


def _moduli(obj: Any) -> list[float]:
    return moduli([material_settings(material) for material in obj.sinew.materials])


def _others(obj: Any, scene: Any) -> dict[str, Any]:
    """What else is looked at than what is played as it is set."""
    materials = [(*_without_stiffness(m), *_place_of(m, scene)) for m in obj.sinew.materials]
    return looked_at(obj, scene) | {"materials": materials}


def looked_at(obj: Any, scene: Any) -> dict[str, Any]:
    """What takes no time to look at, by the word for it; the same in another session."""
    settings, animated = obj.sinew, animated_paths(obj)
    materials = []
    for k, m in enumerate(settings.materials):
        keyed = [f"sinew.materials[{k}].{name}" in animated for name in ("log_stiffness", "log_painted_stiffness")]
        stiff = keyed[0] or m.log_stiffness, keyed[1] or m.log_painted_stiffness
        materials.append((*stiff, *_without_stiffness(m), *_place_of(m, scene)))
    collisions = settings.collisions
    obstacles = collisions.collection and collisions.collection.name_full
    met = meet_settings(settings, scene).bodies, collisions.met and collisions.met.name_full
    pairs = [
        (pair.name, pair.use_friction and pair.friction, pair.use_thickness and pair.thickness)
        for pair in settings.pairs
    ]
    springs = [_spring(s, f"sinew.springs[{k}]", animated) for k, s in enumerate(settings.springs) if not s.take]
    whole = scene.frame_start, scene.frame_end, scene.render.fps, scene.render.fps_base
    own = settings.use_scene_range, settings.frame_start, settings.frame_end, settings.pre_roll
    moves = any(path.startswith(TRANSFORM) for path in animated)
    return {
        LENGTHS: length_factor(scene),
        "materials": materials,
        "resolution": (resolution_settings(settings), settings.finer_group, settings.place, settings.simulate_after),
        "rest shape": settings.rest_key,
        "solver": (solver_settings(settings, scene), settings.control_vibrations, settings.node_group),
        "collisions": (
            ground_of(settings, scene),
            obstacles,
            *(collisions.collider_friction, collisions.thickness, met, pairs),
        ),
        "pins": (settings.pin_group, _unless_keyed(settings, "hold_from", animated), *_goal(settings, animated)),
        "springs": springs,
        "fields": (settings.acceleration_attribute, _weights(settings.field_weights)),
        "frame range": (whole, own),
        "place of the object": moves or [tuple(row) for row in obj.matrix_basis],
        "mesh": checksum(obj.data),
    }


def _goal(settings: Any, animated: set[str]) -> tuple[Any, ...]:
    return (_unless_keyed(settings, "goal_strength", animated),) if settings.use_goal else ()


def _unless_keyed(settings: Any, name: str, animated: set[str]) -> Any:
    return f"sinew.{name}" in animated or getattr(settings, name)


def _spring(spring: Any, path: str, animated: set[str]) -> tuple[Any, ...]:
    target = spring.target and spring.target.name_full
    return spring.vertex_group, spring.end, target, f"{path}.strength" in animated or spring.strength


def _weights(weights: Any) -> list[Any]:
    names = (prop.identifier for prop in weights.bl_rna.properties if prop.type == "FLOAT")
    return [weights.collection and weights.collection.name_full, *(getattr(weights, name) for name in names)]


def checksum(mesh: Any) -> tuple[int, ...]:
    """Of a mesh's vertices' positions; with how many edges and faces there are."""
    flat = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.attributes["position"].data.foreach_get("vector", flat)  # in one piece; of ``vertices`` one by one
    return zlib.crc32(flat), len(mesh.edges), len(mesh.polygons)


def _without_stiffness(material: Any) -> tuple[Any, ...]:
    settings = material_settings(material)
    return replace(settings, youngs_modulus=1.0, painted_modulus=None, name=""), material.use_range


def _place_of(material: Any, scene: Any) -> tuple[Any, ...]:
    regions = material.regions
    maps = material.vertex_group, material.use_range and material.stiffness_map
    return *maps, regions and regions.name_full, depth_settings(material, scene)
