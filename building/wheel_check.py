"""Check of the extension zip of any platform: its wheels suit that platform and Python version, and nothing is missing.

The check itself runs on any platform.

The wheels have to contain every package that the sources import and, for Windows and macOS, every library that their
compiled modules load.
"""

from __future__ import annotations

import ast
import re
import struct
import sys
import zipfile
from pathlib import Path, PurePosixPath, PureWindowsPath

from . import macho, platforms, project
from .project import BuildError

BLENDERS = frozenset({"bpy", "bpy_extras", "bl_ui", "bl_operators", "blf", "bmesh", "gpu", "gpu_extras", "idprop"})
BLENDERS_TOO = frozenset({"addon_utils", "mathutils", "numpy", "rna_keymap_ui"})
OPTIONAL = frozenset({"matplotlib", "meshio", "mpl_toolkits", "pypardiso"})
"""Packages that are used only if installed."""
NEVER_LOADED = frozenset({"omppool", "tbbpool"})
"""Libraries of Numba's backends for parallel loops, which Sinew's kernels do not use. They need libraries that users
would have to install.
"""
LONGEST_PATH = 259
"""Maximum length of a path in Windows' default configuration, characters."""
# Blender's folder of a user with the longest name, and the deepest folder of an extension's files in it.
_USER = PureWindowsPath("C:/Users", 20 * "n", "AppData/Roaming/Blender Foundation/Blender/5.2/extensions")
_PLACE = _USER / ".local/lib/python3.13/site-packages"
_NO_NAME = re.compile(r'[<>:"|?*\\\x00-\x1f]|[. ]$')
_DEVICES = {"CON", "PRN", "AUX", "NUL", *(f"{port}{k}" for port in ("COM", "LPT") for k in range(1, 10))}
# Libraries of Windows, of Python, and of the C runtime, which Blender contains.
_WINDOWS_OWN = re.compile(
    r"(kernel32|advapi32|user32|shell32|ole32|oleaut32|ws2_32|bcrypt|bcryptprimitives|ntdll|dbghelp|psapi|version|ucrtbase"
    r"|msvcrt|shlwapi|rpcrt4|secur32|crypt32|iphlpapi|pdh|powrprof|python3\d*|vcruntime140(_1)?|msvcp140(_\w+)?"
    r"|api-ms-win-.*)\.dll",
)


def check(wheels: list[Path], sources: dict[str, Path], python: str, platform: str) -> None:
    """Raise BuildError with all faults of wheels and sources for one Python and platform."""
    faults = [fault for wheel in wheels for fault in _wheel_faults(wheel, python, platform)]
    faults += _missing_packages(wheels, sources, python, platform)
    faults += _name_faults("the sources", list(sources))
    if faults:
        raise BuildError(f"The zip for {platform} would not work with Python {python}:\n" + "\n".join(faults))


def _wheel_faults(path: Path, python: str, platform: str) -> list[str]:
    _, _, python_tag, abi, tags = path.stem.split("-")
    runs_there = set(tags.split(".")) & {"any", *platforms.named(platform).tags}
    version = int(python.replace(".", ""))
    is_abi3 = abi == "abi3" and int(python_tag.removeprefix("cp")) <= version
    if not runs_there or not (is_abi3 or "py3" in python_tag.split(".") or python_tag == abi == f"cp{version}"):
        return [f"{path.name}: its tags are for another platform or Python"]
    with zipfile.ZipFile(path) as wheel:
        faults = _name_faults(path.name, wheel.namelist())
        for name in wheel.namelist():
            if PurePosixPath(name).name.partition(".")[0] in NEVER_LOADED:
                continue
            if not re.search(r"\.(so|pyd|dll|dylib)(\.\d+)*$", name):
                continue
            ours = [part for part in macho.parts(wheel.read(name)) if part.startswith(platforms.named(platform).magic)]
            faults += [
                f"{path.name}: {name} {fault}" for fault in _library_faults(name, ours, wheel.namelist(), platform)
            ]
    return faults


def _library_faults(name: str, ours: list[bytes], files: list[str], platform: str) -> list[str]:
    """Return the faults of the compiled library ``name`` of a wheel for ``platform``. ``ours`` are the binary images in
    the library that are compiled for this platform. ``files`` are all files of the wheel.
    """
    if not ours:
        return [f"is not compiled for {platform}"]
    if platform.startswith("windows"):
        wanted = {library.lower() for library in windows_imports(ours[0])}
        wanted -= {PurePosixPath(file).name.lower() for file in files}
        lacking = sorted(library for library in wanted if not _WINDOWS_OWN.fullmatch(library))
    elif platform.startswith("macos"):
        library = macho.read(ours[0])
        if not library.is_signed:
            return ["has no code signature, which Macs require"]
        lacking = macho.missing(name, library, set(files))
    else:
        lacking = []
    return [f"needs {library}, which no wheel contains" for library in lacking]


def _name_faults(owner: str, names: list[str]) -> list[str]:
    """Describe the file ``names`` that Windows or the case-insensitive file systems of macOS do not allow.

    Each description begins with ``owner``, such as the name of the wheel.
    """
    faults, folded = [], {name.lower() for name in names}
    if len(folded) < len(set(names)):
        faults.append(f"{owner}: names differ only by case")
    for name in names:
        if len(str(_PLACE / name)) > LONGEST_PATH:
            faults.append(f"{owner}: {name} is too long for Windows")
        parts = PurePosixPath(name).parts
        if any(_NO_NAME.search(part) or part.partition(".")[0].upper() in _DEVICES for part in parts):
            faults.append(f"{owner}: Windows allows no file {name}")
    return faults


def windows_imports(data: bytes) -> list[str]:
    """Return the libraries that a 64-bit PE file loads (import directory of the PE format); raise BuildError if it is
    not for x86-64.
    """
    (header,) = struct.unpack_from("<I", data, 0x3C)
    signature, machine, sections, optional_size = struct.unpack_from("<4sHH12xH", data, header)
    if signature != b"PE\0\0" or machine != 0x8664:
        raise BuildError("A library of the wheels is not for x86-64.")
    optional = header + 24
    (place,) = struct.unpack_from("<I", data, optional + 112 + 8)  # second data directory of a 64-bit header
    table = [struct.unpack_from("<8x4I", data, optional + optional_size + 40 * k) for k in range(sections)]

    def offset(address: int) -> int:
        return next(
            raw + address - begin for size, begin, stored, raw in table if 0 <= address - begin < max(size, stored)
        )

    names = []
    at = offset(place) if place else 0
    while place and (name := struct.unpack_from("<12xI", data, at)[0]):
        start = offset(name)
        names.append(data[start : data.index(b"\0", start)].decode("ascii"))
        at += 20
    return names


def imported(sources: dict[str, Path]) -> dict[str, str]:
    """Return the top-level packages that the sources import, each with one file that imports it."""
    found: dict[str, str] = {}
    for name, path in sources.items():
        if path.suffix != ".py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found.update({alias.name.partition(".")[0]: name for alias in node.names})
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                found[str(node.module).partition(".")[0]] = name
    return found


def _missing_packages(wheels: list[Path], sources: dict[str, Path], python: str, platform: str) -> list[str]:
    brought: set[str] = set()
    for path in wheels:
        with zipfile.ZipFile(path) as wheel:
            brought |= {PurePosixPath(name).parts[0].partition(".")[0] for name in wheel.namelist()}
    # Markers in pyproject.toml exclude these projects on this platform.
    elsewhere = set(project.bundled(python)) - set(project.bundled(python, platforms.named(platform).system))
    known = brought | elsewhere | BLENDERS | BLENDERS_TOO | OPTIONAL | sys.stdlib_module_names
    return [
        f"{file} imports {name}, which no wheel has" for name, file in imported(sources).items() if name not in known
    ]
