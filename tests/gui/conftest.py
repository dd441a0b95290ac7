"""The windowed harness: a real Blender under a virtual screen runs a scenario; its results come back as JSON.

A scenario is a file in ``tests/gui/scenarios`` with a generator function ``scenario(gui)``; ``gui`` is described in
``driver.py``. The extension is installed once, from the built zip, by Blender's own command line, into a profile of its
own.

    def test_sidebar(windowed):
        result = windowed.run("sidebar")
        assert result.values["enabled"]

Photographs lie in ``out/photographs/<scenario>-<name>.png`` afterwards.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import re
import shutil
import signal
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import build_addon

build_addon.load_building()
packaging = importlib.import_module("sinew_building")
for part in ("windowed", "extension_zip"):
    importlib.import_module(f"sinew_building.{part}")

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
PHOTOGRAPHS = REPOSITORY / "out" / "photographs"
SCREEN = "1600x1000x24"

# Where the host's folders lie for Blender, when it runs inside a Debian root folder.
INSIDE_SESSION, INSIDE_TESTS, INSIDE_ZIP = "/sinew/session", "/sinew/tests", "/sinew/zip"
KERNELS, INSIDE_KERNELS = REPOSITORY / "out" / "kernels", "/sinew/kernels"
INSIDE_ASSETS = "/usr/share/blender/datafiles/assets"


@dataclass(frozen=True)
class ScenarioResult:
    """Recorded values of a scenario.

    Attributes
    ----------
    values : dict
        Everything given to ``gui.record``.
    photographs : dict
        Name -> PNG file.
    log : str
        What Blender printed.
    exit_code : int
        Of Blender itself.
    """

    values: dict[str, Any]
    photographs: dict[str, Path]
    log: str
    exit_code: int


class WindowedBlender:
    """A Blender with the extension installed, and the folder that it shares with the tests."""

    def __init__(self, place: Path, archive: Path, session: Path) -> None:
        self._place, self._archive, self._session = place, archive, session
        self._inside = place.is_dir()
        (session / "screen").mkdir(parents=True)
        (session / "tmp").mkdir()

    def command_line(self, *arguments: str, timeout: float = 300.0) -> str:
        """Run ``blender --command ...`` without a window; its output. Fails the test on a non-zero exit."""
        code, log = self._execute([self._blender(), "--command", *arguments], timeout)
        assert code == 0, log
        return log

    def headless(self, blend: str, *command: str, timeout: float = 300.0) -> tuple[int, str]:
        """Run ``blender -b BLEND --command ...`` on a .blend of the session; exit code and output."""
        path = f"{self.session_path}/{blend}"
        return self._execute([self._blender(), "-b", path, "--command", *command], timeout)

    @functools.cached_property
    def version(self) -> tuple[int, int]:
        """Version of this Blender, (4, 3)."""
        _code, said = self._execute([self._blender(), "--version"], 60.0)
        major, minor = re.search(r"Blender (\d+)\.(\d+)", said).groups()
        return int(major), int(minor)

    @property
    def session(self) -> Path:
        """The folder shared with the scenarios, as the tests see it."""
        return self._session

    @property
    def zip_path(self) -> str:
        """The extension zip as Blender sees it."""
        return f"{INSIDE_ZIP}/{self._archive.name}" if self._inside else str(self._archive)

    @property
    def session_path(self) -> str:
        """The folder shared with the tests as Blender sees it: for .blend files of scenarios."""
        return INSIDE_SESSION if self._inside else str(self._session)

    def run(
        self, scenario: str, timeout: float = 1200.0, real_mouse: bool = False, **parameters: Any
    ) -> ScenarioResult:
        """Run one scenario in a fresh Blender; fail the test when it raised, hung, or Blender crashed.

        With ``real_mouse`` Blender listens to the screen's mouse and keyboard (``gui.xdotool``), else to simulated
        ones.
        """
        tests = INSIDE_TESTS if self._inside else str(HERE)
        request = {
            "scenario": f"{tests}/scenarios/{scenario}.py",
            "session": self.session_path,
            "parameters": parameters,
        }
        (self._session / "request.json").write_text(json.dumps(request))
        answer = self._session / "answer.json"
        answer.unlink(missing_ok=True)
        command = ["xvfb-run", "-a", "-s", f"-screen 0 {SCREEN} -fbdir {self.session_path}/screen", self._blender()]
        command += [] if real_mouse else ["--enable-event-simulate"]
        command += ["--window-geometry", "0", "0", *SCREEN.split("x")[:2]]
        command += [
            "--python-exit-code",
            "3",
            "--python",
            f"{tests}/driver.py",
            "--",
            f"{self.session_path}/request.json",
        ]
        code, log = self._execute(command, timeout)
        photographs = self._collect_photographs(scenario)
        assert answer.is_file(), f"Blender ended with exit code {code} and no answer:\n{log[-4000:]}"
        said = json.loads(answer.read_text())
        assert not said["error"], f"{said['error']}\nphotographs: {PHOTOGRAPHS}\n{log[-2000:]}"
        assert code == 0, f"Blender ended with exit code {code}:\n{log[-4000:]}"
        return ScenarioResult(said["values"], photographs, log, code)

    def _blender(self) -> str:
        return "blender" if self._inside else str(self._place)

    def _execute(self, command: list[str], timeout: float) -> tuple[int, str]:
        variables = {
            "HOME": self.session_path,
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "LIBGL_ALWAYS_SOFTWARE": "1",
            "OMP_NUM_THREADS": "2",
            "XDG_RUNTIME_DIR": self.session_path,
            "BLENDER_USER_RESOURCES": f"{self.session_path}/profile",
            "SINEW_KERNEL_CACHE": INSIDE_KERNELS if self._inside else str(KERNELS),
        }
        if self._inside:
            KERNELS.mkdir(parents=True, exist_ok=True)
            binds = {
                self._session: INSIDE_SESSION,
                self._session / "tmp": "/tmp",  # where screens have their numbers: another Blender may run beside
                HERE: INSIDE_TESTS,
                self._archive.parent: INSIDE_ZIP,
                KERNELS: INSIDE_KERNELS,
                **_brush_assets(),
            }
            command = packaging.windowed.enter(self._place, command, binds)
        log = self._session / "log.txt"
        with log.open("w") as handle:
            # A group of its own: on a time-out everything under it ends, and nothing else.
            process = subprocess.Popen(
                command,
                stdout=handle,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env=variables,
                start_new_session=True,
            )
            try:
                code = process.wait(timeout)
            except subprocess.TimeoutExpired:
                self._photograph_screen("time-out")
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                self._collect_photographs("hung")
                pytest.fail(
                    f"Blender did not end within {timeout:.0f} s; see {PHOTOGRAPHS}\n"
                    f"{log.read_text(errors='replace')[-4000:]}"
                )
        return code, log.read_text(errors="replace")

    def _photograph_screen(self, name: str) -> None:
        screen = self._session / "screen" / "Xvfb_screen0"
        if screen.is_file():
            shutil.copy(screen, self._session / f"{name}.xwd")

    def _collect_photographs(self, scenario: str) -> dict[str, Path]:
        PHOTOGRAPHS.mkdir(parents=True, exist_ok=True)
        found = {}
        for raw in sorted(self._session.glob("*.xwd")):
            found[raw.stem] = PHOTOGRAPHS / f"{scenario}-{raw.stem}.png"
            _png_from_xwd(raw, found[raw.stem])
            raw.unlink()
        return found


def _brush_assets() -> dict[Path, str]:
    """Debian's Blender ships no brushes, so nothing can be painted: lend it those of the bpy wheel."""
    import bpy

    assets = Path(bpy.utils.system_resource("DATAFILES")) / "assets"
    return {assets: INSIDE_ASSETS} if assets.is_dir() else {}


def _png_from_xwd(raw: Path, png: Path) -> None:
    """The virtual screen's memory is an X window dump: big-endian header, colour map, then rows of BGRX pixels."""
    from PIL import Image

    data = raw.read_bytes()
    header = struct.unpack(">25I", data[:100])
    header_size, width, height, bits, row_bytes, colours = (
        header[0],
        header[4],
        header[5],
        header[11],
        header[12],
        header[19],
    )
    assert bits == 32, f"unexpected screen depth {bits}"
    pixels = data[header_size + 12 * colours :]
    Image.frombuffer("RGB", (width, height), pixels, "raw", "BGRX", row_bytes, 1).save(png)


@pytest.fixture(scope="session")
def windowed(tmp_path_factory: pytest.TempPathFactory) -> WindowedBlender:
    """A windowed Blender with the extension zip installed and enabled by Blender's own command line."""
    place = packaging.windowed.find()
    if place is None:
        pytest.skip("no windowed Blender: run `build_addon.py get-blender` (root) or set SINEW_BLENDER")
    archive = Path(os.environ["SINEW_ZIP"]) if "SINEW_ZIP" in os.environ else packaging.extension_zip.build()
    blender = WindowedBlender(place, archive, tmp_path_factory.mktemp("windowed"))
    blender.command_line("extension", "validate", blender.zip_path)
    said = blender.command_line("extension", "install-file", "-r", "user_default", "-e", blender.zip_path)
    # On a full disk Blender ends with "Installed" and exit code 0 all the same.
    manifest = blender.session / "profile" / "extensions" / "user_default" / "sinew" / "blender_manifest.toml"
    free = shutil.disk_usage(blender.session).free / 1e9
    assert manifest.is_file(), f"Blender did not install the extension, with {free:.1f} GB left on disk:\n{said}"
    return blender
