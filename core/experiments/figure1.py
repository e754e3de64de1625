"""Figure 1: low-rank matrix recovery from pOSE errors, loss against CPU time by several methods.

A job computes one curve: one method from the closed form, for a given time. Every method minimizes the same
objective and is measured by it: all singular values of its matrix count. The matrix of a bilinear method has
no singular values beyond its rank, so that its own loss is that objective.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..cameras.calibration import project, project_low_rank
from ..data.sequence import CameraModel, Sequence
from ..foundation import Floats, InputError
from ..io.readers import read_sequence
from ..penalties import NuclearNorm, Penalty, RampWeights, TruncatedNuclearNorm
from ..problem import Factors, LowRankProblem, full_rank_start
from ..reconstruction.low_rank_pipeline import measurement_norm
from ..solvers import ADMM, AGD, IRNN, Algorithm, LevenbergMarquardt, Snapshot, VariableProjection, iterate
from ..synthetic import simulate
from . import figures, report
from .jobs import ExperimentJob, JobResult, job_key

CURVE_ETAS = (0.05, 0.95)
# Section 5.2: penalty, and the rank r of the bilinear form. The truncated and the weighted nuclear norm have
# solutions of rank 3K + 1 or less; those of the nuclear norm have more (Door 9 at eta 0.95), and r leaves
# room for them: with that norm the problem is convex, and a singular value that is zero proves the minimum.
CURVE_PENALTIES: dict[str, dict[str, tuple[Penalty, int]]] = {
    "rigid": {"NN": (NuclearNorm(1.5e-3), 10), "TNN": (TruncatedNuclearNorm(1.0, 4), 4)},
    "non-rigid": {"NN": (NuclearNorm(7.5e-4), 16), "WNN": (RampWeights(2.25e-3, 4), 7)},
}
# Only the time ends a first-order method, unless it stalls.
NO_ITERATION_LIMIT = 10**9
CURVE_METHODS: dict[str, Algorithm[Any]] = {
    "ADMM": ADMM(tolerance=1e-14, max_iterations=NO_ITERATION_LIMIT),
    "IRNN": IRNN(tolerance=1e-14, max_iterations=NO_ITERATION_LIMIT),
    "AGD": AGD(tolerance=1e-14, max_iterations=NO_ITERATION_LIMIT),
    "bilinear LM": LevenbergMarquardt(tolerance=1e-18, max_iterations=NO_ITERATION_LIMIT),
    "bilinear": VariableProjection(tolerance=1e-18, max_iterations=NO_ITERATION_LIMIT),
}
BILINEAR = ("bilinear LM", "bilinear")
KEPT_POINTS = 300  # points of a curve that are kept
KEPT_TRACKS = 2000  # points of an image that are kept
REAL_SEQUENCES = {
    "Door": ("rigid", Path("door", "data.mat")),
    "Back": ("non-rigid", Path("back", "back_L_3D.mat")),
    "Kinect paper": ("non-rigid", Path("kinect_paper", "mdh_results-KPaper.mat")),
}
DEPTH_LOST = (
    "**The minimum gives up depth** in {}: it reprojects worse than all points at their mean would. Tracks "
    "of norm 1 leave little to gain: the third rows at 0 cost about 1 − η, all at 0 about η, and the smaller "
    "of both is small compared with the penalty on a matrix whose third rows are 1 where a point is seen. "
    "The paper chose its weights to give solutions of rank 3K + 1, so that it may have scaled its tracks "
    "differently from its description. The methods can be compared: they minimize one objective."
)
FIGURE_SIZE = 6.0, 3.6  # inches of a panel
LEAST_LOSS = 1e-300  # a loss of 0 has no logarithm
LOSS_TOLERANCE = 1e-9  # relative difference of two losses that rounding explains


@dataclass(frozen=True, eq=False)
class FigureSequence:
    """A sequence of Figure 1."""

    name: str
    kind: str  # a key of `CURVE_PENALTIES`
    sequence: Sequence


@dataclass(frozen=True, eq=False)
class RecoveryJob(ExperimentJob):
    """One curve of Figure 1: of a `penalty` of CURVE_PENALTIES, and a `method` of CURVE_METHODS."""

    item: FigureSequence
    penalty: str
    eta: float
    method: str
    seconds: float  # limit of CPU, up to the end of an iteration
    norm: float  # of the measurement matrix, which the tracks are divided by

    def problem(self) -> LowRankProblem:
        """Pose the problem, with weights for all singular values."""
        visible = self.item.sequence.visible
        tracks = np.where(visible[:, None], self.item.sequence.tracks, 0.0) / self.norm
        penalty, rank = CURVE_PENALTIES[self.item.kind][self.penalty]
        frames, points = visible.shape
        count = min(points, 3 * frames)
        weights = penalty.weights(count, np.zeros(count))
        rank = min(rank, count)
        tail = weights[rank:] if count > rank else None
        return LowRankProblem(tracks, visible, self.eta, weights[:rank], tail)

    def run(self) -> JobResult:
        """Iterate until the method is done or its time is over."""
        problem = self.problem()
        start = problem.closed_form() if self.method in BILINEAR else full_rank_start(problem)
        seconds, losses, last = self._curve(problem, start)
        factors = CURVE_METHODS[self.method].factors(problem, last.state)
        facts = {
            "name": self.item.name,
            "kind": self.item.kind,
            "penalty": self.penalty,
            "eta": self.eta,
            "method": self.method,
            "rank": problem.rank,
            "loss": float(losses[-1]),
            "lowest": float(np.nanmin(losses)),
            "cut_loss": problem.loss(factors),
            "cpu_seconds": float(seconds[-1]),
            "iterations": last.progress.iteration,
            "ended": last.status.value if last.status.finished else "time limit",
        }
        curve = _thin_curve(seconds, losses)
        return JobResult(facts, {"curve": curve, **self._image(problem, factors, facts)})

    def _curve(self, problem: LowRankProblem, start: Factors) -> tuple[Floats, Floats, Snapshot[Any]]:
        """Return CPU seconds and losses of all iterations, and the last snapshot."""
        _ = problem.data  # what every method needs is not counted
        seconds, losses, before = [0.0], [], time.process_time()
        for last in iterate(problem, CURVE_METHODS[self.method], start):
            losses.append(last.progress.loss)
            now = time.process_time()
            seconds.append(seconds[-1] + now - before)
            if seconds[-1] > self.seconds:
                break
            before = time.process_time()
        return np.array(seconds[1:]), np.array(losses), last

    def _image(self, problem: LowRankProblem, factors: Factors, facts: dict[str, Any]) -> dict[str, Any]:
        """Return observed and reprojected points of the image with most of them, in pixels; add the RMS."""
        cameras, homogeneous = problem.cameras(factors), problem.homogeneous(factors)
        projected = project_low_rank(cameras, homogeneous, self.norm)
        visible, tracks = self.item.sequence.visible, self.item.sequence.tracks
        squares = np.square(projected - tracks).sum(axis=1)[visible]
        facts["reprojection_px"] = float(np.sqrt(squares.mean()))
        image = int(visible.sum(axis=1).argmax())
        facts["image"] = image
        there = np.flatnonzero(visible[image])
        if len(there) > KEPT_TRACKS:
            there = np.sort(np.random.default_rng(0).choice(there, KEPT_TRACKS, replace=False))
        return {"observed": tracks[image][:, there], "projected": projected[image][:, there]}


def _thin_curve(seconds: Floats, losses: Floats) -> Floats:
    """Return at most `KEPT_POINTS` points (2, n) of a curve, evenly spread over the logarithm of time."""
    count = len(seconds)
    if count <= KEPT_POINTS:
        return np.stack((seconds, losses))
    late = np.searchsorted(seconds, np.geomspace(max(seconds[1], 1e-4), seconds[-1], KEPT_POINTS - 2))
    chosen = np.unique(np.concatenate(([0, count - 1], np.minimum(late, count - 1))))
    return np.stack((seconds[chosen], losses[chosen]))


def figure_sequences(folder: Path | None) -> tuple[FigureSequence, ...]:
    """Read the real sequences of a folder; without one, simulate a rigid and two non-rigid ones."""
    if folder is None:
        return _simulated()
    results = [
        FigureSequence(name, kind, read_sequence(folder / file))
        for name, (kind, file) in REAL_SEQUENCES.items()
        if (folder / file).is_file()
    ]
    if not results:
        files = ", ".join(str(file) for _, file in REAL_SEQUENCES.values())
        raise InputError(f"{folder}: holds none of the files of Figure 1; accepted are {files}")
    return tuple(results)


def _simulated() -> tuple[FigureSequence, ...]:
    balloon = simulate("balloon", path="circle", frames=60)
    paper = simulate("paper", path="zigzag", frames=23)
    rigid = _rigid(simulate("stretch", path="semi_circle", frames=12, points=600, seed=1))
    return (
        FigureSequence("Rigid (simulated)", "rigid", rigid),
        FigureSequence("Balloon (simulated)", "non-rigid", balloon),
        FigureSequence("Paper (simulated)", "non-rigid", paper),
    )


def _rigid(sequence: Sequence) -> Sequence:
    """Return the tracks of a simulated object that keeps the shape of its reference frame."""
    truth, R, t, K = sequence.truth, sequence.rotations, sequence.translations, sequence.intrinsics
    assert truth is not None and R is not None and t is not None and K is not None
    shape = truth.at(truth.reference)
    assert shape is not None
    tracks = project(R @ shape + t[:, :, None], K, CameraModel.PERSPECTIVE)
    noise = np.random.default_rng(0).normal(scale=0.3, size=tracks.shape)
    return replace(sequence, tracks=tracks + noise, visible=sequence.visible, truth=None)


def recovery_job(item: FigureSequence, penalty: str, eta: float, method: str, seconds: float) -> RecoveryJob:
    """Return the job of a curve."""
    norm = measurement_norm(item.sequence.tracks, item.sequence.visible)
    formula, rank = CURVE_PENALTIES[item.kind][penalty]
    values = [repr(formula), rank, eta, repr(CURVE_METHODS[method]), seconds, norm]
    key = job_key("matrix", item.sequence.content, {"values": values})
    label = f"{item.name} {penalty} eta {eta:g} {method}"
    cost = 5000.0 * seconds  # about that of a `TableJob` of this duration
    return RecoveryJob(key, label, cost, item, penalty, eta, method, seconds, norm)


def figure_jobs(tracks: tuple[FigureSequence, ...], seconds: float) -> list[RecoveryJob]:
    """Return a job for every curve."""
    return [
        recovery_job(item, penalty, eta, method, seconds)
        for item in tracks
        for penalty in CURVE_PENALTIES[item.kind]
        for eta in CURVE_ETAS
        for method in CURVE_METHODS
    ]


@dataclass(frozen=True, eq=False)
class FigurePanel:
    """The curves of one data set, penalty and eta, by method."""

    name: str
    penalty: str
    eta: float
    curves: Mapping[str, JobResult]

    @property
    def title(self) -> str:
        """What is drawn."""
        return f"{self.name}, {self.penalty}, η = {self.eta:g}"

    def picture(self, folder: Path, ending: str = "") -> Path:
        """Return the file of one of its figures."""
        name = f"{self.name} {self.penalty} {self.eta:g}".lower()
        return folder / f"figure1-{''.join(c if c.isalnum() else '-' for c in name)}{ending}.png"

    def lowest(self, method: str) -> float:
        """Return the lowest loss that a method has seen, or NaN."""
        results = self.curves.get(method)
        return math.nan if results is None else float(results.facts["lowest"])

    @property
    def collapsed(self) -> bool:
        """Whether the lowest end reprojects worse than all points at their mean would."""
        end = self.curves.get("bilinear")
        if end is None:
            return False
        observed = end.arrays["observed"]
        spread = np.square(observed - observed.mean(axis=1, keepdims=True)).sum(axis=0).mean()
        return not end.facts["reprojection_px"] <= math.sqrt(spread)

    @cached_property
    def best_other(self) -> str:
        """The first-order method with the lowest loss; empty where none, or no bilinear one, was run."""
        losses = {name: self.lowest(name) for name in CURVE_METHODS}
        others = [name for name, loss in losses.items() if name not in BILINEAR and not math.isnan(loss)]
        return "" if math.isnan(losses["bilinear"]) else min(others, key=losses.__getitem__, default="")

    @property
    def excess(self) -> float:
        """How far the bilinear method ends above the best first-order one, relatively; negative below it."""
        return self.lowest("bilinear") / self.lowest(self.best_other) - 1

    @property
    def verdict(self) -> str:
        """Whether the bilinear method ends lowest, in a sentence."""
        best, excess = self.best_other, self.excess
        if not best:
            return f"{self.title}: not all methods were run."
        if abs(excess) <= LOSS_TOLERANCE:
            return f"{self.title}: the bilinear method ends lowest, level with {best}."
        if excess < 0:
            above = self.lowest(best) / self.lowest("bilinear") - 1
            return f"{self.title}: the bilinear method ends lowest; the next, {best}, {above:.1e} above it."
        rank = self.curves["bilinear"].facts["rank"]
        return (
            f"{self.title}: the bilinear method **does not end lowest** but a relative {excess:.1e} above "
            f"{best}, whose matrix may have more than the {rank} singular values of the bilinear form, or be "
            "near another local minimum."
        )


def figure_panels(jobs: list[RecoveryJob], results: Mapping[str, JobResult]) -> list[FigurePanel]:
    """Return the panels, in the order of the jobs."""
    grouped: dict[tuple[str, str, float], dict[str, JobResult]] = {}
    for job in jobs:
        end = results[job.key]
        curves = grouped.setdefault((job.item.name, job.penalty, job.eta), {})
        if not end.failure:
            curves[job.method] = end
    return [FigurePanel(*place, curves) for place, curves in grouped.items()]


def figure_summary(shown: list[FigurePanel]) -> str:
    """Return a sentence on how many panels the bilinear method ends lowest in."""
    lower = sum(panel.excess < -LOSS_TOLERANCE for panel in shown)
    level = sum(abs(panel.excess) <= LOSS_TOLERANCE for panel in shown)
    above = [panel.title for panel in shown if panel.excess > LOSS_TOLERANCE]
    higher = f", and above it in {len(above)} ({'; '.join(above)})" if above else ""
    return (
        f"Figure 1, {len(shown)} panels: the bilinear method ends below the best first-order one in {lower}, "
        f"level with it (to {LOSS_TOLERANCE:.0e}) in {level}{higher}."
    )


def figure_blocks(
    tracks: tuple[FigureSequence, ...], shown: list[FigurePanel], seconds: float, folder: Path, *, real: bool
) -> list[report.ReportBlock]:
    """Return the section of the report, and write its pictures into `folder`."""
    what = "; ".join(
        f"{item.name}: {item.sequence.frame_count} × {item.sequence.point_count}, "
        f"{100 * item.sequence.visible.mean():.1f} % observed"
        for item in tracks
    )
    blocks: list[report.ReportBlock] = [report.Heading("Figure 1: low-rank matrix recovery with pOSE errors")]
    if not real:
        blocks.append(
            report.Paragraph(
                "**Substitutes.** These sequences are simulated; the paper's are not here. Nothing in this "
                "section can be compared with the paper's curves.",
                highlighted=True,
            )
        )
    blocks.append(
        report.Paragraph(
            f"Frames × points: {what}. Every method starts from the closed form (the bilinear ones from its "
            f"best cut to rank r), minimizes the same objective, all singular values counted, and has "
            f"{seconds:g} CPU seconds (of one thread; the last iteration is finished). Tracks are divided by "
            "the spectral norm of the measurement matrix. **bilinear** is the program's default (variable "
            "projection, Newton), **bilinear LM** is Levenberg-Marquardt on the Schur complement. The paper "
            "leaves out IRNN with the nuclear norm, for its slowness; here it is drawn."
        )
    )
    if real:
        missing = [name for name in REAL_SEQUENCES if name not in {item.name for item in tracks}]
        blocks.append(report.Paragraph(f"Not available, and left out: {', '.join(['Heart', *missing])}."))
    images = []
    for panel in shown:
        curves = {}
        for name in (each for each in CURVE_METHODS if each in panel.curves):
            spent, losses = panel.curves[name].arrays["curve"]
            later = spent > 0  # on a logarithmic axis
            curves[name] = spent[later], np.log10(np.maximum(losses[later], LEAST_LOSS))
        labels, caption = ("CPU seconds", "log$_{10}$ loss"), f"{panel.title}: log10 loss against time"
        drawn = panel.picture(folder), {panel.title: curves}, labels, caption
        images.append(figures.draw_curves(*drawn, size=FIGURE_SIZE, powers=True))
    verdicts = tuple(panel.verdict for panel in shown)
    blocks += [report.ImageGallery(tuple(images)), report.BulletList(verdicts), _curve_table(shown)]
    collapsed = [panel.title for panel in shown if panel.collapsed]
    if collapsed:
        blocks.append(report.Paragraph(DEPTH_LOST.format("; ".join(collapsed)), highlighted=True))
    return [*blocks, *_reprojection_blocks(shown, folder)]


def _curve_table(shown: list[FigurePanel]) -> report.ReportTable:
    lines: list[dict[str, str | report.TableCell]] = []
    for panel in shown:
        best = np.nanmin([panel.lowest(method) for method in CURVE_METHODS]) if panel.curves else math.nan
        place = {"data": panel.name, "penalty": panel.penalty, "η": f"{panel.eta:g}"}
        for method in CURVE_METHODS:
            end, lowest = panel.curves.get(method), panel.lowest(method)
            numbers = "log10 loss", "CPU s", "iterations", "end", "RMS, px"
            cells: dict[str, str | report.TableCell] = dict.fromkeys(numbers, "–")
            if end is not None:
                facts = end.facts
                strong = bool(lowest <= best * (1 + LOSS_TOLERANCE))
                cells = {
                    "log10 loss": report.TableCell(report.format_fixed(math.log10(lowest), 8), strong=strong),
                    "CPU s": f"{facts['cpu_seconds']:.2f}",
                    "iterations": f"{facts['iterations']}",
                    "end": facts["ended"],
                    "RMS, px": f"{facts['reprojection_px']:.3g}",
                }
            lines.append({**place, "method": method, **cells})
    caption = (
        "The lowest loss that each method reached, lowest in bold; the reprojection error is that of its "
        "last matrix, cut to rank r."
    )
    return report.table_of(caption, lines, labels=4, group=3)


def _reprojection_blocks(shown: list[FigurePanel], folder: Path) -> list[report.ReportBlock]:
    """Return pictures of one image of every data set: near-perspective, under the second penalty."""
    images = []
    for panel in shown:
        if panel.eta != CURVE_ETAS[0] or panel.penalty == "NN" or not panel.curves:
            continue
        first = next(iter(panel.curves.values()))
        methods = [name for name in CURVE_METHODS if name in panel.curves]
        projected = {name: panel.curves[name].arrays["projected"] for name in methods}
        title = f"{panel.name}, image {first.facts['image'] + 1}"
        caption = f"{panel.title}: observed (red) and reprojected (green) points of one image"
        drawn = panel.picture(folder, "-reprojections"), first.arrays["observed"], projected, caption
        images.append(figures.draw_reprojections(*drawn, title=title))
    return [report.Heading("Reprojections", 3), report.ImageGallery(tuple(images))] if images else []
