"""Software bill of materials of the release in CycloneDX's JSON format: bundled wheels, their hashes and licences."""

from __future__ import annotations

import json
import uuid
from typing import Any

from .. import notices, project, wheels
from ..lock import Wheel


def text(bundled: list[Wheel]) -> str:
    """Return the bill of materials of the zips that bundle these wheels."""
    own = project.read()["project"]
    name = project.extension()["id"]
    component = {
        "type": "application",
        "bom-ref": name,
        "name": name,
        "version": own["version"],
        "licenses": [{"expression": own["license"]}],
    }
    rows = {wheel.file: wheel for wheel in bundled}
    paths = wheels.fetch(list(rows.values()))
    components = [_component(wheel, notices.read(path)) for wheel, path in zip(rows.values(), paths)]
    components.sort(key=lambda each: each["bom-ref"])
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": component},
        "components": components,
        "dependencies": [{"ref": name, "dependsOn": [each["bom-ref"] for each in components]}],
    }
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(bill))  # of the content, since a release is reproducible
    return json.dumps({**bill, "serialNumber": f"urn:uuid:{serial}"}, indent=2) + "\n"


def _component(wheel: Wheel, notice: notices.Notice) -> dict[str, Any]:
    return {
        "type": "library",
        "bom-ref": wheel.file,
        "name": wheel.project,
        "version": wheel.version,
        "purl": f"pkg:pypi/{wheel.project.replace('_', '-')}@{wheel.version}?file_name={wheel.file}",
        "hashes": [{"alg": "SHA-256", "content": wheel.sha256}],
        "licenses": [{"expression": notice.licence} if notice.is_expression else {"license": {"name": notice.licence}}],
        "components": [{"type": "library", "name": name} for name in notice.carried],
    }
