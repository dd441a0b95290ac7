"""The kernels that cvxopt's OpenBLAS is told to use."""

from __future__ import annotations

import os

import pytest
from sinew.core.numerics.linear_solvers.blas import (
    AVX2,
    AVX512,
    VARIABLE,
    chosen_kernels,
    core_type,
    load_cvxopt,
)


@pytest.mark.parametrize(
    ("names", "machine", "expected"),
    [
        ((*AVX2, *AVX512), "x86_64", "SkylakeX"),
        ((*AVX2, "avx512f"), "AMD64", "Haswell"),
        (("avx2",), "x86_64", None),
        ((*AVX2, *AVX512), "arm64", None),
    ],
)
def test_kernels_follow_the_features(names, machine, expected):
    assert core_type(dict.fromkeys(names, True), machine) == expected


def test_the_variable_is_gone_afterwards(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    with chosen_kernels():
        pass
    assert VARIABLE not in os.environ


def test_a_users_own_choice_stays(monkeypatch):
    monkeypatch.setenv(VARIABLE, "Nehalem")
    with chosen_kernels():
        assert os.environ[VARIABLE] == "Nehalem"
    assert os.environ[VARIABLE] == "Nehalem"


def test_what_is_loaded_factorizes():
    cvxopt = load_cvxopt()
    b = cvxopt.matrix([8.0])
    cvxopt.cholmod.linsolve(cvxopt.spmatrix([4.0], [0], [0]), b)
    assert b[0] == 2.0
