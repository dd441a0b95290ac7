"""Object -> :class:`Job`, and the folder of its frames. What cannot be baked is refused here, with a remedy."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...core.errors import MeshError, PinError, SettingsError, SinewError, StoreError
from ...core.mesh.surface_mesh import SurfaceMesh
from ...core.simulation.array_file import open_own
from ...core.simulation.job import Job
from .. import linked
from ..stepwise import Steps, at_once
from ..texts import text_of
from .acceleration_in import AccelerationSampler
from .animation_in import MatrixSampler, Passage, PinSampler, at_frame, hold_threshold
from .colliders_in import collider_samplers
from .fields_in import group_weights, material_weights
from .finer_in import fineness
from .force_fields_in import FieldSamplers
from .layers_in import check_maps, layer_maps, material_layers, stiffness_maps
from .mesh_in import mesh_at_place
from .picks import mend
from .rest_in import rest_and_start
from .settings_in import frame_range, ground_settings, material_settings, resolution_settings, solver_settings
from .springs_in import spring_samplers, spring_targets
from .stack import Place, check_place, cut_after, place_of, shown
from .stiffness_in import StiffnessSampler
from .stored_paths import check_straight, is_utf8, readable, stored_path

CACHE = "sinew_cache"
"""Folder beside a .blend that holds all frames of its objects."""
LIVE, COMPARE = "-live", "-compare"
"""What the folders beside that of the frames end in: of live mode, of the bake that is compared."""
LONGEST = 200
"""Bytes of an object's name that its folder has: since 5.0 names have up to 255, which is all that a folder's has."""


def make_job(
    obj: Any,
    context: Any,
    frames: tuple[int, int] | None = None,
    solver: str | None = None,
    without_springs: Collection[str] = (),
    substeps: int = 0,
) -> Job:
    """Everything the bake of ``obj`` needs; a SinewError when it cannot be baked. The scene is left as it was, but for
    picked vertices that an edit of the mesh has lost (``picks.mend``).

    ``frames``, ``solver`` and ``substeps`` (but 0) replace the object's own choices; springs named in
    ``without_springs`` are left out.
    """
    return at_once(job_steps(obj, context, frames, solver, without_springs, substeps))


def job_steps(
    obj: Any,
    context: Any,
    frames: tuple[int, int] | None = None,
    solver: str | None = None,
    without_springs: Collection[str] = (),
    substeps: int = 0,
) -> Steps[Job]:
    """:func:`make_job`, a step for each moment of the animation: in between the scene is at its frame, and what is read
    is shown.
    """
    _check(obj, context)
    mend(obj)
    settings, scene, place = obj.sinew, context.scene, place_of(obj)
    span = first, last = simulated_range(settings, scene, frames)
    outside = collider_samplers(obj, context)
    with cut_after(obj, place), shown(*spring_targets(obj)), outside as colliders, at_frame(scene, first):
        materials = tuple(material_settings(m) for m in settings.materials)
        with mesh_at_place(obj, place, context) as (mesh, evaluated):
            _check_faces(obj, mesh, place)
            surface, start = rest_and_start(obj, mesh, evaluated, scene)
            weights, stiffening, covers = material_weights(obj, mesh), stiffness_maps(obj, mesh), layer_maps(obj, mesh)
            (pinned, pin_weights), finer = _pinned(obj, mesh), fineness(obj, mesh)
            springs = spring_samplers(obj, place, mesh, context, without_springs)
        _check_pins(obj, pinned, surface)
        layers = material_layers(obj, covers, scene, context)
        pins, matrices = PinSampler(obj, place, pinned, pin_weights), MatrixSampler(obj, len(pinned) > 0)
        field, stiffness, fields = AccelerationSampler(obj), StiffnessSampler(obj), FieldSamplers(obj, context, span)
        passage = Passage(obj, place, context, span, len(surface.positions))
        places, others = [matrices, pins, *springs, *colliders], [field, stiffness, fields]
        yield from passage.lead(places, others, substeps or settings.substeps)
    return Job(
        surface=surface,
        materials=materials,
        material_weights=weights,
        pinned_vertices=pinned,
        pin_positions=pins.positions(),
        frame_start=first,
        frame_end=last,
        frame_rate=float(f"{scene.render.fps / scene.render.fps_base:.9g}"),
        layers=layers,
        object_to_world=matrices.matrices(),
        resolution=resolution_settings(settings),
        solver=solver_settings(settings, scene, solver, substeps),
        springs=tuple(sampler.spring() for sampler in springs),
        colliders=tuple(collider for sampler in colliders for collider in sampler.colliders()),
        ground=ground_settings(settings, scene),
        pin_held=pins.held(),
        accelerations=field.accelerations(),
        pre_roll=settings.pre_roll,
        stiffness_maps=stiffening,
        fineness=finer,
        start=start,
        moduli=stiffness.moduli(),
        force_fields=fields.force_fields(surface.positions, matrices.matrices(), context, first),
        absorbers=fields.absorbers(),
    )


def _check(obj: Any, context: Any) -> None:
    check_object(obj, context)
    if not obj.sinew.materials:
        raise SettingsError("The body has no physical material.", "Add one under Physical Materials.")
    check_maps(obj)


def simulated_range(settings: Any, scene: Any, frames: tuple[int, int] | None = None) -> tuple[int, int]:
    """First and last frame that are simulated, those of the pre-roll too; SettingsError when there are none to show."""
    first, last = frame_range(settings, scene, frames)
    if last < first:
        raise SettingsError(f"The frame range {first}-{last} is empty.", "Set the end frame after the start frame.")
    return first - settings.pre_roll, last


def check_object(obj: Any, context: Any) -> None:
    """MeshError when the object is of a kind, or in a state, that cannot be read."""
    if obj.type != "MESH":
        raise MeshError(f"“{obj.name}” is not a mesh.", "Convert it to a mesh first (Object > Convert > Mesh).")
    if obj.mode == "EDIT":
        raise MeshError(f"“{obj.name}” is in Edit Mode.", "Leave Edit Mode first (Tab).")
    if words := linked.linked_words(obj):
        # Shape keys on an override would change the linked mesh, and be lost on the next load.
        raise MeshError(words, linked.REMEDY)
    if obj.name not in context.view_layer.objects:
        raise MeshError(f"“{obj.name}” is not part of the view layer.", "Enable its collection in the Outliner.")
    if len(obj.data.polygons) == 0 and place_of(obj).on_itself:
        raise MeshError(f"“{obj.name}” has no faces.", "Add faces: a body needs a surface.")
    check_place(obj)


def _check_faces(obj: Any, mesh: Any, place: Place) -> None:
    if place.below and len(mesh.polygons) == 0:
        raise MeshError(
            f"Nothing of “{obj.name}” is left {place.label[0].lower()}{place.label[1:]}: there are no faces.",
            "Mend the modifier, or choose another place under Resolution > Simulate.",
        )


def _pinned(obj: Any, mesh: Any) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (p,) that are held, and their weights in the pin group (p,)."""
    weights = group_weights(obj, mesh, [obj.sinew.pin_group])[:, 0]
    pinned = np.flatnonzero(weights >= hold_threshold(obj)).astype(np.int32)
    return pinned, weights[pinned]


def _check_pins(obj: Any, pinned: np.ndarray, surface: SurfaceMesh) -> None:
    name = obj.sinew.pin_group
    if name and name not in obj.vertex_groups:
        raise PinError(f"The pin group “{name}” is not there any more.", "Choose a vertex group under Pins, or none.")
    if len(pinned) and np.isin(surface.triangles, pinned).all():
        raise PinError(
            "Every vertex is pinned.", f"Lower the weights of some vertices in “{name}”, or raise Hold From."
        )


def has_home() -> bool:
    """Whether the open .blend has a place for frames: it is saved, where records can name it (they are UTF-8)."""
    return bool(bpy.data.filepath) and is_utf8(bpy.data.filepath)


def home_folder() -> Path:
    """Folder of the frames of all objects, beside the .blend; StoreError where it has none."""
    blend = bpy.data.filepath
    if not blend:
        raise StoreError("The .blend is not saved yet.", "Save it first: the baked frames are kept beside it.")
    if not is_utf8(blend):
        raise StoreError(f"The path {readable(blend)} is no UTF-8.", "Rename that folder, or the .blend.")
    # A backup, NAME.blend1, is a file beside NAME.blend, whose frames are not its own.
    name = Path(blend).stem if blend.lower().endswith(".blend") else Path(blend).name
    return Path(bpy.path.abspath("//")) / CACHE / name


def default_folder(obj: Any) -> Path:
    """Folder of the object's frames in :func:`home_folder`."""
    home, name = home_folder(), folder_name(obj.name)
    folder, k = home / name, 2
    # An object that was renamed keeps its folder: a new one of the old name gets another.
    taken = [recorded_folder(other) for other in bpy.data.objects if other != obj]
    while folder in taken:
        folder, k = home / f"{name}-{k}", k + 1
    return folder


def folder_name(name: str) -> str:
    """Of the frames of an object of that name."""
    readable = re.sub(r"[^\w-]+", "_", name).strip("_") or "object"
    readable = readable.encode()[:LONGEST].decode(errors="ignore")
    return f"{readable}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def live_path(obj: Any) -> Path:
    """Folder for what live mode keeps, beside that of the object's frames."""
    if not has_home():
        return unsaved_live_path(obj)
    folder = default_folder(obj)
    return folder.with_name(f"{folder.name}{LIVE}")


def unsaved_live_path(obj: Any) -> Path:
    """That folder while the .blend is not saved: Blender deletes it when it quits."""
    return Path(bpy.app.tempdir) / CACHE / f"{folder_name(obj.name)}{LIVE}"


def live_folder(obj: Any) -> Path:
    """:func:`live_path`, made and tried; StoreError when nothing can be written there."""
    return writable(live_path(obj))


def compare_path(folder: Path) -> Path:
    """Folder of the bake that is compared with the one in ``folder``."""
    return folder.with_name(f"{folder.name}{COMPARE}")


def recorded_folder(obj: Any, home: str = "") -> Path | None:
    """Folder that the object's last bake wrote to, told from ``home`` or the record's own; None where there is none,
    or where asking for it would be a risk. What is appended goes by the folder that it comes from.
    """
    record, library = obj.sinew.bake, linked.library_of(obj)
    folder = text_of(record, "folder")
    start = home or (text_of(record, "home") if library is None else "")
    return stored_path(folder, start, library) if folder else None


def writable(folder: Path) -> Path:
    """The folder ``sinew_cache/NAME/OBJECT``, made and tried; StoreError when nothing can, or may, be written there."""
    check_straight(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        open_own(probe, "wb").close()
        probe.unlink()
    except OSError as error:
        raise StoreError(
            f"The folder {folder} cannot be written ({error.strerror or error}).",
            "Save the .blend where you may write, and see that the disk is not full.",
        ) from error
    return folder


def out_of_date(changed: list[str]) -> SinewError:
    """The refusal to go on with frames of another job."""
    if "version" in changed:
        return StoreError("Another version of Sinew made these frames.", "Delete Bake and bake again.")
    return StoreError(
        f"Edited since the bake began: {', '.join(changed)}.", "Undo the edit, or Delete Bake and bake again."
    )
