"""Sweeps: variants of a scene, simulated one after the other or by the workers of an executor."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from ..foundation.errors import SettingsError, SinewError, system_words
from ..foundation.files.digest import digest
from ..foundation.schema.declared_types import checked
from ..foundation.schema.setting_fields import shown
from ..jobs.job.groups import grouped_jobs
from ..jobs.job.job import Job
from ..jobs.scene_files.scene_file import read_scene
from ..jobs.store.frame_store import STORE_FORMAT, FrameStore
from ..jobs.wedges.setting_names import names_in, with_settings
from ..jobs.wedges.wedge_results import (
    DONE,
    FAILED,
    PICTURE,
    SHEET,
    STARTED,
    cells_of,
    measured,
    read_record,
    variant_folder,
    write_record,
    write_results,
)
from ..jobs.wedges.wedge_table import Row, read_table, rows_of
from .frames import OnWords, simulate
from .picture import draw_sheet

FRAMES = "frames"
"""Name of the folder of a variant's frames, in its own folder."""


@checked(SettingsError)
def sweep(
    scene: Job | Path | str,
    rows: Any,
    folder: Path | str,
    client: Any = None,
    tell: OnWords | None = None,
) -> list[dict[str, Any]]:
    """Simulate variants of a scene, and return their results: settings, outcome and numbers of each variant.

    ``folder/NAME`` has the frames and a picture of each variant. ``folder/results.csv`` is the table of results,
    ``folder/contact_sheet.png`` shows the last frames (with Matplotlib). The same call again keeps finished variants,
    and resumes the others. A variant that fails does not stop the others: its ``outcome`` is "failed", with the
    ``reason``. Raises SettingsError for an unknown setting or a wrong value, before anything is simulated.

    Parameters
    ----------
    scene : Job, or the path of a scene file
    rows : list of dict, or the path of a CSV file
        The settings of each variant, by names such as ``Flesh.youngs_modulus``, ``solver.substeps`` or
        ``ground.friction``. ``name`` names the variant; by default, the name is made of the values.
    folder : folder
        On a cluster, all workers must reach it under this path.
    client : int or executor, optional
        Number of processes on this machine; or an object with ``submit``, such as a ``concurrent.futures`` executor or
        a ``dask.distributed.Client``; or a ``joblib.Parallel``. By default, this process simulates all variants. A
        variant whose worker dies is simulated once more, in its own process on this machine.
    tell : function, optional
        Function called with each line of text on the progress, for example ``print``.
    """
    is_count = isinstance(client, int) and not isinstance(client, bool) and client > 0
    if not (client is None or is_count or hasattr(client, "submit") or hasattr(client, "n_jobs")):  # joblib.Parallel
        raise SettingsError(f"The client is {shown(client)}.", "Give an executor, or a number of processes.")
    variants, tell = Sweep(scene, rows, Path(folder)), tell or (lambda _words: None)
    run_sweep(variants, variants.rows, client, tell)
    return variants.collect(tell)


class Sweep:
    """Checked variants of a scene.

    Attributes
    ----------
    source : the job or the path of the scene file
    rows : rows of the table
    fingerprints : fingerprint of each variant's job
    folder : output folder
    """

    def __init__(self, scene: Job | Path | str, rows: Any, folder: Path) -> None:
        self.source, self.folder = scene, folder
        job = _job_of(scene)

        def check(settings: Mapping[str, Any]) -> None:
            with_settings(job, settings).check()

        if isinstance(rows, (str, os.PathLike)):
            self.rows = read_table(Path(rows), names_in(job), check)
        else:
            self.rows = rows_of(rows, names_in(job), check)
        self.fingerprints = [_fingerprint(with_settings(job, row.settings)) for row in self.rows]

    def unfinished(self, rows: Sequence[Row], outcomes: tuple[str, ...]) -> list[tuple[Any, ...]]:
        """Return the arguments of :func:`bake_variant` per variant in ``rows`` without one of the ``outcomes``."""
        return [(self.source, row, self.folder) for row in rows if self.record(row).get("outcome") not in outcomes]

    def record(self, row: Row) -> dict[str, Any]:
        """Return the record of a variant, or {} if it was not simulated with these settings."""
        return read_record(self.folder, row, self.fingerprints[row.number - 1])

    def collect(self, tell: OnWords) -> list[dict[str, Any]]:
        """Write the table of results and the contact sheet, and return the results."""
        found = write_results(self.folder, self.rows, self.fingerprints)
        try:
            draw_sheet(self.folder / SHEET, cells_of(self.folder, found))
        except SettingsError as error:  # without Matplotlib
            tell(f"Warning: {error}")
        return found


def run_sweep(variants: Sweep, rows: Sequence[Row], client: Any, tell: OnWords) -> None:
    """Simulate the variants in ``rows`` that are not finished. ``client``: see :func:`sweep`."""
    waiting = variants.unfinished(rows, (DONE,))
    for row in rows:
        if variants.record(row).get("outcome") == DONE:
            tell(f"{row.name}: kept, was done before")
    if client is None:
        for each in waiting:
            bake_variant(*each, tell)
    else:
        _on_workers(client, waiting)
        for source, row, folder in variants.unfinished([each[1] for each in waiting], (DONE, FAILED)):
            tell(f"{row.name}: its worker died; trying once more")
            error = _in_own_process((source, row, folder))
            if error is not None:
                reason = f"The process died ({str(error) or type(error).__name__})."
                write_record(folder, row, variants.fingerprints[row.number - 1], FAILED, reason)
    for row in rows:
        record = variants.record(row)
        tell(f"{row.name}: {record.get('outcome', 'not baked')}. {record.get('reason', '')}".strip())


def bake_variant(scene: Job | Path | str, row: Row, folder: Path, tell: OnWords = lambda _words: None) -> None:
    """Simulate one variant into its folder, or resume it, and record the outcome."""
    job = with_settings(_job_of(scene), row.settings)
    own, fingerprint = variant_folder(folder, row), _fingerprint(job)
    stores = {body.name: FrameStore(own / FRAMES / body.name) for body in job.bodies}
    try:
        for each in chain(*grouped_jobs(job)):
            if (store := stores[each.body.name]).exists() and store.outdated_by(each):
                store.delete()
        write_record(folder, row, fingerprint, STARTED)
        frames = simulate(job, own / FRAMES, lambda words: tell(f"{row.name}: {words}"))
        (last,) = deque(frames, maxlen=1)
        write_record(folder, row, fingerprint, DONE, bodies=measured(stores))
        _draw(last, own / PICTURE, row)
    except (SinewError, OSError) as error:
        reason = str(error) if isinstance(error, SinewError) else system_words(error)
        write_record(folder, row, fingerprint, FAILED, reason)
    except MemoryError:
        write_record(folder, row, fingerprint, FAILED, "There is not enough memory for this body.")


def _draw(frame: Any, path: Path, row: Row) -> None:
    try:
        frame.picture(path, colour="displacement", title=f"{row.name}, frame {frame.number}")
    except SettingsError:  # without Matplotlib; the contact sheet warns of it
        path.unlink(missing_ok=True)


def _on_workers(client: Any, waiting: Iterable[tuple[Any, ...]]) -> None:
    """Simulate variants on the workers of ``client``. A variant whose worker died stays without an outcome."""
    if isinstance(client, int):
        threads = ThreadPoolExecutor(client)
        try:
            list(threads.map(_in_own_process, waiting))
        finally:
            threads.shutdown(cancel_futures=True)
        return
    with suppress(RuntimeError):  # a broken pool, in concurrent.futures and in joblib
        if not hasattr(client, "submit"):
            client((bake_variant, each, {}) for each in waiting)
            return
        for future in [client.submit(bake_variant, *each) for each in waiting]:
            with suppress(CancelledError):
                future.exception()


def _in_own_process(arguments: tuple[Any, ...]) -> BaseException | None:
    """Simulate a variant in a new process. Return the error that ended the process, or None."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(bake_variant, *arguments).exception()


def _job_of(scene: Job | Path | str) -> Job:
    return scene if isinstance(scene, Job) else read_scene(scene)


def _fingerprint(job: Job) -> str:
    return digest(str(STORE_FORMAT), *(f"{part} {found}" for part, found in sorted(job.fingerprints().items())))
