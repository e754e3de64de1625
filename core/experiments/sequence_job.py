"""One sequence of the tables, under one penalty, by one route; what it ends with, as rows of the tables.

The routes, all with the paper's settings (K = 2, eta = 0.05 or 1, rotations from the orthogonal tracks,
intrinsics from the ground-truth frame):

    pipeline    perspective: ADMM to its end, cut to rank K (ADMM-...), then the bilinear form (Ours-...)
    bmm         orthogonal: BMM or R-BMM to its end, cut to rank K, then the bilinear form (Ours-...)
    search      the program's own default: the bilinear form from several starts (Search-...)
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..metrics import Alignment, align, challenge_v02, procrustes_mm, reprojection_px
from ..penalties import NuclearNorm, WeightedNuclearNorm
from ..recipes import settings_to_dict
from ..reconstruct import finish, reconstruct
from ..sequence import CameraModel, Sequence
from ..settings import PRESETS, Settings
from .job import Finished, digest_of, key_of

if TYPE_CHECKING:
    from ..arrays import Floats
    from ..penalties import Penalty
    from ..result import Result
    from ..updates import Record, Update

PENALTIES: dict[str, Penalty] = {"NN": NuclearNorm(mu=1e-3), "WNN": WeightedNuclearNorm(xi=5e-3)}
COSTS = {"pipeline": 10.0, "bmm": 6.0, "search": 2.0}  # per observation, relative
ITERATIONS = 3000  # of a method at most: first-order ones are to converge or stall, as in the paper
SCORED_POINTS = 2000  # the Challenge's score compares all pairs of points: above this it takes minutes


@dataclass(eq=False)
class _Stage:
    """What one part of a run ended with."""

    records: list[Record] = field(default_factory=list)
    last: Update | None = None
    seconds: float = 0.0  # of CPU


@dataclass(frozen=True, eq=False)
class SequenceJob:
    """See the module. `penalty` is a key of `PENALTIES`, `route` one of `COSTS`."""

    object_name: str
    path_name: str
    sequence: Sequence
    penalty: str
    route: str

    @property
    def label(self) -> str:
        """Object, path, camera, penalty and route."""
        words = (self.object_name, self.path_name, self.sequence.camera.value, self.penalty, self.route)
        return " ".join(words)

    @property
    def cost(self) -> float:
        """Observations times what the route costs."""
        return COSTS[self.route] * self.sequence.visible.size

    @property
    def settings(self) -> Settings:
        """The paper's settings, with the method of the route."""
        methods = {
            "pipeline": "admm+bilinear",
            "bmm": "bmm" if self.penalty == "NN" else "r-bmm",
            "search": "bilinear",
        }
        paper = PRESETS["paper"].with_changes(max_iterations=ITERATIONS)
        return paper.with_changes(method=methods[self.route], penalty=PENALTIES[self.penalty])

    @property
    def key(self) -> str:
        """Of tracks, truth, settings and version."""
        return key_of(f"sequence/{self.route}", digest_of(self.sequence), settings_to_dict(self.settings))

    def run(self) -> Finished:
        """Solve, and measure every end."""
        first, last = {
            "pipeline": (f"ADMM-{self.penalty}", f"Ours-{self.penalty}"),
            "bmm": ("BMM" if self.penalty == "NN" else "R-BMM", f"Ours-{self.penalty}"),
            "search": ("", f"Search-{self.penalty}"),
        }[self.route]
        stages = self._stages()
        rows, arrays = [], {}
        records: list[Record] = list(stages["rotations"].records)
        for name, stage, settings in (
            (first, stages["first-order"], self.settings.with_changes(method=self._first_method)),
            (last, stages["bilinear"], self.settings),
        ):
            records += stage.records
            if stage.last is None:
                continue
            result = finish(self.sequence, settings, stage.last, records)
            seconds = stage.seconds + (stages["first-order"].seconds if name == last else 0.0)
            rows.append(_row(name, result, seconds))
            arrays[f"estimate {name}"] = aligned(result)
        truth = self.sequence.truth
        assert truth is not None  # `challenge_source` refuses sequences without one
        shape = truth.at(truth.reference)
        assert shape is not None  # GroundTruth checks that its reference is one of its frames
        facts = {
            "object": self.object_name,
            "path": self.path_name,
            "camera": self.sequence.camera.value,
            "penalty": self.penalty,
            "route": self.route,
            "frames": self.sequence.frame_count,
            "points": self.sequence.point_count,
            "visible": float(self.sequence.visible.mean()),
            "truth_frames": len(truth.frames),
            "rotation_seconds": stages["rotations"].seconds,
            "rows": rows,
        }
        return Finished(facts, arrays | {"truth": shape})

    @property
    def _first_method(self) -> str:
        return "admm" if self.route == "pipeline" else self.settings.method

    def _stages(self) -> dict[str, _Stage]:
        """Run the route; return what its stages ended with, the choice of rotations first."""
        stages = {name: _Stage() for name in ("rotations", "first-order", "bilinear")}
        last = self._drain(self.settings, None, stages)
        if self.route == "bmm":
            refined = self.settings.with_changes(method="bilinear")
            self._drain(refined, last, stages, stage="bilinear")
        return stages

    def _drain(
        self, settings: Settings, start: Update | None, stages: dict[str, _Stage], *, stage: str = ""
    ) -> Update | None:
        """Run, crediting every update to its stage; CPU seconds are those of this process."""
        last, before = None, time.process_time()
        for last in reconstruct(self.sequence, settings, start=start):
            name = stage or ("bilinear" if last.settled else "rotations")
            if not stage and last.settled and (self.route == "bmm" or last.phase == "ADMM"):
                name = "first-order"
            now = time.process_time()
            stages[name].seconds += now - before
            stages[name].records.append(last.record)
            stages[name].last = last
            before = now
        return last


def _row(name: str, result: Result, seconds: float) -> dict[str, Any]:
    return {
        "method": name,
        "loss": result.loss,
        "errors": errors_of(result),
        "cpu_seconds": seconds,
        "iterations": result.iterations,
        "rotations": result.meta["rotations"],
        "starts": len(result.meta["starts"]),
        "command": result.meta["command"],
    }


def errors_of(result: Result) -> dict[str, float]:
    """Return the errors of a result, each under the name that `core.metrics` and `nrsfm evaluate` give it."""
    truth = result.truth
    assert truth is not None
    there = truth.frames == truth.reference
    shape = truth.at(truth.reference)
    assert shape is not None
    every = procrustes_mm(result.points, truth)
    mirrored = procrustes_mm(result.points, truth, reflection=True)
    errors = {
        "procrustes_mm_reference": float(every.per_frame[there][0]),
        "procrustes_mm_reference_mirror": float(mirrored.per_frame[there][0]),
    }
    if len(truth.frames) > 1:
        errors["procrustes_mm"] = every.mean
        errors["procrustes_mm_mirror"] = mirrored.mean
    if result.point_count <= SCORED_POINTS:
        errors["challenge_v02"] = challenge_v02(result.points[truth.reference], shape)
    errors["reprojection_px"] = reprojection_px(
        result.reprojections(), result.observations(), result.visible
    ).mean
    return errors


def aligned(result: Result) -> Floats:
    """Return the estimate of the truth's reference frame, (3, P), moved onto it by a similarity.

    An orthogonal camera cannot tell a shape from its mirror image, so that it may be mirrored there.
    """
    truth = result.truth
    assert truth is not None
    mirror = result.camera is CameraModel.ORTHOGONAL
    kind = Alignment.PER_FRAME_MIRROR if mirror else Alignment.PER_FRAME
    moved: Floats = align(result.points, truth, kind).apply(result.points[truth.frames])
    return np.asarray(moved[truth.frames == truth.reference][0])
