"""State of a split: whether cutters and settings have changed since."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

from ..blend_data.list_animation import curves_of
from ..scene_import.edit_snapshot import checksum
from ..translations.translate import translated
from .cutters_in import cutter_objects

SETTINGS = ("tear", "seam_group", "fragments", "seed", "tear_stress", "edges_across")


def checksum_of(obj: Any, scene: Any) -> str:
    """Return a checksum of what a split is made from, except painted weights and the body's mesh.

    It covers the settings of cuts and the frame range, and keyframes and places of the body, the cutters and all their
    parents.
    """
    settings = obj.sinew
    found: list[Any] = [getattr(settings.cuts, name) for name in SETTINGS]
    found += [settings.use_scene_range, settings.frame_start, settings.frame_end, scene.frame_start, scene.frame_end]
    found += _places(obj)
    for cutter in cutter_objects(obj):
        found += [cutter.name_full, checksum(cutter.data) if cutter.type == "MESH" else cutter.data.name_full]
        found += _places(cutter)
    return f"{zlib.crc32(repr(found).encode()):08x}"


def _places(obj: Any) -> Iterator[Any]:
    """Yield the keyframes of an object and its parents, or their transforms without any."""
    while obj is not None:
        keys = [
            (
                curve.data_path,
                curve.array_index,
                [(*key.co, *key.handle_left, *key.handle_right) for key in curve.keyframe_points],
            )
            for curves in curves_of(obj)
            for curve in curves
        ]
        yield keys or [tuple(row) for row in obj.matrix_basis]
        obj = obj.parent


def split_warning(obj: Any, scene: Any) -> str:
    """Return a warning if the mesh was split from other cutters or settings. Otherwise the text is empty."""
    cuts = obj.sinew.cuts
    if cuts.original is None or cuts.split_from == checksum_of(obj, scene):
        return ""
    return translated("Cutters or settings have changed since the split: press Split Again.")
