"""Steps that are longer than the direction."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.numerics.optimization.line_search import backtrack, expand


@pytest.mark.parametrize(
    "least, longest, expected", ((1.2, 64.0, 1.0), (5.0, 64.0, 4.0), (40.0, 64.0, 32.0), (40.0, 9.0, 8.0))
)
def test_a_step_is_doubled_while_the_merit_falls(least, longest, expected):
    asked = []

    def merit(alpha: float) -> tuple[float, float, float]:
        asked.append(alpha)
        return (alpha - least) ** 2, 0.0, alpha

    assert expand(merit, 1.0, 1.0, longest) == (expected, expected)
    assert max(asked, default=0.0) <= longest


def test_what_is_no_number_ends_it():
    assert expand(lambda alpha: (np.nan, 0.0, alpha), 1.0, 1.0, 64.0) == (1.0, 1.0)


@pytest.mark.parametrize("slope, accepted", ((-1e-14, 1.0), (-1e-6, 0.0)))
def test_where_round_off_hides_the_decrease_the_whole_step_is_taken(slope, accepted):
    """Values carry the round-off of cancelled terms, 1e-12 of their magnitude."""
    assert backtrack(lambda alpha: (1.0 + 1e-12, 1.0, alpha), 1.0, 1.0, slope)[0] == accepted
