"""Options of each command. This module needs no Blender."""

from __future__ import annotations

import argparse
import re

from ...core.foundation.schema.solver_kinds import SOLVER_KINDS
from ...core.jobs.wedges.wedge_options import add_options, positive

COMMANDS = {
    "bake": "Bake the elastic bodies of a .blend and save the .blend; with --render, also render its frames.",
    "report": "Report the bakes of a .blend, frame by frame.",
    "batch": "Bake many .blend files, each in its own Blender process. Complete bakes are skipped and interrupted "
    "ones resumed: the same command again finishes the rest.",
    "farm": "Write job templates for render farms (Open Job Description, Flamenco) beside the .blend.",
    "wedge": "Bake variants of a .blend, one per row of a table of settings, each in its own folder. Finished variants "
    "are kept: the same command again finishes the rest.",
}
RANGE_HELP = "frame range (default: as set on the object); replaces an earlier bake; the body is at rest at frame A"
SCENE_HELP = "use this scene (default: the active one of the .blend, or the scene that has the --object)"
AUTOEXEC_HELP = "run Python that the files contain (drivers, scripts): only for files that you trust"


def parser(command: str, with_scene: bool) -> argparse.ArgumentParser:
    """Return the argument parser of ``command``.

    ``with_scene`` adds the path of the .blend as an argument, except for ``batch``. Otherwise Blender has loaded the
    .blend.
    """
    if with_scene:
        prog = f"sinew {command}"
    else:
        prog = f"blender -b {'scene.blend ' if command != 'batch' else ''}--command sinew {command}"
    made = argparse.ArgumentParser(prog=prog, description=COMMANDS[command])
    if with_scene and command != "batch":
        saved = "; it is saved with the result" if command == "bake" else ""
        optional = "?" if command == "farm" else None
        made.add_argument("blend", metavar="scene.blend", nargs=optional, help="the .blend" + saved)
    if with_scene or command in ("batch", "wedge"):
        made.add_argument("--enable-autoexec", action="store_true", help=AUTOEXEC_HELP)
    _ADD[command](made)
    made.add_argument("--scene", metavar="NAME", default="", help=SCENE_HELP)
    return made


def _report(made: argparse.ArgumentParser) -> None:
    _one_object(made)
    kind = made.add_mutually_exclusive_group()
    kind.add_argument("--csv", action="store_true", help="print comma-separated values, one line per body and frame")
    kind.add_argument("--json", action="store_true", help="print one JSON object per body, then one per frame")
    made.add_argument("--output", metavar="FILE", help="write the report to a file, without Blender's own output")


def _bake(made: argparse.ArgumentParser) -> None:
    _one_object(made)
    _how(made)
    again = made.add_mutually_exclusive_group()
    again.add_argument("--resume", action="store_true", help="resume an interrupted bake")
    words = "skip complete bakes, resume interrupted ones, and bake bodies that have none or were edited"
    again.add_argument("--update", action="store_true", help=words)
    then = made.add_mutually_exclusive_group()
    then.add_argument("--render", action="store_true", help=RENDER_HELP)
    then.add_argument("--output", metavar="FILE", help="save the result as another .blend; the original is unchanged")
    made.add_argument("--json", action="store_true", help="print events on standard output, one JSON object per line")
    made.add_argument("--openjd", action="store_true", help="print progress lines of Open Job Description")


RENDER_HELP = (
    "render the scene's frame range with its own settings when the bake is done; with --resume or --update, images "
    "that are newer than the .blend are kept"
)


def _batch(made: argparse.ArgumentParser) -> None:
    made.add_argument("files", nargs="+", metavar="FILE", help=".blend files, and folders to search for them")
    made.add_argument("--jobs", type=positive, default=1, metavar="N", help="files baked at once (default: 1)")
    made.add_argument("--fresh", action="store_true", help="bake and render everything again, even if complete")
    made.add_argument("--render", action="store_true", help="render the frame range of each .blend after its bake")
    _how(made)
    _blenders(made)


def _blenders(made: argparse.ArgumentParser) -> None:
    made.add_argument("--blender", metavar="PATH", help="Blender program to start (default: this one)")
    made.add_argument("--logs", metavar="DIR", help="folder for log files, one per Blender that is started")


def _farm(made: argparse.ArgumentParser) -> None:
    made.add_argument("--output", metavar="DIR", help="output folder (default: sinew_farm beside the .blend)")
    made.add_argument("--wedge", metavar="TABLE.csv", help="fill the templates of a wedge, too, for this table")


def _wedge(made: argparse.ArgumentParser) -> None:
    add_options(made)
    made.add_argument("--frames", metavar="A-B", type=_frames, help=RANGE_HELP)
    _blenders(made)
    made.add_argument("--openjd", action="store_true", help="print progress lines of Open Job Description")


def _one_object(made: argparse.ArgumentParser) -> None:
    made.add_argument("--object", metavar="NAME", help="only this object (default: all with Sinew enabled)")


def _how(made: argparse.ArgumentParser) -> None:
    made.add_argument("--frames", metavar="A-B", type=_frames, help=RANGE_HELP)
    solvers = f"{', '.join(SOLVER_KINDS)} (default: as set on the object)"
    made.add_argument("--solver", metavar="S", choices=tuple(SOLVER_KINDS), help=f"solver: {solvers}")
    kinds = (
        "keys: shape keys; nodes: Geometry Nodes, small; cache: PC2 file and Mesh Cache (default: as set on the object)"
    )
    made.add_argument(
        "--result", choices=("keys", "nodes", "cache"), help=f"form in which the .blend stores the result; {kinds}"
    )
    export = "also write the bodies to a file, beside the .blend and named like it; may be repeated"
    made.add_argument("--export", choices=("abc", "usd", "glb", "fbx"), action="append", default=[], help=export)
    forms = "form of the bodies in .glb and .fbx files: few morph targets, one a frame, or bones (default: targets)"
    made.add_argument("--engine-form", choices=("targets", "frames", "skeleton"), default="targets", help=forms)
    made.add_argument(
        "--engine-count",
        type=int,
        default=0,
        metavar="N",
        help="number of targets or bones (default: for 1 %% of error)",
    )
    made.add_argument(
        "--dry-run", action="store_true", help="check everything and report what would be done; write nothing"
    )


_ADD = {"bake": _bake, "report": _report, "batch": _batch, "farm": _farm, "wedge": _wedge}


def _frames(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(-?\d+)-(-?\d+)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"“{text}” is not a range of frames such as 1-60")
    return int(match[1]), int(match[2])
