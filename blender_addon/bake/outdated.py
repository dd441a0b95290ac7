"""Detection of outdated bakes: a body's inputs are compared with a snapshot taken for the bake.

After each edit, inputs that are cheap to read are compared: settings, vertices, weights, animation keys, and transforms
and vertices of other data-blocks that the body uses. Results of other simulations, and modifiers and nodes of other
data-blocks, are read by *Check for Edits* only.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable
from hashlib import sha256
from typing import Any

import bpy
import numpy as np

from ...core.foundation.errors import SinewError
from ...core.jobs.job.fingerprints import reported_changes
from ..blend_data.list_animation import animated_paths
from ..objects import linked
from ..objects.bones import own_curves
from ..scene_import.edit_snapshot import TRANSFORM, checksum, snapshot
from ..scene_import.settings_in import GRAVITY, contact_settings
from ..scene_import.weights_in import group_weights
from ..translations.translate import marked, translated
from ..window.redraw import redraw
from .batch_read import Dependencies, used_by, uses

AFTER = 0.5
"""Seconds to wait after the last edit before inputs that take long to read are read again: weights, keyframes and other
data-blocks.
"""

INPUTS = (
    marked("animation"),
    marked("animation between frames"),
    marked("collisions"),
    marked("fields"),
    marked("frame range"),
    marked("materials"),
    marked("mesh"),
    marked("painted weights"),
    marked("pins"),
    marked("place of the object"),
    marked("pressure"),
    marked("resolution"),
    marked("rest shape"),
    marked("simulation scale"),
    marked("solver"),
    marked("springs"),
    marked("ties"),
    marked("surroundings"),
)
"""Labels of the inputs that :func:`words` can return."""

_read: dict[str, str] = {}
"""Snapshots of the inputs of bodies with a running bake, by the folder of the frames."""
_around: dict[int, dict[str, str]] = {}
"""Digests of inputs that take long to read (:func:`_around_it`), by ``session_uid`` of the bodies. The inputs are read
after the last edit.
"""
_edited_at = 0.0


def note_read(obj: Any, folder: Any, scene: Any) -> None:
    """Take a snapshot of a body's inputs, just after the job for a bake was read.

    ``folder``: folder of the bake's frames.
    """
    _read[str(folder)] = json.dumps(_look(obj, scene))


def note_shown(obj: Any, folder: Any, scene: Any, is_another: bool) -> None:
    """Store in the bake record the snapshot of the inputs of the displayed frames.

    Frames of a live recording have no snapshot. The present inputs are then stored, but only if ``is_another``.

    ``folder``: folder of the frames.
    ``is_another``: True if the body now displays other frames than before.
    """
    if str(folder) in _read:
        obj.sinew.bake.as_read = _read.pop(str(folder))
    elif is_another:
        note_same(obj, scene)


def note_same(obj: Any, scene: Any) -> None:
    """Store the present inputs in the bake record, since the displayed bake matches them."""
    obj.sinew.bake.as_read = json.dumps(_look(obj, scene))


def words(obj: Any, scene: Any) -> str:
    """Return the labels of the inputs edited since the bake, separated by commas, or "".

    *Check for Edits* or snapshots have found the edits. Cheap enough for panels.
    """
    record = obj.sinew.bake
    if record.status == "NONE" or record.stale or not record.as_read or linked.is_linked(obj):
        return record.stale
    now = {**_around.get(obj.session_uid, {}), **_set_of(obj, scene)}
    before = json.loads(record.as_read)
    changed = dict.fromkeys(word for word, digest in before.items() if now.get(word, digest) != digest)
    return ", ".join(reported_changes(list(changed)))


def labels(changed: str) -> str:
    """Return the labels of edited inputs, separated by commas, in the language of the interface."""
    return ", ".join(map(translated, changed.split(", ")))


def _look(obj: Any, scene: Any) -> dict[str, str]:
    _around[obj.session_uid] = _around_it(obj, _present())
    return {**_around[obj.session_uid], **_set_of(obj, scene)}


def _digest(value: Any) -> str:
    return sha256(repr(value).encode()).hexdigest()[:12]


def _set_of(obj: Any, scene: Any) -> dict[str, str]:
    """Return digests of the inputs that are cheap to read, except the end frame, by label."""
    settings, render = obj.sinew, scene.render
    start = (scene if settings.use_scene_range else settings).frame_start
    found = snapshot(obj, scene)
    found["collisions"] = found["collisions"], contact_settings(settings, scene)
    found["frame range"] = start, render.fps, render.fps_base, settings.pre_roll
    return {word: _digest(value) for word, value in found.items()}


def _around_it(obj: Any, present: Dependencies) -> dict[str, str]:
    """Return digests of the inputs that are slow to read, by labels such as "painted weights"."""
    settings = obj.sinew
    groups = [
        settings.pin_group,
        settings.refine_group,
        settings.node_group,
        *(s.vertex_group for s in settings.springs),
    ]
    for material in settings.materials:
        groups += [material.vertex_group, material.stiffness_map if material.use_range else ""]
    try:
        # Attributes are left out: those of Geometry Nodes can follow the baked frames.
        groups = [name for name in dict.fromkeys(groups) if name in obj.vertex_groups]
        weights = group_weights(obj, obj.data, groups).tobytes()
    except SinewError:  # reported by the next bake
        weights = b""
    blocks = [block for block in used_by(obj, present) if block != obj]
    keys = sorted(key for block in (obj, *blocks) for key in _keys(block))
    keys += sorted(key for scene in obj.users_scene for key in _keys(scene, GRAVITY))
    others = sorted((block.id_type, repr(_of_other(block))) for block in blocks if block != obj.data)
    found = {"painted weights": weights, "animation": keys, "surroundings": others}
    return {word: _digest(value) for word, value in found.items()}


def _present() -> Dependencies:
    """Return the dependencies between the data-blocks of the file, without bake results and shading materials."""
    made: set[Any] = set(bpy.data.materials)
    for obj in bpy.data.objects:
        if obj.type == "MESH":
            record = obj.sinew.bake
            are_ours = record.on_itself and record.kind == "KEYS"
            made |= {record.result, record.nodes, record.attribute_nodes}
            made |= {obj.data.shape_keys if are_ours else None}
        made.add(obj.sinew.skeleton.result)
    return uses(made - {None})


def _keys(block: Any, only: Collection[str] = ()) -> Iterable[tuple[str, bytes]]:
    """Yield the data path and the keyframes, as bytes, of each F-curve of a data-block."""
    for curves in own_curves(block):
        for curve in (curve for curve in curves if not only or curve.data_path in only):
            points = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
            curve.keyframe_points.foreach_get("co", points)
            yield f"{curve.data_path}[{curve.array_index}]", points.tobytes()


def _of_other(block: Any) -> Any:
    """Return a snapshot of a mesh or object that the body uses, without animated values."""
    if isinstance(block, bpy.types.Mesh):
        return checksum(block)
    if not isinstance(block, bpy.types.Object):
        return None
    animated = animated_paths(block)
    moves = block.rigid_body is not None or any(path.startswith(TRANSFORM) for path in animated)
    field = block.field if block.field is not None and block.field.type != "NONE" else None
    names = [p.identifier for p in field.bl_rna.properties if p.type in {"FLOAT", "INT", "BOOLEAN"}] if field else []
    values = [getattr(field, name) for name in names if f"field.{name}" not in animated]
    return moves or [tuple(row) for row in block.matrix_basis], field and field.type, values


@bpy.app.handlers.persistent
def after_edit(*_: Any) -> None:
    """Handle ``depsgraph_update_post``, undo and redo: schedule a reading of inputs that take long to read.

    The inputs (:func:`_around_it`) are read once no edit has occurred for ``AFTER`` s.
    """
    global _edited_at
    _edited_at = time.monotonic()
    if not bpy.app.background and not bpy.app.timers.is_registered(_look_again):
        bpy.app.timers.register(_look_again, first_interval=AFTER)


def _look_again() -> float | None:
    """Read the inputs of :func:`_around_it` again, by a timer, and redraw panels after a change."""
    windows = bpy.context.window_manager.windows
    if time.monotonic() < _edited_at + AFTER or any(w.screen.is_animation_playing for w in windows):
        return AFTER
    changed, present = False, _present()
    for scene in {window.scene for window in windows}:
        for obj in linked.own_bodies(scene):
            if obj.sinew.bake.status != "NONE" and obj.mode == "OBJECT":
                now = _around_it(obj, present)
                changed |= now != _around.get(obj.session_uid)
                _around[obj.session_uid] = now
    if changed:
        redraw()
    return None


@bpy.app.handlers.persistent
def forget(*_: Any) -> None:
    """Handle ``load_post``: discard the digests of the previous file, and schedule a reading of the loaded file."""
    _around.clear()
    after_edit()


def unregister() -> None:
    """Remove the timer."""
    if bpy.app.timers.is_registered(_look_again):
        bpy.app.timers.unregister(_look_again)


HANDLERS = (
    ("depsgraph_update_post", after_edit), ("undo_post", after_edit), ("redo_post", after_edit), ("load_post", forget),
)  # fmt: skip
