"""MuJoCo's deformables in contact with one another, themselves and plates; runs in the peers' environment.

Usage: ``python mujoco_meeting.py IN.npz OUT.npz``. Each body is a flex of tets with one stiffness. ``material`` is 0
for Saint Venant-Kirchhoff, 1 for Stable Neo-Hookean, experimental in MuJoCo 4.0. The ground is a plane, an upper plate,
if any, a thick box with prescribed motion. Contacts are MuJoCo's own, softened by ``solref``, with given friction and
radius.
"""

from __future__ import annotations

import sys
import time

import mujoco
import numpy as np

THICK = 0.2
"""Half the thickness of the plate, m."""

_MJCF = """<mujoco>
  <option timestep="{h:.17g}" integrator="discrete" solver="CG" iterations="{iterations}"/>
  <size memory="2G"/>
  <worldbody>
    <geom type="plane" size="2 2 0.1" friction="{friction} 0 0"/>
    {plate}
    {bodies}
  </worldbody>
</mujoco>"""

_PLATE = """<body name="plate" mocap="true" pos="0 0 {height:.17g}">
      <geom type="box" size="1 1 {thick}" friction="{friction} 0 0"/>
    </body>"""

_BODY = """<flexcomp name="body{k}" type="direct" dim="3" mass="{mass:.17g}" radius="{radius}" point="{points}"
     element="{tets}">
      <contact selfcollide="{own}" friction="{friction} 0 0"/>
      <elasticity young="{young:.17g}" poisson="{poisson}" damping="{damping}"/>
    </flexcomp>"""


def _row(values: np.ndarray) -> str:
    return " ".join(f"{value:.17g}" for value in values.ravel())


def _compile(scene: dict[str, np.ndarray]) -> mujoco.MjModel:
    of_tet = scene["body"][scene["tets"][:, 0]]
    bodies, friction = [], float(scene["friction"])
    for k in range(int(scene["body"].max()) + 1):
        own = np.flatnonzero(scene["body"] == k)
        bodies.append(
            _BODY.format(
                k=k,
                mass=float(scene["masses"][own].sum()),
                radius=float(scene["radius"]),
                points=_row(scene["positions"][own]),
                tets=_row(scene["tets"][of_tet == k] - own[0]),
                own="auto" if scene["selves"] else "none",
                friction=friction,
                young=float(scene["youngs_modulus"][k]),
                poisson=float(scene["poissons_ratio"]),
                damping=float(scene["damping"]),
            )
        )
    plate = ""
    if len(scene["heights"]):
        plate = _PLATE.format(height=scene["heights"][0] + THICK, thick=THICK, friction=friction)
    h, iterations = float(scene["time_step"]), int(scene["iterations"])
    text = _MJCF.format(h=h, iterations=iterations, friction=friction, plate=plate, bodies="\n    ".join(bodies))
    spec = mujoco.MjSpec.from_string(text)
    for flex in spec.flexes:
        flex.elastic3d = int(scene["material"])
    return spec.compile()


def main(source: str, target: str) -> None:
    """Simulate the scene and write positions and processor seconds of every frame."""
    with np.load(source, allow_pickle=False) as archive:
        scene = {key: archive[key] for key in archive.files}
    model = _compile(scene)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    positions, seconds, contacts, substeps = [data.flexvert_xpos.copy()], [], [], int(scene["substeps"])
    for frame in range(int(scene["frames"])):
        start = time.process_time()
        for k in range(substeps):
            if len(scene["heights"]):
                begin, end = scene["heights"][frame : frame + 2]
                data.mocap_pos[0, 2] = begin + (k + 1) / substeps * (end - begin) + THICK
            mujoco.mj_step(model, data)
        seconds.append(time.process_time() - start)
        contacts.append(data.ncon)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_flex(model, data)
        positions.append(data.flexvert_xpos.copy())
    warnings = int(sum(warning.number for warning in data.warning))
    np.savez(target, positions=positions, seconds=seconds, contacts=contacts, warnings=warnings)


if __name__ == "__main__":
    main(*sys.argv[1:])
