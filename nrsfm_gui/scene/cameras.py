"""The cameras of a sequence, in the coordinates of what is drawn. Numbers only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.foundation import Floats, Similarity, read_only


@dataclass(frozen=True, eq=False)
class Cameras:
    """The camera of every frame, in the coordinates of the drawn points, or that of one frame without F."""

    R: Floats  # (F, 3, 3) world to camera; a reflection where the alignment mirrors
    t: Floats  # (F, 3)
    K: Floats  # (F, 3, 3) camera frame to the units of the tracks
    orthogonal: bool  # whether depth is ignored instead of divided by

    def at(self, frames: int | slice) -> Cameras:
        """Return the camera of a frame, or those of some."""
        return Cameras(self.R[frames], self.t[frames], self.K[frames], self.orthogonal)

    def moved(self, similarity: Similarity) -> Cameras:
        """Return the cameras that see moved points where these see the points before."""
        rotations = self.R @ similarity.rotation.transpose(0, 2, 1)
        offset = similarity.scale[:, None] * self.t
        offset = offset - (rotations @ similarity.translation[:, :, None])[:, :, 0]
        intrinsics = np.array(self.K)
        if self.orthogonal:  # no division by depth cancels the scale
            intrinsics[:, :, :2] /= similarity.scale[:, None, None]
        return Cameras(read_only(rotations), read_only(offset), read_only(intrinsics), self.orthogonal)


def project(cameras: Cameras, points: Floats) -> Floats:
    """Return the picture (F, 2, P) of points (F, 3, P), in the units of the tracks."""
    Y = cameras.R @ points + cameras.t[:, :, None]
    if cameras.orthogonal:
        Y[:, 2] = 1.0
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            Y = Y / Y[:, 2:]
    return np.asarray(cameras.K[:, :2] @ Y)
