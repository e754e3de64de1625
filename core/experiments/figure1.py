"""Figure 1: the data it is drawn from, its jobs, its panels and what they say."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..cameras.calibration import project
from ..data.sequence import CameraModel, Sequence
from ..foundation.exceptions import InputError
from ..io.readers import read_sequence
from ..synthetic import simulate
from . import pictures
from .document import (
    Block,
    BulletList,
    Cell,
    Heading,
    ImageRow,
    Paragraph,
    ReportImage,
    ReportTable,
    TableRow,
)
from .matrix_job import BILINEAR, ETAS, METHODS, PENALTIES, MatrixJob
from .tables import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .job import JobResult

REAL = {
    "Door": ("rigid", Path("door", "data.mat")),
    "Back": ("non-rigid", Path("back", "back_L_3D.mat")),
    "Kinect paper": ("non-rigid", Path("kinect_paper", "mdh_results-KPaper.mat")),
}
COLLAPSED = (
    "**The minimum gives up depth** in {}: it reprojects worse than all points at their mean would. Tracks "
    "of norm 1 leave little to gain: the third rows at 0 cost about 1 − η, all at 0 about η, and the smaller "
    "of both is small beside the penalty on a matrix whose third rows are 1 wherever a point is seen. The "
    "paper chose its weights to give solutions of rank 3K + 1, so that it may have scaled its tracks "
    "otherwise than it says. The methods are compared all the same: they minimize one objective."
)
SAME = 1e-9  # relative difference of two losses that rounding explains


@dataclass(frozen=True, eq=False)
class Tracks:
    """A sequence of Figure 1."""

    name: str
    kind: str  # a key of `matrix_job.PENALTIES`
    sequence: Sequence
    real: bool


def figure_tracks(folder: Path | None) -> tuple[Tracks, ...]:
    """Read the real sequences of a folder, or simulate a rigid and two non-rigid ones where there is none.

    Raises
    ------
    InputError
        where the folder has none of them, or one is broken.
    """
    if folder is None:
        return _simulated()
    found = [
        Tracks(name, kind, read_sequence(folder / file), True)
        for name, (kind, file) in REAL.items()
        if (folder / file).is_file()
    ]
    if not found:
        files = ", ".join(str(file) for _, file in REAL.values())
        raise InputError(f"{folder}: holds none of the files of Figure 1; accepted are {files}")
    return tuple(found)


def _simulated() -> tuple[Tracks, ...]:
    rigid = _rigid(simulate("stretch", path="semi_circle", frames=12, points=600, seed=1))
    return (
        Tracks("Rigid (simulated)", "rigid", rigid, False),
        Tracks("Balloon (simulated)", "non-rigid", simulate("balloon", path="circle", frames=60), False),
        Tracks("Paper (simulated)", "non-rigid", simulate("paper", path="zigzag", frames=23), False),
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


def figure_jobs(tracks: tuple[Tracks, ...], seconds: float) -> list[MatrixJob]:
    """Return a job for every curve."""
    return [
        MatrixJob(item.name, item.sequence, item.kind, penalty, eta, method, seconds)
        for item in tracks
        for penalty in PENALTIES[item.kind]
        for eta in ETAS
        for method in METHODS
    ]


@dataclass(frozen=True, eq=False)
class Panel:
    """The curves of one data set, penalty and eta, by method."""

    name: str
    penalty: str
    eta: float
    curves: Mapping[str, JobResult]

    @property
    def title(self) -> str:
        """What is drawn."""
        return f"{self.name}, {self.penalty}, η = {self.eta:g}"

    @property
    def file(self) -> str:
        """The beginning of the names of its pictures."""
        words = f"{self.name} {self.penalty} {self.eta:g}".lower()
        return "figure1-" + "".join(letter if letter.isalnum() else "-" for letter in words)

    def lowest(self, method: str) -> float:
        """Return the lowest loss that a method has seen, or NaN."""
        found = self.curves.get(method)
        return math.nan if found is None else float(found.facts["lowest"])

    @property
    def collapsed(self) -> bool:
        """Whether the lowest end reprojects worse than all points at their mean would."""
        end = self.curves.get("bilinear")
        if end is None:
            return False
        observed = end.arrays["observed"]
        spread = np.square(observed - observed.mean(axis=1, keepdims=True)).sum(axis=0).mean()
        return not end.facts["reprojection_px"] <= math.sqrt(spread)

    @property
    def best_other(self) -> str:
        """The first-order method with the lowest loss; empty where none, or no bilinear one, was run."""
        others = {name: self.lowest(name) for name in METHODS if name not in BILINEAR}
        others = {name: loss for name, loss in others.items() if not math.isnan(loss)}
        known = others and not math.isnan(self.lowest("bilinear"))
        return min(others, key=others.__getitem__) if known else ""

    @property
    def excess(self) -> float:
        """How far the bilinear method ends above the best first-order one, relatively; negative below it."""
        best = self.best_other
        return self.lowest("bilinear") / self.lowest(best) - 1 if best else math.nan

    @property
    def verdict(self) -> str:
        """Whether the bilinear method ends lowest, in a sentence."""
        best, excess = self.best_other, self.excess
        if not best:
            return f"{self.title}: not all methods were run."
        if abs(excess) <= SAME:
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


def panels(jobs: list[MatrixJob], found: Mapping[str, JobResult]) -> list[Panel]:
    """Return the panels, in the order of the jobs."""
    grouped: dict[tuple[str, str, float], dict[str, JobResult]] = {}
    for job in jobs:
        end = found[job.key]
        curves = grouped.setdefault((job.name, job.penalty, job.eta), {})
        if not end.problem:
            curves[job.method] = end
    return [Panel(*place, curves) for place, curves in grouped.items()]


def figure_summary(shown: list[Panel]) -> str:
    """Say in how many panels the bilinear method ends lowest."""
    lower = sum(panel.excess < -SAME for panel in shown)
    level = sum(abs(panel.excess) <= SAME for panel in shown)
    above = [panel.title for panel in shown if panel.excess > SAME]
    words = f", and above it in {len(above)} ({'; '.join(above)})" if above else ""
    return (
        f"Figure 1, {len(shown)} panels: the bilinear method ends below the best first-order one in {lower}, "
        f"level with it (to {SAME:.0e}) in {level}{words}."
    )


def figure_blocks(
    tracks: tuple[Tracks, ...], shown: list[Panel], seconds: float, folder: Path
) -> list[Block]:
    """Return the section of the report, and write its pictures into `folder`, beside the report."""
    real = all(item.real for item in tracks)
    missing = [name for name in REAL if real and name not in {item.name for item in tracks}]
    what = "; ".join(
        f"{item.name}: {item.sequence.frame_count} × {item.sequence.point_count}, "
        f"{100 * item.sequence.visible.mean():.1f} % observed"
        for item in tracks
    )
    blocks: list[Block] = [Heading("Figure 1: low-rank matrix recovery with pOSE errors")]
    if not real:
        blocks.append(
            Paragraph(
                "**Stand-ins.** These sequences are simulated; the paper's are not here. Nothing in this "
                "section can be compared with the paper's curves.",
                note=True,
            )
        )
    blocks.append(
        Paragraph(
            f"Frames × points: {what}. Every method starts from the closed form (the bilinear ones from its "
            f"best cut to rank r), minimizes the same objective, all singular values counted, and has "
            f"{seconds:g} CPU seconds (of one thread; the last iteration is finished). Tracks are divided by "
            "the spectral norm of the measurement matrix. **bilinear** is the program's default (variable "
            "projection, Newton), **bilinear LM** is Levenberg-Marquardt on the Schur complement. The paper "
            "leaves out IRNN with the nuclear norm, for its slowness; here it is drawn."
        )
    )
    if real:
        left_out = ["Heart", *missing]
        blocks.append(Paragraph(f"Not at hand, and left out: {', '.join(left_out)}."))
    items = []
    for panel in shown:
        curves = {
            name: (panel.curves[name].arrays["curve"][0], panel.curves[name].arrays["curve"][1])
            for name in METHODS
            if name in panel.curves
        }
        path = folder / f"{panel.file}.png"
        width = pictures.loss_curves(path, curves, title=panel.title)
        items.append(
            ReportImage(f"{folder.name}/{path.name}", f"{panel.title}: log10 loss against time", width)
        )
    blocks += [ImageRow(tuple(items)), BulletList(tuple(panel.verdict for panel in shown)), _table(shown)]
    collapsed = [panel.title for panel in shown if panel.collapsed]
    if collapsed:
        blocks.append(Paragraph(COLLAPSED.format("; ".join(collapsed)), note=True))
    return [*blocks, *_reprojections(shown, folder)]


def _table(shown: list[Panel]) -> ReportTable:
    rows = []
    for panel in shown:
        column = [panel.lowest(method) for method in METHODS]
        for index, method in enumerate(METHODS):
            end = panel.curves.get(method)
            words = (panel.name, panel.penalty, f"{panel.eta:g}") if index == 0 else ("", "", "")
            cells = [*(Cell(word) for word in words), Cell(method)]
            if end is not None:
                lowest = panel.lowest(method)
                best = lowest <= np.nanmin(column) * (1 + SAME)
                facts: dict[str, Any] = end.facts
                cells += [
                    Cell(number(math.log10(lowest), 8), strong=bool(best)),
                    Cell(f"{facts['cpu_seconds']:.2f}"),
                    Cell(f"{facts['iterations']}"),
                    Cell(facts["status"]),
                    Cell(f"{facts['reprojection_px']:.3g}"),
                ]
            else:
                cells += [Cell("–")] * 5
            rows.append(TableRow(tuple(cells), rule=index == 0))
    header = ("data", "penalty", "η", "method", "log10 loss", "CPU s", "iterations", "end", "RMS, px")
    caption = (
        "The lowest loss that each method reached, lowest in bold; the reprojection error is that of its "
        "last matrix, cut to rank r."
    )
    return ReportTable(caption, header, tuple(rows), labels=4)


def _reprojections(shown: list[Panel], folder: Path) -> list[Block]:
    """Return pictures of one image of every data set: near-perspective, under the second penalty."""
    items = []
    for panel in shown:
        if panel.eta != ETAS[0] or panel.penalty == "NN" or not panel.curves:
            continue
        first = next(iter(panel.curves.values()))
        projected = {name: panel.curves[name].arrays["projected"] for name in METHODS if name in panel.curves}
        path = folder / f"{panel.file}-reprojections.png"
        title = f"{panel.name}, image {first.facts['image'] + 1}"
        width = pictures.reprojections(path, first.arrays["observed"], projected, title=title)
        caption = f"{panel.title}: observed (red) and reprojected (green) points of one image"
        items.append(ReportImage(f"{folder.name}/{path.name}", caption, width))
    return [Heading("Reprojections", 3), ImageRow(tuple(items))] if items else []
