"""What the artist edits while a body is played with: stiffness counts at once, all else from the next start."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..core.model.settings import moduli
from .bridge.settings_in import depth_settings, ground_settings, material_settings, resolution_settings, solver_settings

WORDS = ("materials", "resolution", "solver", "collisions", "pins", "springs", "frame range")


class Edits:
    """Compares an object with what it was when the session began; cheap, so it can be asked all the time."""

    def __init__(self, obj: Any, scene: Any) -> None:
        self._stiffness = self._first_stiffness = _moduli(obj)
        self._others = _others(obj, scene)
        self._vertices = len(obj.data.vertices)

    @property
    def stiffness_differs(self) -> bool:
        """Whether the child plays with other stiffness than it began with."""
        return self._stiffness != self._first_stiffness

    def new_stiffness(self, obj: Any) -> list[float] | None:
        """Young's moduli, Pa, where they have changed since this was asked last."""
        now = _moduli(obj)
        if now == self._stiffness or len(now) != len(self._stiffness):
            return None
        self._stiffness = now
        return now

    def others(self, obj: Any, scene: Any) -> list[str]:
        """Words for what else differs from the beginning."""
        now = _others(obj, scene)
        return [word for word, before, after in zip(WORDS, self._others, now, strict=True) if before != after]

    def reason_to_end(self, obj: Any) -> str:
        """Why the body cannot be drawn any longer; "" while it can."""
        if len(obj.data.vertices) != self._vertices:
            return "Live mode ended: the mesh was edited."
        return ""


def _moduli(obj: Any) -> list[float]:
    return moduli([material_settings(material) for material in obj.sinew.materials])


def _others(obj: Any, scene: Any) -> tuple[Any, ...]:
    settings = obj.sinew
    materials = [(*_without_stiffness(m), *_place_of(m, scene)) for m in settings.materials]
    collisions = settings.collisions
    obstacles = collisions.collection and collisions.collection.session_uid
    springs = [(s.vertex_group, s.end, s.target and s.target.session_uid) for s in settings.springs if not s.take]
    whole = scene.frame_start, scene.frame_end, scene.render.fps, scene.render.fps_base
    own = settings.use_scene_range, settings.frame_start, settings.frame_end, settings.pre_roll
    return (
        materials,
        resolution_settings(settings),
        solver_settings(settings, scene),
        (ground_settings(settings, scene), obstacles, collisions.collider_friction, collisions.thickness),
        settings.pin_group,
        springs,
        (whole, own),
    )


def _without_stiffness(material: Any) -> tuple[Any, ...]:
    settings = material_settings(material)
    return replace(settings, youngs_modulus=1.0, painted_modulus=None, name=""), material.use_range


def _place_of(material: Any, scene: Any) -> tuple[Any, ...]:
    regions = material.region, material.region_collection
    maps = material.vertex_group, material.use_range and material.stiffness_map
    return (*maps, *(part and part.session_uid for part in regions), depth_settings(material, scene))
