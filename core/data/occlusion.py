"""Blocks of observations that an object which hides a part of itself would hide."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..foundation.types import Bools, Floats, Ints


def occluded_blocks(
    positions: Floats, visible: Bools, shares: tuple[float, float], rng: np.random.Generator
) -> Iterator[tuple[slice, Ints]]:
    """Yield blocks of neighboring points over frames one after the other, each point being twice a center.

    `positions`: (F, d, P) of the points, which tell neighbors; those of hidden ones are not used; `visible`:
    (F, P) whether a point is seen in a frame.

    >>> positions = np.zeros((4, 1, 6)) + np.arange(6.0)
    >>> visible = np.ones((4, 6), dtype=bool)
    >>> frames, points = next(occluded_blocks(positions, visible, (0.5, 0.5), np.random.default_rng(0)))
    >>> frames.stop - frames.start, sorted(points.tolist())
    (2, [2, 3, 4])
    """
    frames, points = visible.shape
    length, count = (max(round(share * size), 1) for share, size in zip(shares, visible.shape, strict=True))
    for center in rng.permutation(np.tile(np.arange(points), 2)):
        first = int(rng.integers(frames - length + 1))
        middle = first + length // 2
        if not visible[middle, center]:
            continue
        away = np.linalg.norm(positions[middle] - positions[middle][:, [center]], axis=0)
        near = np.argsort(np.where(visible[middle], away, np.inf), kind="stable")[:count]
        yield slice(first, first + length), near.astype(np.int64)
