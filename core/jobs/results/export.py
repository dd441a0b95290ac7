"""Export of a bake's frames: one ``.npz``, a PC2 point cache, or one mesh per frame in any format of meshio.

Files are written to a private folder beside the output and moved when complete. A full disk or a killed process leaves
the previous files. A link is replaced, not followed. :mod:`files.point_cache` describes the PC2 format.
"""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

import numpy as np

from ...foundation.errors import SettingsError, StoreError, refusing
from ...foundation.files.array_file import whole_files
from ...foundation.files.point_cache import write_point_cache
from ..job.job import Job
from ..store.frame_store import FrameStore


def output_files(out: Path, frames: range | list[int]) -> list[Path]:
    """Return the paths of the files that :func:`export` writes to ``out`` for the frame numbers ``frames``."""
    if out.suffix.lower() in (".npz", ".pc2"):
        return [out]
    return [out.with_name(f"{out.stem}_{frame:04d}{out.suffix}") for frame in frames]


def check_output(out: Path, frames: range, inputs: list[Path]) -> None:
    """Check before a long simulation that :func:`export` can write the frame numbers ``frames`` to ``out``.

    ``inputs``: files that the scene reads, which the output must not overwrite.

    Raises SettingsError or StoreError for an unknown file extension, a folder that is not writable, or an output that
    would overwrite an input.
    """
    if not out.suffix:
        raise SettingsError(
            f"The output “{out}” has no file extension.",
            "Give one such as .npz, .pc2 or .ply.",
        )
    with _refusing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
    with _refusing(out), tempfile.TemporaryDirectory(prefix=".sinew-part-", dir=out.parent) as folder:
        for target in {out, *output_files(out, frames)}:
            if target.is_dir():
                raise SettingsError(f"The output {target} is a folder.", "Choose another name.")
            if target.exists() and any(target.samefile(source) for source in inputs):
                raise SettingsError(f"The output {target} is a file that the scene reads.", "Choose another name.")
        if out.suffix.lower() not in (".npz", ".pc2"):
            _write_mesh(Path(folder, f"a{out.suffix}"), np.eye(3), np.array([[0, 1, 2]]))


def export(store: FrameStore, job: Job, out: Path) -> None:
    """Write the visible frames of a store to files. The extension of ``out`` determines the format.

    ``.npz``: positions (frames,n,3) float64, triangles, frames. ``.pc2``: float32. Other formats: one file
        ``NAME_0001.ext`` per frame, by meshio. The files appear when all are complete.

    Raises StoreError if the files cannot be written, and SettingsError if the format cannot store the frames.
    """
    frames = [frame for frame in store.frames() if frame >= job.first_shown]
    if not frames:
        raise StoreError("There is no frame to export.", "Simulate or bake first.")
    with _refusing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
    with _refusing(out), whole_files(out.parent) as folder:
        files = [folder / file.name for file in output_files(out, frames)]
        if out.suffix.lower() == ".npz":
            _write_npz(store, job, files[0], frames)
        elif out.suffix.lower() == ".pc2":
            _write_pc2(store, job, files[0], frames)
        else:
            for frame, file in zip(frames, files):
                _write_mesh(file, store.read(frame), job.body.surface.triangles)


def _refusing(out: Path) -> contextlib.AbstractContextManager[None]:
    return refusing(f"{out} cannot be written", "Free disk space, or choose a file in a folder that you can write to.")


def _write_npz(store: FrameStore, job: Job, path: Path, frames: list[int]) -> None:
    positions = np.array([store.read(f) for f in frames])
    with open(path, "wb") as file:  # NumPy would append .npz to .NPZ
        np.savez_compressed(file, positions=positions, triangles=job.body.surface.triangles, frames=np.array(frames))


def _write_pc2(store: FrameStore, job: Job, path: Path, frames: list[int]) -> None:
    write_point_cache(path, frames[0], (store.read(f) for f in frames), len(frames), len(job.body.surface.positions))


def _write_mesh(path: Path, positions: np.ndarray, triangles: np.ndarray) -> None:
    try:
        import meshio
    except ImportError as error:
        raise SettingsError(f"Writing {path.suffix} needs meshio.", "Install meshio, or write .npz or .pc2.") from error
    try:
        meshio.write(path, meshio.Mesh(positions, [("triangle", triangles)]))
    except OSError:
        raise
    # Writers raise arbitrary exceptions for meshes that their format cannot store; some exit.
    except (Exception, SystemExit) as error:
        raise SettingsError(
            f"meshio cannot write {path.suffix} ({error}).", "Choose .npz, .pc2, .ply, .obj or .vtk."
        ) from error
