"""Bodies in contact in Newton, by vertex block descent; runs in the peers' environment.

Usage: ``python newton_meeting.py IN.npz OUT.npz``. Neo-Hookean tets on given masses; the ground is a plane, and all
surface triangles collide with one another.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import newton
import numpy as np
import warp as wp
from newton_frames import Scene, record, stepper


def _model(scene: Scene) -> newton.Model:
    builder = newton.ModelBuilder(gravity=(0.0, 0.0, -9.81))
    X = [wp.vec3(*point) for point in scene["positions"]]
    radii, still = [float(scene["radius"])] * len(X), [wp.vec3(0.0, 0.0, 0.0)] * len(X)
    builder.add_particles(pos=X, vel=still, mass=scene["masses"].tolist(), radius=radii)
    for tet, mu, lam in zip(scene["tets"].tolist(), scene["mu"].tolist(), scene["lam"].tolist()):
        builder.add_tetrahedron(*tet, mu, lam, 0.0)
    for face in scene["faces"].tolist():
        builder.add_triangle(*face, tri_ke=0.0, tri_ka=0.0, tri_kd=0.0, tri_drag=0.0, tri_lift=0.0)
    builder.add_ground_plane(cfg=newton.ModelBuilder.ShapeConfig(mu=float(scene["friction"])))
    builder.color()
    model = builder.finalize(device="cpu")
    model.soft_contact_ke = float(scene["contact_stiffness"])
    model.soft_contact_kd, model.soft_contact_mu = 0.0, float(scene["friction"])
    return model


def _stepper(scene: Scene) -> Callable[[int], np.ndarray]:
    model, radius = _model(scene), float(scene["radius"])
    return stepper(
        model,
        scene,
        contacts=model.contacts(),
        particle_enable_self_contact=True,
        particle_self_contact_radius=radius,
        particle_self_contact_margin=1.5 * radius,
    )


if __name__ == "__main__":
    record(*sys.argv[1:], _stepper)
