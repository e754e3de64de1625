"""Preparation of a sequence: its intrinsics are resolved and its tracks are calibrated."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ..cameras.calibration import calibrate, orthogonal_intrinsics, spread
from ..cameras.intrinsics import estimate_intrinsics, load_intrinsics
from ..data.sequence import CameraModel, Sequence
from ..foundation.exceptions import InputError
from ..problem.nonrigid import NonRigidProblem, Problem

if TYPE_CHECKING:
    from ..foundation.types import Bools, Floats
    from ..penalties import Penalty
    from .settings import Settings

AnyProblem = TypeVar("AnyProblem", bound=Problem)


@dataclass(frozen=True, eq=False)
class CalibratedTracks:
    """Calibrated observations, and the K that calibrated them."""

    tracks: Floats  # (F, 2, P) calibrated
    visible: Bools  # (F, P)
    intrinsics: Floats  # (3, 3)
    camera: CameraModel

    def problem(self, rotations: Floats, penalty: Penalty, rank: int, eta: float) -> NonRigidProblem:
        """Pose the problem for given rotations."""
        bare = NonRigidProblem(self.tracks, self.visible, rotations, self.effective_eta(eta), np.zeros(1))
        return bare.with_penalty(penalty, rank)

    def effective_eta(self, eta: float) -> float:
        """Return the eta that a problem is posed at: 1 for orthogonal tracks, for any eta."""
        return 1.0 if self.camera is CameraModel.ORTHOGONAL else eta


def prepare(sequence: Sequence, settings: Settings) -> CalibratedTracks:
    """Resolve the intrinsics of a sequence and calibrate its tracks.

    Raises
    ------
    InputError
        where the intrinsics cannot be resolved, or all visible tracks of every frame coincide.
    """
    K = resolve_intrinsics(sequence, settings.intrinsics)
    tracks = calibrate(sequence.observations, K, sequence.camera)
    try:
        spread(tracks, sequence.visible)
    except InputError as error:
        raise InputError(f"{sequence.name}: {error}") from error
    tracks.setflags(write=False)  # so that every problem posed on them shares them
    return CalibratedTracks(tracks, sequence.visible, K, sequence.camera)


def resolve_intrinsics(sequence: Sequence, source: str | Path | tuple[float, float, float, float]) -> Floats:
    """Return K (3, 3) as the settings ask for it.

    Raises
    ------
    InputError
        where it is to be estimated and there is no ground-truth frame, or the estimate is refused.
    """
    if sequence.camera is CameraModel.ORTHOGONAL:
        return orthogonal_intrinsics(sequence.observations)
    if isinstance(source, tuple):
        fx, fy, cx, cy = source
        return np.array([[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]])
    if isinstance(source, Path):
        return load_intrinsics(source)
    if source == "calibrated":
        return np.eye(3)
    if source == "auto" and sequence.intrinsics is not None:
        return sequence.intrinsics
    truth = sequence.truth
    if truth is None:
        raise InputError(
            f"{sequence.name}: the intrinsics are unknown, and there is no ground-truth frame to estimate "
            "them from; give --intrinsics fx,fy,cx,cy, a file, or 'calibrated'"
        )
    frame = truth.reference
    points = truth.at(frame)
    assert points is not None  # GroundTruth checks that its reference is one of its frames
    return estimate_intrinsics(points, sequence.tracks[frame], sequence.visible[frame]).K
