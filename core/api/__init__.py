"""Stable public names of the library: ``import sinew as sw``.

All other names are internal and may change. The package root (``blender_addon/package/__init__.py``) re-exports the
public names lazily.
"""

from ..foundation.errors import SinewError
from ..foundation.schema.muscle_settings import MuscleSettings
from ..foundation.schema.settings import ContactSettings as Contact
from ..foundation.schema.settings import MaterialSettings as Material
from ..foundation.schema.settings import ResolutionSettings as Resolution
from ..foundation.schema.settings import SolverSettings as Solver
from ..geometry.cuts.cutter import Cutter
from ..geometry.cuts.divided_surface import SplitSurface
from ..geometry.cuts.split_surface import split_surface
from ..geometry.mesh.surface_mesh import SurfaceMesh as Surface
from ..jobs.job.body import Body
from ..jobs.job.chamber import Chamber
from ..jobs.job.environment import Collider, Ground, Spring
from ..jobs.job.job import Job
from ..jobs.job.joint import Joint
from ..jobs.job.muscle import FibreCurve, Muscle
from ..jobs.job.seams import Seams
from ..jobs.job.tie import Tie
from ..jobs.scene_files.scene_file import read_scene
from ..jobs.scene_files.surface_file import read_surface, read_tets
from ..mechanics.constraints.kinematic_region import KinematicRegion
from ..mechanics.energies.own_energy import register_energy
from ..mechanics.fibres.presets import muscle_preset
from .frames import Frame, simulate
from .solid import Solid
from .sweeps import sweep
from .writing import write

__all__ = [
    "Body",
    "Chamber",
    "Collider",
    "Contact",
    "Cutter",
    "FibreCurve",
    "Frame",
    "Ground",
    "Job",
    "Joint",
    "KinematicRegion",
    "Material",
    "Muscle",
    "MuscleSettings",
    "Resolution",
    "Seams",
    "SinewError",
    "Solid",
    "Solver",
    "SplitSurface",
    "Spring",
    "Surface",
    "Tie",
    "muscle_preset",
    "read_scene",
    "read_surface",
    "read_tets",
    "register_energy",
    "simulate",
    "split_surface",
    "sweep",
    "write",
]
