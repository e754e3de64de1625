r"""Depth refinement: tracks whose depths are the unknowns, and a value of all unknowns.

Symbols: F frames, P points; m_fj (2) the calibrated observation of point j in frame f; R_f the rotation from
the object to the camera.  A point in the camera's frame is

    Y_fj = z_fj (m_fj, 1)    perspective, z > 0,        Y_fj = (m_fj, z_fj)    orthogonal.

Where a point is visible its ray m is the observation, or is near it where the tracks have noise; where it is
hidden the ray is unknown.  The shapes in the object's frame need no variable for translation and size,

    X_f = R_f' (Y_f - mean_j Y_fj) / s,

s the unit: the lateral size of the tracks, sqrt(3 mean over the visible (m - its frame's mean)^2), times the
geometric mean of all depths where the camera is perspective.  The size of a perspective reconstruction is
free and is fixed by a geometric mean depth of 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from ..foundation.exceptions import InputError
from ..foundation.representation import OneLine
from ..foundation.types import Bools, Floats, Ints, read_only
from ..problem.nonrigid import checked_tracks
from .edges import NEIGHBORS, inflation, neighbor_edges

NEAREST_DEPTH = 0.05  # of the depths that a start gives, its median depth being 1; log z needs z > 0
# Of the log deviation of lengths, explained by the size of the object: bilinear solutions of balloons have
# 2.0 to 2.2, those of six mocap sequences at most 0.03, and of sheets that stretch or tear 0.2.
INFLATION = 0.7
MOST_MEASURED = 200  # points that this is measured on
LEAST_REFERENCE = 1e-6  # added to the squared reference length of an edge, in units of s


@dataclass(frozen=True, eq=False)
class DepthPoint(OneLine):
    """A value of all unknowns: rotations, depths and rays."""

    rotations: Floats  # (F, 3, 3) object to camera
    depths: Floats  # (F, P) above 0, of geometric mean 1; of an orthogonal camera any values
    rays: Floats  # (F, 2, P) lateral place per depth; of an orthogonal camera the lateral place
    affine: bool  # whether the camera is orthogonal

    def __post_init__(self) -> None:
        for name in ("rotations", "depths", "rays"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def camera_points(self) -> Floats:
        """Return Y, the points in the camera's frame, (F, 3, P)."""
        depths = self.depths[:, None, :]
        lateral = self.rays if self.affine else depths * self.rays
        return np.concatenate((lateral, depths), axis=1)

    @property
    def relief(self) -> Floats:
        """The depths, or the logs of those of a perspective camera: what a mirror image negates, (F, P)."""
        relief: Floats = self.depths if self.affine else np.log(self.depths)
        return relief

    def with_relief(self, relief: Floats) -> Self:
        """Return the point with another relief (F, P), of geometric mean depth 1 if perspective."""
        return replace(self, depths=relief if self.affine else np.exp(relief - relief.mean()))

    @classmethod
    def from_camera_points(cls, problem: DepthProblem, Y: Floats, R: Floats) -> DepthPoint:
        """Return the point with the depths of given points, on the problem's rays.

        `Y`: (F, 3, P) points in the camera's frame. Depths of a perspective camera that are below 0.05 of
        their median are moved there; `R`: (F, 3, 3) object to camera. Raises InputError where the median
        depth of a perspective camera is not positive.
        """
        depths = np.array(Y[:, 2])
        lateral = Y[:, :2]
        if not problem.affine:
            median = float(np.median(depths))
            if not median > 0:
                raise InputError(
                    f"the median depth of the start is {median:.3g}; accepted are points in front"
                )
            depths = np.maximum(depths, NEAREST_DEPTH * median)
            lateral = lateral / depths[:, None, :]
            depths /= np.exp(np.log(depths).mean())
        rays = np.where(problem.visible[:, None, :], problem.tracks, lateral)
        return cls(R, depths, rays, problem.affine)

    @classmethod
    def of_shapes(cls, Y: Floats, R: Floats, *, affine: bool) -> DepthPoint:
        """Return the point of shapes whose rays are their own. `Y`: (F, 3, P); `R`: (F, 3, 3)."""
        if affine:
            return cls(R, Y[:, 2], Y[:, :2], affine)
        return cls(R, Y[:, 2] / np.exp(np.log(Y[:, 2]).mean()), Y[:, :2] / Y[:, 2:], affine)


@dataclass(frozen=True, eq=False)
class DepthProblem(OneLine):
    """Calibrated tracks, their noise, and what a start fixes: its extent in depth and its lateral distances.

    Raises InputError where shapes disagree, a visible observation is not finite, the noise is negative or not
    finite, or the visible observations of every frame coincide.
    """

    tracks: Floats  # (F, 2, P); 0 where hidden
    visible: Bools  # (F, P) whether a point is seen in a frame
    affine: bool  # whether the camera is orthogonal
    # Standard deviation of an observed coordinate in calibrated units; with 0 the rays are exact.
    noise: float = 0.0
    extent: float = 1.0  # depth extent over lateral extent that the shapes keep near; set by `anchored`
    # (F, 2, P) lateral coordinates in units of s, whose distances are the edges' references; set by
    # `anchored`.
    lateral: Floats | None = None
    # Whether the size of an object before an orthogonal camera changes from frame to frame; set by
    # `anchored`.
    inflates: bool = False
    length_share: float = 1.0  # of the weight of lengths that is asked for: less where they do not stay

    def __post_init__(self) -> None:
        tracks, visible = checked_tracks(self.tracks, self.visible)
        if not 0 <= self.noise < np.inf:
            raise InputError(f"the noise of the tracks is {self.noise}; accepted are 0 and above")
        object.__setattr__(self, "visible", visible)
        object.__setattr__(self, "tracks", tracks)
        if self.lateral is not None:
            object.__setattr__(self, "lateral", read_only(self.lateral))
        if not self.size > 0:
            raise InputError("the visible points of every frame coincide; accepted are tracks with extent")

    @property
    def shape(self) -> tuple[int, int]:
        """(F, P)."""
        return len(self.visible), self.visible.shape[1]

    @cached_property
    def size(self) -> float:
        """Lateral size of the tracks: sqrt(3 mean over the visible of (m - its frame's mean)^2)."""
        seen = self.visible[:, None, :]
        count = np.maximum(seen.sum(axis=2), 1)
        centered = np.where(seen, self.tracks - (self.tracks.sum(axis=2) / count)[:, :, None], 0.0)
        return float(np.sqrt(3.0 * np.square(centered).sum() / (2 * max(int(self.visible.sum()), 1))))

    def unit(self, point: DepthPoint) -> float:
        """Return s, the length by which shapes are divided."""
        return self.size if self.affine else self.size * float(np.exp(np.log(point.depths).mean()))

    def shapes(self, point: DepthPoint) -> Floats:
        """Return X, the centered shapes in the object's frame in units of s, (F, 3, P)."""
        Y = point.camera_points()
        Y -= Y.mean(axis=2, keepdims=True)
        X: Floats = np.swapaxes(point.rotations, 1, 2) @ Y / self.unit(point)
        return X

    def anchored(self, point: DepthPoint) -> DepthProblem:
        """Return the problem whose shapes keep near a point's extent in depth and its lateral lengths."""
        Y = point.camera_points()
        Y -= Y.mean(axis=2, keepdims=True)
        inflates = False
        if self.affine:
            some = Y[:, :, :: -(-Y.shape[2] // MOST_MEASURED)]
            inflates = inflation(some, neighbor_edges(some, NEIGHBORS)) > INFLATION
        return replace(
            self, extent=relative_extent(Y), lateral=Y[:, :2] / self.unit(point), inflates=inflates
        )

    def edge_reference(self, edges: Ints) -> Floats:
        """Return the squared reference length of each edge in units of s squared, (E,).

        3/2 of the mean over the frames of its squared lateral length in the anchor: what its squared length
        would be were its directions uniform. It is nearly observed and does not reward stretching the depth.

        `edges`: (2, E) indices of points. Raises InputError where the problem has no anchor.
        """
        if self.lateral is None:
            raise InputError("the problem has no anchor; DepthProblem.anchored(point) sets it")
        difference = self.lateral[:, :, edges[0]] - self.lateral[:, :, edges[1]]
        mean = np.einsum("fae,fae->e", difference, difference) / len(difference)
        reference: Floats = 1.5 * mean + LEAST_REFERENCE
        return reference

    def with_noise(self, noise: float) -> Self:
        """Return the problem with another noise."""
        return replace(self, noise=noise)


def relative_extent(Y: Floats) -> float:
    """Return the depth extent over the lateral extent of centered points.

    `Y`: (F, 3, P) points in the camera's frame, of mean 0 in each frame.
    """
    squares = np.square(Y).sum(axis=(0, 2))
    return float(np.sqrt(2.0 * squares[2] / (squares[0] + squares[1])))
