"""Frames of a bake as files: one ``.npz``, a PC2 point cache, or one mesh per frame in any format that meshio
writes.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from ..errors import SettingsError
from .frame_store import FrameStore
from .job import Job


def export(store: FrameStore, job: Job, out: Path) -> None:
    """Write all frames of a store to ``out``; its ending chooses the format.

    ``.npz``: positions (frames,n,3) float64, triangles, frames. ``.pc2``: float32. Others: ``NAME_0001.ext`` by meshio.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    frames = store.frames()
    if out.suffix == ".npz":
        positions = np.array([store.read(f) for f in frames])
        np.savez_compressed(out, positions=positions, triangles=job.surface.triangles, frames=np.array(frames))
    elif out.suffix == ".pc2":
        with open(out, "wb") as file:
            file.write(
                struct.pack("<12siiffi", b"POINTCACHE2\0", 1, len(job.surface.positions), frames[0], 1.0, len(frames))
            )
            for frame in frames:
                file.write(store.read(frame).astype("<f4").tobytes())
    else:
        _export_meshes(store, job, out, frames)


def _export_meshes(store: FrameStore, job: Job, out: Path, frames: list[int]) -> None:
    try:
        import meshio
    except ImportError as error:
        raise SettingsError(f"Writing {out.suffix} needs meshio.", "Install meshio, or write .npz or .pc2.") from error
    for frame in frames:
        path = out.with_name(f"{out.stem}_{frame:04d}{out.suffix}")
        try:
            meshio.write(path, meshio.Mesh(store.read(frame), [("triangle", job.surface.triangles)]))
        except (meshio.WriteError, KeyError) as error:
            raise SettingsError(
                f"meshio cannot write {out.suffix} ({error}).", "Choose .npz, .pc2, .ply, .obj or .vtk."
            ) from error
