"""What ``import sinew as sw`` offers: names that stay. All else of the library is internal and may change.

The root of the package (``blender_addon/package/__init__.py``) passes them on when they are asked for.
"""

from ..energies.own_energy import register_energy
from ..errors import SinewError
from ..job.body import Body
from ..job.job import Job
from ..job.surroundings import Collider, Ground, Spring
from ..mesh.surface_mesh import SurfaceMesh as Surface
from ..scene_files.scene_file import read_scene
from ..scene_files.surface_file import read_surface, read_tets
from ..settings import MaterialSettings as Material
from ..settings import MeetSettings as Meets
from ..settings import ResolutionSettings as Resolution
from ..settings import SolverSettings as Solver
from .frames import Frame, simulate
from .solid import Solid
from .writing import write

__all__ = [
    "Body",
    "Collider",
    "Frame",
    "Ground",
    "Job",
    "Material",
    "Meets",
    "Resolution",
    "SinewError",
    "Solid",
    "Solver",
    "Spring",
    "Surface",
    "read_scene",
    "read_surface",
    "read_tets",
    "register_energy",
    "simulate",
    "write",
]
