"""MuJoCo's deformable on a body from a file; runs in the peers' environment, without the package.

Usage: ``python mujoco_flex.py IN.npz OUT.npz``. A flex of Saint Venant-Kirchhoff tets, compiled with one stiffness; its
element rows are then scaled to each tet's; lumped vertex masses; the integrator that is implicit in position, with
conjugate gradients and zero tolerance. Pins are fixed to the world.
"""

from __future__ import annotations

import sys
import time

import mujoco
import numpy as np

REFERENCE = 1e6
"""Young's modulus, Pa, with which the flex is compiled."""

_MJCF = """<mujoco>
  <option timestep="{h:.17g}" integrator="discrete" solver="CG" iterations="{iterations}" tolerance="0"
   gravity="{gravity}"/>
  <size memory="2G"/>
  <worldbody>
    <flexcomp name="body" type="direct" dim="3" mass="{mass:.17g}" radius="1e-5" point="{points}" element="{tets}">
      <contact selfcollide="none" contype="0" conaffinity="0"/>
      <elasticity young="{young:g}" poisson="{poisson:g}" damping="0"/>
      <pin id="{pins}"/>
    </flexcomp>
  </worldbody>
</mujoco>"""


def _row(values: np.ndarray) -> str:
    return " ".join(f"{value:.17g}" for value in values.ravel())


def _compile(body: dict[str, np.ndarray]) -> mujoco.MjModel:
    masses = body["vertex_masses"]
    model = mujoco.MjModel.from_xml_string(
        _MJCF.format(
            h=float(body["time_step"]),
            iterations=int(body["iterations"]),
            gravity=_row(body["gravity"]),
            mass=masses.sum(),
            points=_row(body["rest_positions"]),
            tets=_row(body["tets"]),
            young=REFERENCE,
            poisson=float(body["poissons_ratio"]),
            pins=_row(body["pinned"]),
        )
    )
    stiffness = model.flex_stiffness.reshape(len(body["tets"]), -1)
    _check_order(model, body)
    stiffness *= (body["youngs_modulus"] / REFERENCE)[:, None]
    for vertex, owner in enumerate(model.flex_vertbodyid):
        if owner:
            model.body_inertia[owner] *= masses[vertex] / model.body_mass[owner]
            model.body_mass[owner] = masses[vertex]
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return model


def _check_order(model: mujoco.MjModel, body: dict[str, np.ndarray]) -> None:
    """Raise ValueError if the compiler has reordered the tets, so that the stiffness rows do not match ours."""
    if not np.array_equal(np.sort(model.flex_elem.reshape(-1, 4), axis=1), np.sort(body["tets"], axis=1)):
        raise ValueError("MuJoCo has changed the order of the tets.")


def main(source: str, target: str) -> None:
    """Simulate the body from rest and write positions and seconds of every step."""
    with np.load(source, allow_pickle=False) as archive:
        body = {key: archive[key] for key in archive.files}
    model = _compile(body)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    positions, seconds = [], []
    for _ in range(int(body["steps"])):
        start = time.perf_counter()
        mujoco.mj_step(model, data)
        seconds.append(time.perf_counter() - start)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_flex(model, data)
        positions.append(data.flexvert_xpos.copy())
    warnings = int(sum(warning.number for warning in data.warning))
    np.savez(target, positions=np.array(positions), seconds=np.array(seconds), warnings=warnings)


if __name__ == "__main__":
    main(*sys.argv[1:])
