"""The reconstruction as a value, and its file: a documented, versioned .npz of plain arrays.

File format, version 1 (every entry a plain array; `allow_pickle=False` reads it):

    tracks (F, 2, P)          calibrated observations, 0 where hidden
    visible (F, P)            bool
    rotations (F, 3, 3)       world-to-camera
    translations (F, 3)       Y = R S + t, in calibrated units
    points (F, 3, P)          S, in the object frame, calibrated units (not millimeters)
    B (F, K), C (3P, K)       rows of C: x of all points, then y, then z; points = B C' rearranged
    weights (K,)              a
    eta, loss                 scalars; loss is the objective, not its logarithm
    history (N, 3)            iteration, seconds, loss
    intrinsics (3, 3)         K that calibrated the tracks
    edges (E, 2), faces (T, 3)            where known
    truth_points (G, 3, P), truth_frames (G,), truth_reference     where known
    meta                      JSON text: method, parameters, versions, source hash, command
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .arrays import Bools, Floats, Ints
    from .sequence import CameraModel, GroundTruth


@dataclass(frozen=True, eq=False)
class Result:
    """A reconstruction with all that is needed to evaluate, show and reproduce it."""

    tracks: Floats  # (F, 2, P) calibrated, 0 where hidden
    visible: Bools  # (F, P)
    rotations: Floats  # (F, 3, 3)
    translations: Floats  # (F, 3)
    B: Floats  # (F, K)
    C: Floats  # (3P, K)
    weights: Floats  # (K,)
    eta: float
    loss: float
    history: Floats  # (N, 3) iteration, seconds, loss
    intrinsics: Floats  # (3, 3)
    camera: CameraModel
    truth: GroundTruth | None = None
    edges: Ints | None = None
    faces: Ints | None = None
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def points(self) -> Floats:
        """(F, 3, P) shapes in the object frame."""
        product: Floats = self.B @ self.C.T
        return product.reshape(len(self.B), 3, -1)
