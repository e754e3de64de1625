r"""BMM and R-BMM on the motion-capture sequences, compared with the e3D that their papers print.

Tracks are centered and divided by their root mean square, so that mu = 4 and xi = 5e-3 mean the same for all
sequences.  Rotations are estimated by the factorization of Dai et al. at rank 3K, or are the true ones where
the file has a camera that moves.  Both errors are `e3d_global`; they differ in the coordinates compared:

    camera    R_f S_f against the true points in the camera's coordinates: x and y are the tracks, and an
              error of the rotations shows only through the depths that they lead to
    object    S_f against the true shapes as the file has them: an error of R_f turns the frame

Where the camera is fixed and the object turns before it (dance, face, jaws) S_f is known up to a rotation per
frame only, and only the first is measured.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..cameras.factorization import estimate_rotations, fixed_rotation, flip_depth
from ..data.sequence import CameraModel, GroundTruth
from ..evaluation.metrics import FIXED_CAMERA_TOLERANCE, e3d_global
from ..foundation import Floats, InputError
from ..foundation.linalg import nearest_rotation, rotation_angle
from ..io.files.contents import read_bytes
from ..io.readers import read_sequence
from ..penalties import WeightedNuclearNorm
from ..problem import NonRigidProblem, reference_singular_values
from ..solvers import BMM, RBMM, Snapshot, single_threaded, solve
from .jobs import ExperimentJob, JobResult, job_key
from .report import BulletList, Heading, Paragraph, ReportBlock, TableCell, table_of

MOCAP_METHODS = ("BMM", "R-BMM")
RBMM_XI, RBMM_GAMMA = 5e-3, 1e-6  # of R-BMM's weights xi / (sigma + gamma), before 1/2 |W - RS|^2
BMM_TAU = 1.0  # the published 0.2 has the same fixed points, in five times the iterations
BMM_MAX_ITERATIONS = 3000  # iterations of BMM
MOCAP_COST = 200_000.0  # about that of a long curve of Figure 1

FINDINGS = (  # of the table at these settings
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
class PublishedE3D:
    """A column of the tables of Dai et al. 2014 and Kumar 2020."""

    name: str  # of the sequence there
    rank: int  # K that is used here, of rotations and shapes
    e3d: tuple[float, float]  # BMM, R-BMM


PUBLISHED_E3D = {  # by the name of the file
    "drink": PublishedE3D("drink", 12, (0.0266, 0.0119)),
    "pickup": PublishedE3D("pickup", 12, (0.1731, 0.0198)),
    "stretch": PublishedE3D("stretch", 11, (0.1034, 0.0144)),
    "dance": PublishedE3D("dance", 10, (0.1864, 0.1060)),
    "face": PublishedE3D("face", 7, (0.0303, 0.0179)),
    "jaws": PublishedE3D("shark", 3, (0.2311, 0.0551)),
}


@dataclass(frozen=True, eq=False)
class MocapSequence:
    """A sequence centered and of unit size, as the errors are measured."""

    tracks: Floats  # (F, 2, P)
    shapes: Floats  # (F, 3, P) as the file has them
    rotations: Floats  # (F, 3, 3) true
    moving: bool  # whether the camera moves


def bmm_rows(path: Path, *, methods: Collection[str] = MOCAP_METHODS) -> list[dict[str, Any]]:
    """Return the rows of one sequence: each method on estimated and, where there are any, true rotations.

    Errors of rotations are in degrees; they and the e3D in the coordinates of the object are None where the
    camera is fixed.
    """
    if path.stem not in PUBLISHED_E3D:
        raise InputError(f"{path}: is none of the published sequences {', '.join(PUBLISHED_E3D)}")
    published, sequence = PUBLISHED_E3D[path.stem], load_mocap(path)
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
            end, shapes = _solve(problem, method)
            rows.append(
                {
                    "sequence": published.name,
                    "method": method,
                    "rotations": source,
                    "rank": published.rank,
                    "rotation_error": error,
                    "camera": _e3d(rotations @ shapes, sequence.rotations @ sequence.shapes),
                    "object": _e3d(shapes, sequence.shapes) if sequence.moving else None,
                    "published": published.e3d[MOCAP_METHODS.index(method)],
                    "iterations": end.progress.iteration,
                    "seconds": time.process_time() - began,
                    "status": end.status.value,
                }
            )
    return rows


def load_mocap(path: Path) -> MocapSequence:
    """Read a sequence, with the camera of its tracks: its own, or the one fixed camera that explains them."""
    sequence = read_sequence(path, camera=CameraModel.ORTHOGONAL)
    truth = sequence.truth
    if truth is None or len(truth.frames) != sequence.frame_count or not np.isfinite(truth.points).all():
        raise InputError(f"{path}: does not hold the true shapes of all its frames")
    W = sequence.tracks - sequence.tracks.mean(axis=2, keepdims=True)
    S = truth.points - truth.points.mean(axis=2, keepdims=True)
    unit = float(np.sqrt(np.square(W).mean()))
    R = sequence.rotations
    if R is None:
        rotation, left = fixed_rotation(W, S)
        if not left <= FIXED_CAMERA_TOLERANCE:
            raise InputError(
                f"{path}: holds no cameras, and no fixed one makes its tracks (it leaves {left:.2g})"
            )
        R = np.repeat(rotation[None], len(W), axis=0)
    return MocapSequence(W / unit, S / unit, R, sequence.rotations is not None)


def rotation_error(rotations: Floats, true: Floats) -> float:
    """Return the mean angle in degrees between rotations (F, 3, 3), up to one turn and reflected depth."""
    errors = []
    for candidate in (rotations, flip_depth(rotations)):
        turn = nearest_rotation((candidate.transpose(0, 2, 1) @ true).sum(axis=0))
        errors.append(float(rotation_angle(candidate @ turn @ true.transpose(0, 2, 1)).mean()))
    return min(errors)


def _solve(problem: NonRigidProblem, method: str) -> tuple[Snapshot[Any], Floats]:
    """Return the end of a method and its shapes (F, 3, P), cut to rank K, in the object's coordinates."""
    reference = reference_singular_values(problem.data)
    algorithm: BMM | RBMM
    if method == "BMM":
        algorithm = BMM(tau=BMM_TAU, max_iterations=BMM_MAX_ITERATIONS)
    else:
        # Twice the weights, because the data term of the project has no 1/2.
        weights = WeightedNuclearNorm(xi=2 * RBMM_XI, gamma=RBMM_GAMMA).weights(len(reference), reference)
        problem = replace(problem, weights=weights[: problem.rank], tail=weights[problem.rank :])
        algorithm = RBMM()
    end: Snapshot[Any] = solve(problem, algorithm, problem.closed_form(len(reference)))
    return end, algorithm.factors(problem, end.state).shapes()


def _e3d(estimate: Floats, truth: Floats) -> float:
    return e3d_global(estimate, GroundTruth(np.arange(len(truth)), truth, 0)).mean


@dataclass(frozen=True, eq=False)
class MocapJob(ExperimentJob):
    """All rows of one motion-capture file."""

    path: Path

    def run(self) -> JobResult:
        """Run both methods, on estimated and on true rotations."""
        return JobResult({"rows": bmm_rows(self.path)})


def mocap_jobs(real: Path | None) -> list[MocapJob]:
    """Return a job for every file of the published tables in the folder of real sequences."""
    if real is None:
        return []
    values = [RBMM_XI, RBMM_GAMMA, BMM_TAU, BMM_MAX_ITERATIONS]
    jobs = []
    for name, published in PUBLISHED_E3D.items():
        path = real / "mocap" / f"{name}.mat"
        if path.is_file():
            digest = hashlib.sha256(read_bytes(path)).hexdigest()
            key = job_key("mocap", digest, asdict(published) | {"values": values})
            jobs.append(MocapJob(key, f"BMM and R-BMM on {published.name}", MOCAP_COST, path))
    return jobs


def mocap_blocks(jobs: list[MocapJob], results: Mapping[str, JobResult]) -> list[ReportBlock]:
    """Return the table of e3D, with the published numbers next to ours."""
    lines: list[dict[str, str | TableCell]] = []
    for job in jobs:
        for row in results[job.key].facts.get("rows", ()):
            error, own = row["rotation_error"], row["object"]
            cells = {
                "sequence": row["sequence"],
                "method": row["method"],
                "rotations": row["rotations"],
                "ends": row["status"],
                "K": str(row["rank"]),
                "rotation error, °": "–" if error is None else f"{error:.2f}",
                "camera": f"{row['camera']:.4f}",
                "published": TableCell(f"{row['published']:.4f}", muted=True),
                "object": "–" if own is None else f"{own:.4f}",
                "iterations": str(row["iterations"]),
                "CPU s": f"{row['seconds']:.1f}",
            }
            lines.append(cells)
    return [
        Heading("BMM and R-BMM on motion capture"),
        Paragraph(
            "`e3d_global`: one orthogonal alignment of the sequence, relative to the spread of the "
            "truth; published by Dai et al. (2014) for BMM and by Kumar (2020) for R-BMM. **camera** "
            "compares in the camera's coordinates, where the tracks fix x and y; **object** in those of the "
            "file's shapes, where an error of a rotation turns its frame. The papers do not print all "
            "that would make their numbers again: the K of every sequence, the weights and the rotations are "
            "choices here, and the shapes of dance, face and shark turn before a fixed camera, so that there "
            "is no **object** to compare there. Where ours is far from the published number, read it as "
            "that, not as a reproduction."
        ),
        table_of("", lines, labels=4, group=1),
        BulletList(FINDINGS),
    ]
