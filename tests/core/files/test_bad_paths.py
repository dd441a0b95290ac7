"""Paths that the system refuses: every function that takes one raises an error of the library, with a remedy."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest
import sinew as sw
from sinew.core import cli
from sinew.core.jobs.results.bake_report import write_report
from sinew.core.jobs.results.export import export
from sinew.core.jobs.store.frame_store import FrameStore

from ..jobs import box_surface

BAD = {
    "a long name": "x" * 300,
    "a long path": "y/" * 3000 + "x",
    "a file for a folder": "file/x",
    "a folder": "folder",
    "nothing": "",
    "a zero byte": "a\0b",
    "a loop of links": "loop",
    "below a loop": "loop/x",
    "a link to nothing": "nowhere/x",
    "a pipe": "pipe",
    "a folder that is closed": "closed/x",
    "a folder that is read only": "kept/x",
    "a device": "full",
}


@pytest.fixture(scope="module")
def frame():
    surface = box_surface()
    body = sw.Body(surface=surface, materials=sw.Material(), resolution=sw.Resolution(cells_across=4))
    return next(sw.simulate(sw.Job(bodies=body, frame_end=1)))


@pytest.fixture
def place(tmp_path):
    """A folder in which all the bad paths lie, and a good mesh and scene."""
    surface = box_surface()
    np.savez(tmp_path / "bar.npz", positions=surface.positions, triangles=surface.triangles)
    (tmp_path / "scene.toml").write_text('mesh = "bar.npz"\nframes = [1, 1]\n[resolution]\ncells_across = 4\n')
    (tmp_path / "file").write_text("text")
    for name in ("folder", "closed", "kept"):
        (tmp_path / name).mkdir()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "nowhere").symlink_to("not there")
    (tmp_path / "full").symlink_to("/dev/full")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "closed").chmod(0o000)
    (tmp_path / "kept").chmod(0o500)
    yield tmp_path
    (tmp_path / "closed").chmod(0o700)
    (tmp_path / "kept").chmod(0o700)


def body_job() -> sw.Job:
    body = sw.Body(surface=box_surface(), materials=sw.Material(), resolution=sw.Resolution(cells_across=4))
    return sw.Job(bodies=body, frame_end=1)


def scene_that_names(path: str) -> None:
    folder = Path(path.split("place/")[0], "place") if "place/" in path else Path.cwd()
    text = path.replace("\0", "\\u0000")
    (folder / "names.toml").write_text(f'mesh = "{text}"\n')
    sw.read_scene(folder / "names.toml")


READ = {
    "read_surface": sw.read_surface,
    "read_tets": sw.read_tets,
    "read_scene": sw.read_scene,
    "a scene's mesh": scene_that_names,
    "Job.load": lambda path: sw.Job.load(Path(path)),
    "FrameStore.open": FrameStore.open,
    "FrameStore.job": lambda path: FrameStore(path).job(),
}
WRITE = {
    "write .vtu": lambda path, frame: sw.write(f"{path}.vtu", frame),
    "write .pvd": lambda path, frame: sw.write(f"{path}.pvd", frame),
    "write .pc2": lambda path, frame: sw.write(f"{path}.pc2", frame),
    "picture": lambda path, frame: frame.picture(f"{path}.png"),
    "simulate": lambda path, frame: list(sw.simulate(body_job(), cache=path)),
    "Job.save": lambda path, frame: body_job().save(Path(path)),
    "export": lambda path, frame: export(FrameStore(path), body_job(), Path(f"{path}.npz")),
    "write_report": lambda path, frame: write_report(Path(path), "text"),
}


@pytest.fixture
def within_seconds():
    """A pipe that is opened waits for ever."""
    signal.alarm(60)
    yield
    signal.alarm(0)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has neither such links nor pipes among files")
@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("function", READ)
def test_a_bad_path_is_not_read(place, monkeypatch, within_seconds, function, kind):
    monkeypatch.chdir(place)
    with pytest.raises(sw.SinewError) as caught:
        READ[function](BAD[kind])
    assert caught.value.message and caught.value.remedy and len(str(caught.value)) < 7000


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has neither such links nor pipes among files")
@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("function", WRITE)
def test_a_bad_path_is_written_or_refused(place, monkeypatch, within_seconds, frame, function, kind):
    monkeypatch.chdir(place)
    try:
        WRITE[function](BAD[kind], frame)
    except sw.SinewError as error:
        assert error.message and error.remedy
    else:
        assert kind not in ("a long name", "a long path", "a file for a folder", "a zero byte")
    assert (place / "pipe").is_fifo() and Path("/dev/full").is_char_device()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has neither such links nor pipes among files")
@pytest.mark.parametrize("kind", [kind for kind in BAD if kind != "a zero byte"])
@pytest.mark.parametrize("option", ["SCENE", "--out", "--report"])
def test_the_command_line_ends_in_a_message(place, monkeypatch, capsys, within_seconds, option, kind):
    monkeypatch.chdir(place)
    path = BAD[kind] + (".npz" if option == "--out" else "")
    code = cli.main([path] if option == "SCENE" else ["scene.toml", option, path])
    said = capsys.readouterr().err.strip().splitlines()
    assert code == 0 or (code == 1 and said[-1].startswith("sinew: ") and "Traceback" not in " ".join(said))
