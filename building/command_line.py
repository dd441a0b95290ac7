"""Command line of ``build_addon.py``: argument parser and subcommands."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from .platforms import PLATFORMS
from .project import ROOT, BuildError


def main(arguments: list[str]) -> int:
    """Run one subcommand; return the exit code."""
    options, rest = _parser().parse_known_args(arguments)
    if rest and options.subcommand != "test":
        print(f"build_addon.py {options.subcommand}: unknown arguments {' '.join(rest)}", file=sys.stderr)
        return 2
    try:
        return options.run(options, rest)
    except BuildError as error:
        print(f"build_addon.py {options.subcommand}: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="build_addon.py", allow_abbrev=False)
    commands = parser.add_subparsers(dest="subcommand", required=True)

    demo = commands.add_parser("demo", help="build and install the extension, run a demo scene, output in out")
    demo.add_argument("scene", nargs="?", default="headline", choices=("headline", "live"))
    demo.set_defaults(run=_demo)

    _add_pictures(commands)

    test = commands.add_parser("test", help="run all tests; unknown arguments go to pytest", allow_abbrev=False)
    test.add_argument("--quick", action="store_true", help="only the main environment")
    parts = "main, bpy-4.2, bpy-5.0, bpy-5.2, rounding, gui, gui-long, gui-sid"
    test.add_argument("--part", action="append", help=f"run only this part: {parts}")
    test.set_defaults(run=_test)

    _add_packages(commands)

    mount = commands.add_parser("mount", help="make `import sinew` work in the Python that runs this")
    mount.add_argument("--remove", action="store_true")
    mount.set_defaults(run=_mount)

    blender = commands.add_parser("get-blender", help="install a windowed Blender into .blender, to test (needs root)")
    blender.add_argument("--release", default="trixie", choices=("trixie", "sid"), help="Debian release; sid is newest")
    blender.set_defaults(run=_get_blender)

    bench = commands.add_parser("bench", help="run or list benchmarks")
    bench.add_argument("name", nargs="?")
    bench.add_argument("--list", action="store_true")
    bench.add_argument("--case", default="*", help="run only the cases whose names match this pattern")
    bench.add_argument("--data", help="folder of benchmark meshes; default: ../shared/data, if it exists")
    bench.add_argument("--json", help="write the result rows to this JSON file")
    bench.set_defaults(run=_bench)

    translations = commands.add_parser("translations", help="update the catalogues of the interface's languages")
    translations.add_argument(
        "language", nargs="?", help="new language to begin, by its name in Blender, such as it_IT"
    )
    translations.set_defaults(run=_translations)

    lock = commands.add_parser("lock", help="update wheels.lock and requirements.lock")
    lock.add_argument(
        "versions",
        nargs="*",
        metavar="NAME==VERSION",
        help="wheel to lock, with its new version; other wheels keep their version",
    )
    lock.set_defaults(run=_lock)
    return parser


def _add_pictures(commands: Any) -> None:
    """Add the subcommands that make pictures, and files that the repository holds."""
    manual = commands.add_parser("manual", help="make the pictures of README and manual (needs a windowed Blender)")
    manual.add_argument("--renders", action="store_true", help="make only the renders, which need no windowed Blender")
    manual.set_defaults(run=_manual)

    listing = commands.add_parser("listing", help="render the pictures of the extension's page (docs/listing)")
    listing.add_argument("names", nargs="*", metavar="NAME", help="only these pictures, such as icon")
    listing.set_defaults(run=_listing)

    assets = commands.add_parser("assets", help="make the asset library in blender_addon/assets again")
    assets.set_defaults(run=_assets)

    gallery = commands.add_parser("gallery", help="make clips and baked .blend files of the examples, in out/gallery")
    gallery.add_argument("names", nargs="*", metavar="NAME", help="only these examples, such as jelly_bear")
    gallery.set_defaults(run=_gallery)


def _add_packages(commands: Any) -> None:
    """Add the subcommands that make and try packages."""
    build = commands.add_parser("build", help="build the extension zip into dist")
    build.add_argument("--python", help="include wheels of one Python only: 3.11, 3.13, 3.14")
    build.add_argument(
        "--with-tetgen", action="store_true", help="include TetGen (AGPL-3.0), which the meshing method Clean needs"
    )
    build.add_argument("--platform", default="linux-x64", help=f"platform of the zip: {', '.join(PLATFORMS)}, or all")
    build.set_defaults(run=_build)

    release = commands.add_parser("release", help="make everything that a release publishes, in dist/release")
    release.add_argument("--tag", help="git tag of the release, which must be that of the version: v1.2.3")
    release.set_defaults(run=_release)

    site = commands.add_parser("site", help="build the site from docs into dist/site")
    site.set_defaults(run=_site)
    charts = commands.add_parser("charts", help="draw the charts of docs/benchmarks from the tables there")
    charts.set_defaults(run=_charts)

    try_out = commands.add_parser("try", help="install packages of the library, and run the lines of the README")
    try_out.add_argument("files", nargs="+", metavar="FILE")
    try_out.set_defaults(run=_try)


def _demo(options: argparse.Namespace, rest: list[str]) -> int:
    from . import demo

    return demo.run(options.scene)


def _manual(options: argparse.Namespace, rest: list[str]) -> int:
    from . import manual

    return manual.run(options.renders)


def _listing(options: argparse.Namespace, rest: list[str]) -> int:
    from . import manual

    return manual.listing(options.names)


def _assets(options: argparse.Namespace, rest: list[str]) -> int:
    from . import assets

    return assets.run()


def _gallery(options: argparse.Namespace, rest: list[str]) -> int:
    from . import manual

    return manual.gallery(options.names)


def _test(options: argparse.Namespace, rest: list[str]) -> int:
    from . import testing

    parts = ["main"] if options.quick else options.part
    return testing.run(parts, rest)


def _build(options: argparse.Namespace, rest: list[str]) -> int:
    from . import extension_zip

    for platform in PLATFORMS if options.platform == "all" else [options.platform]:
        path = extension_zip.build(options.python, platform, options.with_tetgen)
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1e6:.0f} MB", flush=True)
    return 0


def _release(options: argparse.Namespace, rest: list[str]) -> int:
    from .release import make

    return make.run(options.tag)


def _site(options: argparse.Namespace, rest: list[str]) -> int:
    from .site import make

    return make.run()


def _charts(options: argparse.Namespace, rest: list[str]) -> int:
    from .site import charts

    return charts.run()


def _try(options: argparse.Namespace, rest: list[str]) -> int:
    from .release import library

    return library.try_out(options.files)


def _mount(options: argparse.Namespace, rest: list[str]) -> int:
    from . import links

    return links.remove() if options.remove else links.make()


def _get_blender(options: argparse.Namespace, rest: list[str]) -> int:
    from . import windowed

    windowed.get(options.release)
    return 0


def _bench(options: argparse.Namespace, rest: list[str]) -> int:
    from . import bench

    return bench.run(options)


def _translations(options: argparse.Namespace, rest: list[str]) -> int:
    from . import translations

    return translations.run(options.language)


def _lock(options: argparse.Namespace, rest: list[str]) -> int:
    from . import wheels

    wheels.write_lock(options.versions)
    return 0
