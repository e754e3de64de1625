r"""BMM and R-BMM on the motion-capture sequences, beside the e3D that their papers print.

Tracks are centered and divided by their root mean square, so that mu = 4 and xi = 5e-3 mean the same for all
sequences.  Rotations are estimated by the factorization of Dai et al. at rank 3K, or are the true ones where
the file has a camera that moves.  Both errors are `e3d_global`; they differ in the coordinates compared:

    camera    R_f S_f against the true points in the camera's coordinates: x and y are the tracks, and an
              error of the rotations shows only through the depths that they lead to
    object    S_f against the true shapes as the file has them: an error of R_f turns the whole frame

Where the camera is fixed and the object turns before it (dance, face, jaws) S_f is known up to a rotation per
frame only, and only the first is measured.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..cameras.rotations import estimate_rotations, flip_depth, rotations_from_rows
from ..data.sequence import CameraModel, GroundTruth
from ..evaluation.metrics import e3d_global
from ..foundation.exceptions import InputError
from ..foundation.linalg import nearest_rotation, rotation_angle
from ..io.readers import read_sequence
from ..penalties import WeightedNuclearNorm
from ..problem.closed_form import reference_singular_values
from ..problem.nonrigid import NonRigidProblem
from ..solvers.bmm import BMM, RBMM
from ..solvers.solver import Snapshot, single_threaded, solve

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path
    from typing import Any

    from ..foundation.types import Floats

METHODS = ("BMM", "R-BMM")
XI, GAMMA = 5e-3, 1e-6  # of R-BMM's weights xi / (sigma + gamma), before 1/2 |W - RS|^2
TAU = 1.0  # the published 0.2 has the same fixed points, in five times the iterations
LIMIT = 3000  # iterations of BMM
NOT_ONE_CAMERA = 1e-6  # relative size of what one fixed camera may leave of the tracks

ACCOUNT = (  # of the table at these settings
    "BMM: the published errors are met within about 10 % in the object's coordinates where the file has a "
    "moving camera (drink, pickup, stretch), and in the camera's where it has none (dance, face, shark). For "
    "pickup and stretch ours are a third of them in the camera's coordinates: what is printed there is "
    "mostly the error of the rotations.",
    "R-BMM: drink is met in the camera's coordinates. Pickup, stretch and face are 1.4 to 1.7 times the "
    "published errors there, and the first two lie far above them in the object's, so that R-BMM was likely "
    "measured in the camera's coordinates and the two published columns are not of one measure. At the same "
    "rotations and in the same coordinates, R-BMM has at best half the error of BMM, and on dance more.",
    "Dance and shark stay at about two and four times the published R-BMM. The rotations and the schedule of "
    "rho are choices made here; rotations of another rank change dance by a fifth.",
    "K is one number for shapes and rotations here, though the best for the rotations need not be the best "
    "for the shapes: those of stretch are 4 to 9 degrees off at the ranks 2 to 13, and 4 at the rank used.",
)


@dataclass(frozen=True)
class PublishedErrors:
    """A column of the tables of Dai et al. 2014 and Kumar 2020."""

    name: str  # of the sequence there
    rank: int  # K that is used here, of rotations and shapes
    e3d: tuple[float, float]  # BMM, R-BMM


PUBLISHED = {  # by the name of the file
    "drink": PublishedErrors("drink", 12, (0.0266, 0.0119)),
    "pickup": PublishedErrors("pickup", 12, (0.1731, 0.0198)),
    "stretch": PublishedErrors("stretch", 11, (0.1034, 0.0144)),
    "dance": PublishedErrors("dance", 10, (0.1864, 0.1060)),
    "face": PublishedErrors("face", 7, (0.0303, 0.0179)),
    "jaws": PublishedErrors("shark", 3, (0.2311, 0.0551)),
}


@dataclass(frozen=True)
class MocapRow:
    """One run of one method."""

    sequence: str  # name in the published tables
    method: str  # of METHODS
    rotations: str  # "estimated" or "true"
    rank: int  # K
    rotation_error: float | None  # degrees, mean over frames after one turn; None where the camera is fixed
    camera: float  # e3D in the camera's coordinates
    object: float | None  # e3D in the coordinates of the file's shapes; None where the camera is fixed
    published: float
    iterations: int
    seconds: float
    status: str


@dataclass(frozen=True, eq=False)
class NormalizedSequence:
    """A sequence in the tables' own terms, centered and of unit size."""

    tracks: Floats  # (F, 2, P)
    shapes: Floats  # (F, 3, P) as the file has them
    rotations: Floats  # (F, 3, 3) true
    moving: bool  # whether the camera moves


def bmm_rows(path: Path, *, methods: Collection[str] = METHODS) -> tuple[MocapRow, ...]:
    """Return the rows of one sequence: each method on estimated and, where there are any, true rotations.

    Raises
    ------
    InputError
        where the file has another name than those of `PUBLISHED`, or no true shapes of all frames.
    """
    if path.stem not in PUBLISHED:
        raise InputError(f"{path}: is none of the published sequences {', '.join(PUBLISHED)}")
    published, sequence = PUBLISHED[path.stem], tracked(path)
    everywhere = np.ones((len(sequence.tracks), sequence.tracks.shape[2]), dtype=bool)
    with single_threaded():
        estimated = estimate_rotations(sequence.tracks, everywhere, rank=published.rank).R
    sources = {"estimated": estimated} | ({"true": sequence.rotations} if sequence.moving else {})
    rows = []
    for source, rotations in sources.items():
        problem = NonRigidProblem(sequence.tracks, everywhere, rotations, 1.0, np.zeros(published.rank))
        error = rotation_error(rotations, sequence.rotations) if sequence.moving else None
        for method in methods:
            began = time.process_time()
            end, shapes = _solved(problem, method)
            rows.append(
                MocapRow(
                    sequence=published.name,
                    method=method,
                    rotations=source,
                    rank=published.rank,
                    rotation_error=error,
                    camera=_e3d(rotations @ shapes, sequence.rotations @ sequence.shapes),
                    object=_e3d(shapes, sequence.shapes) if sequence.moving else None,
                    published=published.e3d[METHODS.index(method)],
                    iterations=end.progress.iteration,
                    seconds=time.process_time() - began,
                    status=end.status.value,
                )
            )
    return tuple(rows)


def tracked(path: Path) -> NormalizedSequence:
    """Read a sequence, with the camera of its tracks: its own, or the one fixed camera that explains them.

    Raises
    ------
    InputError
        where the file has no true shapes of all frames, or no one camera makes its tracks of them.
    """
    sequence = read_sequence(path, camera=CameraModel.ORTHOGONAL)
    truth = sequence.truth
    if truth is None or len(truth.frames) != sequence.frame_count or not np.isfinite(truth.points).all():
        raise InputError(f"{path}: does not hold the true shapes of all its frames")
    W = sequence.tracks - sequence.tracks.mean(axis=2, keepdims=True)
    S = truth.points - truth.points.mean(axis=2, keepdims=True)
    unit = float(np.sqrt(np.square(W).mean()))
    R = sequence.rotations if sequence.rotations is not None else _fixed_camera(W, S, path)
    return NormalizedSequence(W / unit, S / unit, R, sequence.rotations is not None)


def rotation_error(rotations: Floats, true: Floats) -> float:
    """Return the mean angle in degrees between rotations (F, 3, 3), after one turn of the object.

    Rotations are known up to the reflection of depth, and the better one counts.
    """
    errors = []
    for candidate in (rotations, flip_depth(rotations)):
        turn = nearest_rotation((candidate.transpose(0, 2, 1) @ true).sum(axis=0))
        errors.append(float(rotation_angle(candidate @ turn @ true.transpose(0, 2, 1)).mean()))
    return min(errors)


def _fixed_camera(W: Floats, S: Floats, path: Path) -> Floats:
    """Return the one rotation, repeated (F, 3, 3), whose first two rows turn the shapes into the tracks."""
    shapes, tracks = (np.moveaxis(points, 1, 0).reshape(points.shape[1], -1) for points in (S, W))
    rows = np.asarray(np.linalg.lstsq(shapes.T, tracks.T)[0].T, dtype=np.float64)
    rotation = rotations_from_rows(rows[None])[0]
    left = float(np.linalg.norm(rotation[:2] @ shapes - tracks) / np.linalg.norm(tracks))
    if not left <= NOT_ONE_CAMERA:
        raise InputError(
            f"{path}: holds no cameras, and no fixed one makes its tracks (it leaves {left:.2g})"
        )
    return np.repeat(rotation[None], len(W), axis=0)


def _solved(problem: NonRigidProblem, method: str) -> tuple[Snapshot[Any], Floats]:
    """Return the end of a method and its shapes (F, 3, P), cut to rank K, in the object's coordinates."""
    reference = reference_singular_values(problem.data)
    algorithm: BMM | RBMM
    if method == "BMM":
        algorithm = BMM(tau=TAU, max_iterations=LIMIT)
    else:
        # Twice the weights, because the data term of the project has no 1/2.
        weights = WeightedNuclearNorm(xi=2 * XI, gamma=GAMMA).weights(len(reference), reference)
        problem = replace(problem, weights=weights[: problem.rank], tail=weights[problem.rank :])
        algorithm = RBMM()
    end: Snapshot[Any] = solve(problem, algorithm, problem.closed_form(len(reference)))
    return end, algorithm.factors(problem, end.state).shapes()


def _e3d(estimate: Floats, truth: Floats) -> float:
    return e3d_global(estimate, GroundTruth(np.arange(len(truth)), truth, 0)).mean
