"""Platforms for which zips are built, by Blender's names for them."""

from __future__ import annotations

from dataclasses import dataclass

from .macho import ARM64
from .project import BuildError


@dataclass(frozen=True)
class Platform:
    """Platform for which zips are built.

    Attributes
    ----------
    tags : platform tags of compatible wheels, preferred tag first
    system : ``sys.platform``
    magic : first bytes of the platform's compiled modules
    pythons : Python versions with wheels in ``wheels.lock``
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
        (*OFFICIAL, "3.14"),  # Python of Debian's Blender 5.2; no official Blender has it yet
    ),
    "windows-x64": Platform(("win_amd64",), "win32", b"MZ", OFFICIAL),
    # Oldest macOS first, to support most users; cvxopt and pytetwild need 15.
    "macos-arm64": Platform(
        tuple(f"macosx_{version}_0_arm64" for version in (11, 12, 13, 14, 15)),
        "darwin",
        ARM64,
        OFFICIAL,
    ),
}


def named(platform: str) -> Platform:
    """Return the platform with this name; raise BuildError if there is none."""
    if platform not in PLATFORMS:
        raise BuildError(f"No zip for {platform}.\nChoose one of {', '.join(PLATFORMS)}.")
    return PLATFORMS[platform]
