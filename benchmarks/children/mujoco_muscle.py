"""A bar with tendons as fibres in MuJoCo; runs in the peers' environment, without the package.

Usage: ``python mujoco_muscle.py IN.npz OUT.npz``. A flex of Stable Neo-Hookean tets with lumped masses, and a spatial
tendon between the ends of each edge along the fibres, whose stiffness and spring length are set in each frame; the
integrator that is implicit in the positions of flexes and tendons.
"""

from __future__ import annotations

import sys
import time

import mujoco
import numpy as np

STABLE_NEO_HOOKEAN = 1
"""Material of a flex, experimental in MuJoCo 4.0; 0 is Saint Venant-Kirchhoff."""

_MJCF = """<mujoco>
  <option timestep="{h:.17g}" integrator="discrete" solver="CG" iterations="{iterations}" gravity="0 0 0"/>
  <size memory="2G"/>
  <worldbody>
    <flexcomp name="bar" type="direct" dim="3" mass="{mass:.17g}" radius="1e-5" point="{points}" element="{tets}">
      <contact selfcollide="none" contype="0" conaffinity="0"/>
      <elasticity young="{young:.17g}" poisson="{poisson:.17g}" damping="{damping:.17g}"/>
      <pin id="{pins}"/>
    </flexcomp>
  </worldbody>
</mujoco>"""


def _row(values: np.ndarray) -> str:
    return " ".join(f"{value:.17g}" for value in values.ravel())


def _compile(bar: dict[str, np.ndarray]) -> mujoco.MjModel:
    X, masses = bar["positions"], bar["masses"]
    spec = mujoco.MjSpec.from_string(
        _MJCF.format(
            h=float(bar["time_step"]),
            iterations=int(bar["iterations"]),
            mass=masses.sum(),
            points=_row(X),
            tets=_row(bar["tets"]),
            young=float(bar["youngs_modulus"]),
            poisson=float(bar["poissons_ratio"]),
            damping=float(bar["damping"]),
            pins=_row(bar["pinned"]),
        )
    )
    spec.flexes[0].elastic3d = STABLE_NEO_HOOKEAN
    pinned = set(bar["pinned"].tolist())
    for v in np.unique(bar["edges"]).tolist():
        if v in pinned:
            spec.worldbody.add_site(name=f"s{v}", pos=X[v])
        else:
            spec.body(f"bar_{v}").add_site(name=f"s{v}")
    for i, j in bar["edges"].tolist():
        tendon = spec.add_tendon(name=f"t{i}")
        tendon.wrap_site(f"s{i}")
        tendon.wrap_site(f"s{j}")
    model = spec.compile()
    for v, owner in enumerate(model.flex_vertbodyid):
        if owner:
            model.body_inertia[owner] *= masses[v] / model.body_mass[owner]
            model.body_mass[owner] = masses[v]
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return model


def main(source: str, target: str) -> None:
    """Simulate the bar and write positions and processor seconds of every frame."""
    with np.load(source, allow_pickle=False) as archive:
        bar = {key: archive[key] for key in archive.files}
    model = _compile(bar)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    positions, seconds = [data.flexvert_xpos.copy()], []
    for stiffness, lengths in zip(bar["stiffness"], bar["lengths"]):
        start = time.process_time()
        model.tendon_stiffness[:] = stiffness
        model.tendon_lengthspring[:] = lengths[:, None]
        for _ in range(int(bar["substeps"])):
            mujoco.mj_step(model, data)
        seconds.append(time.process_time() - start)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_flex(model, data)
        positions.append(data.flexvert_xpos.copy())
    warnings = int(sum(warning.number for warning in data.warning))
    np.savez(target, positions=positions, seconds=seconds, warnings=warnings, version=mujoco.__version__)


if __name__ == "__main__":
    main(*sys.argv[1:])
