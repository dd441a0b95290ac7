"""Messages that the panel shows about a body: tetrahedra, unassigned materials, missing pins, colliders."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from ...core.foundation.errors import SinewError
from ...core.foundation.events import Mesh
from ...core.jobs.job.job import Job
from ...core.jobs.job.muscle import overlap_words
from ...core.jobs.store.frame_store import FrameStore
from ..blend_data.list_animation import animated
from ..objects.render_differences import collider_words
from ..scene_import.colliders_in import collider_objects
from ..setup import forecasts, recommendations


def note_mesh(obj: Any, mesh: Mesh | None) -> None:
    """Store the statistics and warnings of a body's tetrahedra in the bake record, for the panel."""
    if mesh is None:
        return
    record = obj.sinew.bake
    counts = f"{mesh.tets:,} tetrahedra on {mesh.vertices:,} vertices"
    record.mesh_summary = f"{counts}, smallest angle {mesh.min_dihedral:.0f}°"
    record.body_mass, record.body_volume, record.body_size = mesh.mass, mesh.volume, mesh.size
    apart = (mesh.points_warning, *mesh.of_resolution)
    record.mesh_warning = " ".join(said for said in mesh.warnings if said not in apart)
    record.resolution_warning = next(iter(mesh.of_resolution), "")
    record.is_thin = mesh.is_thin
    record.tets, record.cells = mesh.tets, mesh.cells_across
    record.contrast, record.thickness, record.slowest = mesh.contrast, mesh.thickness, mesh.slowest
    record.movement = -1.0 if mesh.movement is None else mesh.movement
    record.advice_basis = recommendations.basis_of(obj)
    record.points_warning, record.points_that_suffice = mesh.points_warning, mesh.points_that_suffice
    record.match = mesh.match
    record.vibrations.clear()
    for frequency, right, share in mesh.vibrations:
        row = record.vibrations.add()
        row.frequency, row.right, row.share = frequency, right, share


def nowhere_words(job: Job) -> str:
    """Return a warning about materials that are not assigned to the body, or "".

    Such a material has no painted weights, no region, no depth, and no muscle curve with a bevel. The first material is
    not checked, since it fills the rest of the body.
    """
    layers = {layer.material for layer in job.body.layers}
    layers |= {muscle.material for muscle in job.body.muscles if any(curve.radii.any() for curve in muscle.curves)}
    empty = [
        k for k in range(1, len(job.body.materials)) if k not in layers and not job.body.material_weights[:, k].any()
    ]
    return " ".join(
        f"“{job.body.materials[k].name}” is not assigned yet: paint its map, or choose a region or depth."
        for k in empty
    )


def relaxed_words(obj: Any) -> str:
    """Return a warning about materials with an animated activation whose switch *Muscle* is off, or ""."""
    idle = [
        material.name
        for k, material in enumerate(obj.sinew.materials)
        if not material.muscle.enabled and "activation" in animated(obj, f"sinew.materials[{k}].muscle")
    ]
    return " ".join(f"“{name}” has an animated activation but no fibers: switch on Muscle." for name in idle)


def no_pin_words(obj: Any, job: Job) -> str:
    """Return a warning about a pin group without pinned vertices, or "".

    No vertex of the group reaches the pin threshold. A body with goal springs needs no warning: goal springs pull
    vertices to their animated positions. Nor does a body that follows regions.
    """
    name = obj.sinew.pin_group
    if not name or len(job.body.pinned_vertices) or job.body.goal or job.body.regions:
        return ""
    return (
        f"No pins: the body will fall. Paint weights of at least the Pin Threshold in “{name}”. Modifiers before "
        "the simulated shape may remove vertex groups (Remesh does)."
    )


def colliders_in_renders(obj: Any, context: Any) -> str:
    """Return a warning about colliders that look different in renders than in viewports, or ""."""
    with suppress(SinewError):  # reported when the body is read
        return collider_words(collider_objects(obj, context), context.scene)
    return ""


def note_warnings(obj: Any, job: Job) -> None:
    """Store the warnings about unassigned materials and missing pins in the bake record, for the panel."""
    record = obj.sinew.bake
    found = nowhere_words(job), relaxed_words(obj), overlap_words(job.body.muscles, job.body.materials)
    record.material_warning, record.pin_warning = " ".join(filter(None, found)), no_pin_words(obj, job)


def note_report(obj: Any, store: FrameStore) -> None:
    """Store the solver report of a bake in the bake record, for the panel. If frames did not converge and the record
    has no message, a warning is stored too.
    """
    from ...core.jobs.results.bake_report import read_report

    record, report = obj.sinew.bake, read_report(store)
    record.report = "\n".join(report.summary())
    record.linear_solver = report.linear_solver
    record.message = record.message or report.warning()
    forecasts.note_pace(store.job(), record, sum(frame.steps for frame in report.frames), report.seconds)
