"""The platforms that zips are made for, by Blender's names of them."""

from __future__ import annotations

from dataclasses import dataclass

from .macho import ARM64
from .project import BuildError


@dataclass(frozen=True)
class Platform:
    """``tags`` are those of wheels that run there, best first; ``system`` is its ``sys.platform``; ``magic`` the first
    bytes of its compiled modules; ``pythons`` those that wheels are locked for.
    """

    tags: tuple[str, ...]
    system: str
    magic: bytes
    pythons: tuple[str, ...]


OFFICIAL = ("3.11", "3.13")
PLATFORMS = {
    "linux-x64": Platform(
        ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
        "linux",
        b"\x7fELF\x02\x01",
        (*OFFICIAL, "3.14"),  # of Debian's Blender 5.2; no official Blender has it yet
    ),
    "windows-x64": Platform(("win_amd64",), "win32", b"MZ", OFFICIAL),
    # The oldest macOS first, for the reach; cvxopt and pytetwild want 15.
    "macos-arm64": Platform(
        tuple(f"macosx_{version}_0_arm64" for version in (11, 12, 13, 14, 15)),
        "darwin",
        ARM64,
        OFFICIAL,
    ),
}


def named(platform: str) -> Platform:
    """The platform of that name; BuildError when there is none."""
    if platform not in PLATFORMS:
        raise BuildError(f"No zip for {platform}.\nChoose one of {', '.join(PLATFORMS)}.")
    return PLATFORMS[platform]
