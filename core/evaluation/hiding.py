"""Rounds of solving, finding outliers and hiding them, until nothing new is found.

The first round leaves out the gross outliers of the tracks (`core.cameras.gross_outliers`), because a
solution of all tracks bends to them.  After each round observations with a residual above `UNFIT` times the
median are hidden, too, where they are at least `LEAST` of all.  That is above the threshold of
`outliers`, which a person judges: after the first round of a sheet with 5 % of outliers, that one is
exceeded by 43 of 6300 observations that are right and by 9 of 11 that are wrong, this one by 5 and by 6.
Each round is a run of its own, so that the settings of the last one give its result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..cameras.calibration import to_pixels
from ..cameras.gross_outliers import find_gross_outliers
from ..data.hidden import format_hidden, parse_hidden
from ..reconstruction.progress import count_shift, shift_counts
from ..reconstruction.reconstruct import iterate_sequence
from .cross_validation import reproject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..data.sequence import Sequence
    from ..foundation.types import Floats
    from ..reconstruction.progress import Iterate
    from ..reconstruction.settings import Settings

ROUNDS = 3  # at most
UNFIT, LEAST = 8.0, 0.001  # times the median residual; share of all observations
FEWEST = 2  # observations of a frame that are not hidden


def bilinear_residuals(sequence: Sequence, iterate: Iterate) -> Floats:
    """Return the distances of observations and of the bilinear solution, (F, P), NaN where not solved for.

    Those of refined depths say nothing of wrong tracks: they lie on the observed rays, on wrong ones too.
    """
    solved = iterate.best
    camera = iterate.settings.camera_of(sequence.camera)
    away = reproject(solved, iterate.intrinsics, camera) - to_pixels(
        solved.problem.tracks, iterate.intrinsics
    )
    return np.where(solved.problem.visible, np.linalg.norm(away, axis=1), np.nan)


def solve_hiding_outliers(
    sequence: Sequence, settings: Settings, *, rounds: int = ROUNDS
) -> Iterator[Iterate]:
    """Yield the iterates of all rounds; the settings of the last one name what is hidden.

    Raises InputError as `core.reconstruct` does.

    >>> import numpy as np
    >>> from dataclasses import replace
    >>> import core
    >>> from core.evaluation import solve_hiding_outliers
    >>> scene = core.simulate("balloon", frames=30, points=24, noise=0.3)
    >>> tracks = np.array(scene.tracks)
    >>> tracks[7, :, 3] += 120.0
    >>> settings = core.Settings(rank=3, starts=1, rotations="truth", objective="wnn")
    >>> *_, last = solve_hiding_outliers(replace(scene, tracks=tracks), settings, rounds=1)
    >>> "4:8" in last.settings.hide
    True
    """
    frames, points = sequence.visible.shape
    hidden = np.zeros((frames, points), dtype=bool)
    if settings.hide is not None:
        hidden = parse_hidden(settings.hide, frames, points)
    found = find_gross_outliers(sequence.tracks, sequence.visible & ~hidden)
    before: Iterate | None = None
    for number in range(1, rounds + 1):
        left = (sequence.visible & ~hidden & ~found).sum(axis=1)
        hidden = hidden | (found & (left >= FEWEST)[:, None])
        by = None
        run = settings.with_changes(hide=format_hidden(hidden) or None)
        for each in iterate_sequence(sequence, run):
            if by is None:
                by = (0, 0.0) if before is None else count_shift(before.record, each.record)
            last = shift_counts(each, by)
            yield last
        before = last
        if number < rounds:
            residuals = np.nan_to_num(bilinear_residuals(sequence, last))  # 0 where not solved for
            found = residuals > UNFIT * np.median(residuals[residuals > 0])
            if found.sum() < LEAST * sequence.visible.sum():
                return
