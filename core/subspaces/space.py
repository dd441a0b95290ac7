"""What a solver steps: a model with all its vertices, or a reduced one. Both answer the same questions."""

from __future__ import annotations

from ..model.model import Model
from .reduced_model import ReducedModel

Space = Model | ReducedModel
