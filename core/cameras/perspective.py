"""Perspective tracks as those of an affine camera, which a factorization needs.

The image of an object on the axis of a camera is nearly a weak perspective.  Every frame's rays are rotated
so that the mean ray lies on the axis, and this rotation is removed from the result afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..foundation.linalg import rotation_onto_axis

if TYPE_CHECKING:
    from ..foundation.types import Bools, Floats


def turned_to_object(tracks: Floats, visible: Bools) -> tuple[Floats, Floats]:
    """Turn every frame's camera to look at the mean of its visible rays.

    Parameters
    ----------
    tracks
        (F, 2, P) calibrated; hidden entries are ignored.
    visible
        (F, P).

    Returns
    -------
    turned
        (F, 2, P) tracks of the turned cameras, 0 where hidden.
    turns
        (F, 3, 3) what turned them: a rotation R of the turned camera is turns' R of the given one.
    """
    seen = visible[:, None, :]
    rays = np.concatenate((np.where(seen, tracks, 0.0), np.ones((len(tracks), 1, tracks.shape[2]))), axis=1)
    mean = np.where(seen, rays, 0.0).sum(axis=2) / visible.sum(axis=1)[:, None]
    turns = rotation_onto_axis(mean)
    Y = turns @ rays
    turned = np.where(seen & (Y[:, 2:] > 0), Y[:, :2] / np.where(Y[:, 2:] > 0, Y[:, 2:], 1.0), 0.0)
    return turned, turns
