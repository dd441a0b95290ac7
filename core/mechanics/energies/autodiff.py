"""Forward automatic differentiation to second order in three variables, for energies defined by a formula.

NumPy's operators and the functions of ``FUNCTIONS`` accept a :class:`Jet` like an array (n,).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ...foundation.errors import MaterialError

Derivatives = tuple[np.ndarray, np.ndarray, np.ndarray]

FUNCTIONS: dict[np.ufunc, Callable[[np.ndarray], Derivatives]] = {
    np.negative: lambda x: (-x, -np.ones_like(x), np.zeros_like(x)),
    np.square: lambda x: (x * x, 2.0 * x, np.full_like(x, 2.0)),
    np.reciprocal: lambda x: (1.0 / x, -1.0 / x**2, 2.0 / x**3),
    np.sqrt: lambda x: (np.sqrt(x), 0.5 / np.sqrt(x), -0.25 / np.sqrt(x) ** 3),
    np.exp: lambda x: (np.exp(x),) * 3,
    np.expm1: lambda x: (np.expm1(x), np.exp(x), np.exp(x)),
    np.log: lambda x: (np.log(x), 1.0 / x, -1.0 / x**2),
    np.log1p: lambda x: (np.log1p(x), 1.0 / (1.0 + x), -1.0 / (1.0 + x) ** 2),
    np.sinh: lambda x: (np.sinh(x), np.cosh(x), np.sinh(x)),
    np.cosh: lambda x: (np.cosh(x), np.sinh(x), np.cosh(x)),
    np.tanh: lambda x: ((t := np.tanh(x)), 1.0 - t * t, -2.0 * t * (1.0 - t * t)),
}
"""Derivative rules: each function of x returns its value and its first and second derivatives."""


def _power(p: np.ndarray | float) -> Callable[[np.ndarray], Derivatives]:
    def of(x: np.ndarray) -> Derivatives:
        first_factor, second_factor = p * np.ones_like(x), p * (p - 1.0) * np.ones_like(x)
        # Avoids 0 * inf at x = 0.
        return (
            x**p,
            np.where(first_factor == 0.0, 0.0, first_factor * x ** (p - 1.0)),
            np.where(second_factor == 0.0, 0.0, second_factor * x ** (p - 2.0)),
        )

    return of


class Jet(NDArrayOperatorsMixin):
    """Batch of n values of a function of three variables, with first and second derivatives.

    ``value`` (n,); ``slope`` (3,n) and ``curvature`` (3,3,n): derivatives by the three variables.
    """

    def __init__(self, value: np.ndarray, slope: np.ndarray, curvature: np.ndarray) -> None:
        self.value, self.slope, self.curvature = value, slope, curvature

    @classmethod
    def variables(cls, values: np.ndarray) -> list[Jet]:
        """Return the jets of the three variables themselves, for ``values`` (n,3)."""
        n = len(values)
        return [cls(values[:, i], np.tile(np.eye(3)[i][:, None], n), np.zeros((3, 3, n))) for i in range(3)]

    def of(self, function: Callable[[np.ndarray], Derivatives]) -> Jet:
        """Return the jet of ``function`` applied to this jet, by the chain rule.

        ``function`` returns its value and its first and second derivatives at values (n,).
        """
        value, first, second = function(self.value)
        return Jet(value, first * self.slope, first * self.curvature + second * _outer(self.slope, self.slope))

    def _times(self, other: Any) -> Jet:
        if not isinstance(other, Jet):
            return Jet(self.value * other, self.slope * other, self.curvature * other)
        cross = _outer(self.slope, other.slope)
        return Jet(
            self.value * other.value,
            self.value * other.slope + other.value * self.slope,
            self.value * other.curvature + other.value * self.curvature + cross + cross.transpose(1, 0, 2),
        )

    def _plus(self, other: Any) -> Jet:
        if not isinstance(other, Jet):
            return Jet(self.value + other, self.slope, self.curvature)
        return Jet(self.value + other.value, self.slope + other.slope, self.curvature + other.curvature)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Apply NumPy's operators and functions by the chain rule."""
        if method != "__call__" or options:
            return NotImplemented
        if ufunc in FUNCTIONS:
            return self.of(FUNCTIONS[ufunc])
        a, b = inputs if len(inputs) == 2 else (None, None)
        if ufunc is np.add:
            return a._plus(b) if isinstance(a, Jet) else b._plus(a)
        if ufunc is np.subtract:
            return a + (-b)
        if ufunc is np.multiply:
            return a._times(b) if isinstance(a, Jet) else b._times(a)
        if ufunc is np.true_divide:
            return a * (np.reciprocal(b) if isinstance(b, Jet) else 1.0 / np.asarray(b))
        if ufunc is np.power:
            return a.of(_power(b)) if not isinstance(b, Jet) else np.exp(b * np.log(a))
        known = ", ".join(function.__name__ for function in FUNCTIONS)
        raise MaterialError(
            f"A custom energy cannot use numpy.{ufunc.__name__}.", f"Write it with + - * / ** and {known}."
        )


def _outer(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[:, None] * b[None]
