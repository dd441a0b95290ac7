"""``build_addon.py site``: builds the site with MkDocs, from the Markdown of ``docs/``."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from .. import environments, project
from ..project import DIST, ROOT

SITE = DIST / "site"
CONFIGURATION = Path(__file__).with_name("mkdocs.yml")


def run() -> int:
    """Build the site into ``dist/site``; return 0. Raise BuildError for links, images and anchors that lead nowhere."""
    python = environments.ensure("site")
    shutil.rmtree(SITE, ignore_errors=True)
    settings = {"NO_MKDOCS_2_WARNING": "1", "SINEW_HOMEPAGE": project.read()["project"]["urls"]["Homepage"]}
    environments.run_quietly(
        [str(python), "-m", "mkdocs", "build", "--strict", "-f", str(CONFIGURATION), "-d", str(SITE)],
        "the site was not built; correct the pages named below",
        {**os.environ, **settings},
        ROOT,
    )
    pages = sum(1 for _ in SITE.rglob("*.html"))
    print(f"{SITE.relative_to(ROOT)}: {pages} pages; open {SITE.relative_to(ROOT)}/index.html")
    return 0
