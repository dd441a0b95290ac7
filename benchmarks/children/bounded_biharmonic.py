"""Bounded biharmonic weights of libigl [Jacobson et al. 2011]; runs in the peers' environment, without the package.

Usage: ``python bounded_biharmonic.py IN.npz OUT.npz``. In: ``rest_positions`` (n,3), ``tets`` (m,4), ``handles`` (h,)
vertices at which one weight each is 1. Out: ``weights`` (n,h), whose rows sum to 1.
"""

from __future__ import annotations

import sys

import igl
import numpy as np


def main(source: str, target: str) -> None:
    """Read the input, solve and write the weights."""
    with np.load(source, allow_pickle=False) as archive:
        X, tets, handles = archive["rest_positions"], archive["tets"], archive["handles"]
    weights = igl.bbw(X, tets.astype(np.int64), handles.astype(np.int64), np.eye(len(handles)), max_iter=20)
    np.savez(target, weights=weights / weights.sum(axis=1, keepdims=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
