"""Warnings about material layers that are empty, or thinner than the tetrahedra."""

from __future__ import annotations

from ...geometry.mesh.tet_mesh import TetMesh
from ...mechanics.materials.fields import MaterialFields
from ..job.job import Job

TOO_THIN = 0.5
"""Thickness of a shell, relative to the height of a tetrahedron, below which a warning is given."""


def layer_warnings(job: Job, mesh: TetMesh, fields: MaterialFields) -> list[str]:
    """Return one warning, with a remedy, per empty or too thin material layer.

    An empty layer covers no tetrahedron. A shell is too thin below TOO_THIN times the height of a tetrahedron.
    """
    # The height of a regular tetrahedron of the mean volume: V = a³ / (6 √2), height = a √(2/3).
    height = (6.0 * 2.0**0.5 * float(mesh.volumes.mean())) ** (1.0 / 3.0) * (2.0 / 3.0) ** 0.5
    warnings = []
    for number, layer in enumerate(job.body.layers):
        name = job.body.materials[layer.material].name
        if number in fields.empty_layers:
            if layer.surfaces:
                warnings.append(f"The region of the material “{name}” contains no tetrahedron: raise the resolution.")
            elif layer.depth is not None and layer.depth.kind == "core":
                warnings.append(f"No tetrahedron lies as deep as the material “{name}”: lower its Depth.")
            else:
                warnings.append(f"“{name}” covers no tetrahedron: check its Depth and its Map.")
        elif layer.depth is not None and layer.depth.kind == "shell":
            thickness = layer.depth.depth + 0.5 * layer.depth.fade
            if thickness < TOO_THIN * height:
                warnings.append(
                    f"“{name}” is thinner ({thickness:.3g} m) than the tetrahedra ({height:.3g} m), and is mixed with "
                    "the material below: raise the resolution, or its Depth."
                )
    return warnings
