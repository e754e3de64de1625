"""A run whose focal length is estimated from the tracks: solved with the assumed one, profiled, solved again.

    focal length    the recommended run with the assumed K (`core.cameras.intrinsics`), whose refined depths
                    give the energy over the focal length (`core.depth.focal_profile`)
    then            the run that the settings ask for, with the K that was found

A profile about depths that are wrong, as a run of mirrored frames, is wrong too; that is why the first run is
a complete one.  Where the tracks do not determine the focal length it stays the assumed one.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..cameras.intrinsics import CONFIDENCE, IntrinsicsOrigin, assumed_intrinsics
from ..data.sequence import CameraModel
from ..depth import DepthOptions, FocalProfile, profile_focal
from ..foundation.phases import Phase, PhaseKind
from ..solvers.solver import Status
from .nonrigid_pipeline import run_nonrigid
from .progress import count_shift, shift_counts
from .refinement import depth_problem
from .settings import RECOMMENDED_PENALTY, Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..data.sequence import Sequence
    from ..foundation.types import Floats
    from .progress import Iterate

SHARE = 0.5  # of a run, about, that the estimate takes


def is_needed(sequence: Sequence, settings: Settings) -> bool:
    """Return whether the settings ask for an estimate, and there is a focal length."""
    perspective = settings.camera_of(sequence.camera) is CameraModel.PERSPECTIVE
    return perspective and settings.intrinsics == "estimate"


def run_self_calibrated(sequence: Sequence, settings: Settings) -> Iterator[Iterate]:
    """Yield the iterates of both runs; those of the first are of another K, and none continues from them."""
    assumed = assumed_intrinsics(sequence)
    first = settings.with_changes(
        method="bilinear",
        options=(),
        penalty=RECOMMENDED_PENALTY,
        rank=min(Settings().rank, sequence.frame_count),
        objective="depths",
        mirror=None,
        intrinsics=_four(assumed.K),
    )
    profile: FocalProfile | None = None
    for last in run_nonrigid(sequence, first):
        yield _of_estimate(last, settings, assumed.origin)
    last = _of_estimate(last, settings, assumed.origin)
    if last.depth is not None:
        problem = depth_problem(last.best, settings.noise, assumed.K)
        options = DepthOptions(settings.isometry, settings.neighbors)
        focals = profile_focal(problem, last.depth.best, float(assumed.K[0, 0]), options)
        while True:
            began = time.perf_counter()
            found = next(focals, None)
            if found is None:
                break
            profile = found
            phase = Phase(PhaseKind.FOCAL, len(found.focals))
            record = replace(
                last.record,
                iteration=last.record.iteration + 1,
                seconds=last.record.seconds + time.perf_counter() - began,
                phase=phase,
            )
            last = replace(last, record=record)
            yield last
    K, origin = _estimated(sequence, assumed.K, assumed.origin, profile)
    by = None
    for each in run_nonrigid(sequence, settings.with_changes(intrinsics=_four(K))):
        if by is None:
            by = count_shift(last.record, each.record)
        fraction = SHARE + (1 - SHARE) * each.fraction
        yield replace(shift_counts(each, by), settings=settings, origin=origin, fraction=fraction)


def _of_estimate(each: Iterate, settings: Settings, origin: IntrinsicsOrigin) -> Iterate:
    """Return an iterate of the first run as one of the run that it is a part of."""
    phase = replace(each.phase, focal=True)
    return replace(
        each,
        settings=settings,
        record=replace(each.record, phase=phase, best=None),
        status=Status.RUNNING,
        fraction=SHARE * each.fraction,
        rotations_chosen=False,
        origin=origin,
        verdicts=(),
    )


def _estimated(
    sequence: Sequence, K: Floats, origin: IntrinsicsOrigin, profile: FocalProfile | None
) -> tuple[Floats, IntrinsicsOrigin]:
    """Return K with the estimated focal length, and what is to be known of it."""
    if profile is None or not profile.determined:
        return K, replace(origin, remark=f"{origin.remark}; the tracks do not determine it")
    focal, spread = profile.focal, float(np.exp(CONFIDENCE * profile.deviation))
    interval = focal / spread, focal * spread
    remark = (
        f"focal length {focal:.0f} {sequence.units} estimated from the tracks: between {interval[0]:.0f} and "
        f"{interval[1]:.0f} {sequence.units} (95 %)"
    )
    found = K.copy()
    found[0, 0] = found[1, 1] = focal
    return found, IntrinsicsOrigin("tracks", remark, interval)


def _four(K: Floats) -> tuple[float, float, float, float]:
    """Return fx, fy, cx, cy."""
    return float(K[0, 0]), float(K[1, 1]), float(K[0, 2]), float(K[1, 2])
