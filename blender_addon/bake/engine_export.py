"""*Send to Engine*: bakes as morph targets or skinned skeletons in a file for game engines."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from ...core.foundation.errors import MeshError, SettingsError, StoreError, refusing
from ...core.foundation.files import array_file
from ..scene_export.engine.engine_copies import EngineFit, EngineForm, add_copy, engine_scene
from ..scene_export.engine.engine_file import FORMATS, free_names, has_exporter, write_scene
from ..scene_export.engine.sampled_mesh import sampled
from ..scene_export.frames_out import lost_words
from ..translations.translate import marked, translated
from . import outdated


class Sent(NamedTuple):
    """Exported frames: number of the first and of the last one, and the copy of each body."""

    first: int
    last: int
    fits: list[EngineFit]

    @property
    def error(self) -> float:
        """Largest distance of a vertex from its baked position in any frame, as a fraction of its body's size."""
        return max(fit.error for fit in self.fits)

    def words(self, path: Path, form: EngineForm) -> str:
        """Return the summary of the export to the file ``path``."""
        words = marked("Sinew: frames {first}-{last} are in {path}: {parts} targets, off by {error} % of the size")
        if form.form == "SKELETON":
            words = marked("Sinew: frames {first}-{last} are in {path}: {parts} bones, off by {error} % of the size")
        parts, error = sum(fit.parts for fit in self.fits), f"{round(100.0 * self.error, 4):.2g}"
        return translated(words, first=self.first, last=self.last, path=path, parts=parts, error=error)


def check_exporter(kind: str) -> None:
    """Raise SettingsError if Blender's exporter for the format ``kind``, a key of FORMATS, is not enabled."""
    if not has_exporter(kind):
        raise SettingsError(
            f"The add-on “{FORMATS[kind].addon}”, which writes {FORMATS[kind].ending}, is not enabled.",
            "Enable it in Preferences > Add-ons.",
        )


def send(bodies: Sequence[Any], context: Any, path: Path, kind: str, form: EngineForm) -> Sent:
    """Export the results of baked bodies to a file for game engines, completely or not at all.

    ``kind``: a key of FORMATS. The scene is not changed.

    Raises
    ------
    SinewError
        The exporter is not enabled, a result is incomplete, its mesh cannot be played in the ``form``, nothing moves,
        or the file cannot be written.
    """
    check_exporter(kind)
    for obj in bodies:
        if lost := lost_words(obj):
            raise StoreError(f"“{obj.name}”: {lost}", "Press Resume, or Bake Again.")
    records = [obj.sinew.bake for obj in bodies]
    carriers = {obj.name: obj if obj.sinew.bake.on_itself else obj.sinew.bake.result for obj in bodies}
    first, last = min(r.first_frame for r in records), max(r.first_frame + r.frames - 1 for r in records)
    with ExitStack() as stack:
        meshes = sampled(carriers, context, range(first, last + 1), stack)
        stack.enter_context(free_names(list(carriers)))
        scene = stack.enter_context(engine_scene(context, path.stem, last + 1 - first))
        copies = stack.enter_context(ExitStack())
        sent = Sent(first, last, [add_copy(mesh, scene, form, copies) for mesh in meshes])
        if not any(fit.moves for fit in sent.fits):
            raise MeshError(
                f"Nothing moves in frames {first}-{last}.", "Bake again, or export the mesh with Blender's exporter."
            )
        refused = refusing(f"{path} cannot be written", "Check the folder.", of=(RuntimeError, OSError))
        with refused, array_file.whole_files(path.parent) as folder:  # Blender's exporters follow links
            write_scene(scene, folder / path.name, kind)
    return sent


def warnings(bodies: Sequence[Any], scene: Any, sent: Sent, form: EngineForm) -> list[str]:
    """Return warnings about bakes that are incomplete or out of date, and about a larger error than the tolerance."""
    found = []
    for obj in bodies:
        if obj.sinew.bake.status != "DONE":
            words = marked("“{name}”: the bake stopped after {frames} frames. Resume continues it.")
            found.append(translated(words, name=obj.name, frames=obj.sinew.bake.frames))
        if changed := outdated.words(obj, scene):
            words = marked("“{name}” was edited since its bake: {changed}. The file has the baked motion.")
            found.append(translated(words, name=obj.name, changed=outdated.labels(changed)))
    if sent.error > form.tolerance and form.form != "FRAMES":
        words = marked("The error is larger than the tolerance: choose more bones or targets, or 0.")
        if form.form == "SKELETON" and not form.count:
            words = marked("No skeleton of up to 128 bones keeps the tolerance: choose Morph Targets.")
        found.append(translated(words))
    return found
