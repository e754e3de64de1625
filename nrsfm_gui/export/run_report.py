"""A report of one run on one page: what is in it. No Qt.

`run_report_html` and `run_report_pdf` lay it out.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from core import METHODS, command_for, python_for
from core.foundation import versions
from core.io.readers import sample_name
from nrsfm_gui.export.report_charts import Mark, line_chart, spectrum_chart
from nrsfm_gui.model.numbers import NONE
from nrsfm_gui.model.run_names import penalty_words, run_title
from nrsfm_gui.scene import summaries
from nrsfm_gui.scene.ranking import worst_first
from nrsfm_gui.scene.scene import error_series
from nrsfm_gui.text.run_numbers import numbers

if TYPE_CHECKING:
    from core import Recipe, Sequence, Settings
    from core.foundation import Floats
    from nrsfm_gui.model.run import Run
    from nrsfm_gui.scene.shapes import Shapes

WORST = 5  # frames in the table
LEFT_OUT = {"problem", "method", "penalty", "options"}  # of the settings, which are said otherwise
REMARK = "remark"
IN_TILES = {"reprojection RMS", "mean 3-D error", "alignment", "iterations", "computing time", REMARK}
TITLES = {"max_iterations": "iterations at most", "rotation_rank": "rank of the rotations"}

Rows = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Table:
    """A table with a heading for every column."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class RunReport:
    """What a report says, as text and drawings."""

    title: str
    subtitle: str
    date: str
    tiles: Rows  # the numbers that matter most: value, meaning
    remarks: tuple[str, ...]  # what is degenerate
    numbers: Rows  # label, value; those that are not among the tiles
    settings: Rows
    facts: Rows  # of the sequence
    loss: str  # SVG
    spectrum: str
    errors: str
    errors_title: str
    worst: Table
    worst_title: str
    picture: bytes  # PNG
    picture_title: str
    command: str
    python: str
    versions: str


def make_report(run: Run, shapes: Shapes, picture: bytes, picture_title: str) -> RunReport:
    """Gather what is said of a run.

    Parameters
    ----------
    run
        as it is looked at, with a reconstruction.
    shapes
        `build_shapes` of that: its errors under the alignment that is in force.
    picture, picture_title
        of the 3-D view, as PNG, and what it shows.
    """
    sequence, seen = run.sequence, run.last
    assert seen is not None
    known = summaries.quality(shapes, seen.shown.loss)
    said = [(row.label, row.value) for row in numbers(run, known, sequence) if row.value != NONE]
    error = known.error is not None
    series = error_series(sequence, shapes)
    assert series is not None and series.per_frame is not None  # there is a reconstruction
    shown = seen.shown
    values = np.sort(shown.factors.gamma())[::-1]
    recipe: Recipe | Settings = run.settings
    if seen.lineage is not None:
        recipe = seen.lineage.recipe() or run.settings
    name = run_title(run)
    return RunReport(
        title=f"{summaries.sequence_title(sequence)} · run {run.number}",
        subtitle=name + (f" · {run.note}" if run.note else ""),
        date=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        tiles=(
            (summaries.log_loss(shown.loss), "log10 loss"),
            (summaries.measure(known.reprojection, sequence.units), "reprojection error, RMS"),
            (
                summaries.measure(known.error, known.unit) if error else "unknown",
                f"mean 3-D error, {known.alignment}" if error else "3-D error, for want of a ground truth",
            ),
            (summaries.seconds(run), f"computing time, {summaries.iterations(run)} iterations"),
        ),
        remarks=tuple(value for label, value in said if label == REMARK),
        numbers=tuple((label, value) for label, value in said if label not in IN_TILES),
        settings=_settings(run.settings),
        facts=_facts(sequence),
        loss=_loss_chart(run),
        spectrum=spectrum_chart(values, np.asarray(shown.problem.slopes(shown.factors))),
        errors=line_chart(
            np.arange(1, sequence.frame_count + 1, dtype=float),
            series.per_frame,
            x_label="frame",
            y_label=f"{series.name} ({series.unit})",
            marks=_worst_mark(series.per_frame),
            from_zero=True,
            filled=True,
        ),
        errors_title=f"Mean {series.name} of every frame"
        + (f", {known.alignment}" if series.name.startswith("3-D") else ""),
        worst=_worst_table(shapes, sequence, series.per_frame),
        worst_title=f"Worst frames, by {series.name}",
        picture=picture,
        picture_title=picture_title,
        command=command_for(sequence, recipe),
        python=python_for(sequence, recipe).rstrip(),
        versions="NRSfM Studio " + ", ".join(f"{name} {found}" for name, found in versions().items()),
    )


def worst_frames(per_frame: Floats, count: int = WORST) -> list[int]:
    """Return the 0-based frames with the largest errors, the worst first; those without are left out."""
    return [int(frame) for frame in worst_first(per_frame)[:count] if np.isfinite(per_frame[frame])]


def _worst_mark(per_frame: Floats) -> tuple[Mark, ...]:
    return tuple(Mark(frame + 1.0, f"worst: {frame + 1}") for frame in worst_frames(per_frame, 1))


def _worst_table(shapes: Shapes, sequence: Sequence, per_frame: Floats) -> Table:
    """Return frame, 3-D error, reprojection error and visible points of the worst frames."""
    residuals, errors = shapes.residuals, shapes.errors
    assert residuals is not None  # there is a reconstruction
    rows = []
    for frame in worst_frames(per_frame):
        seen = residuals[frame][np.isfinite(residuals[frame])]
        squared = float(np.sqrt(np.mean(seen**2))) if seen.size else None
        row = [str(frame + 1)]
        if errors is not None:
            known = errors[frame][np.isfinite(errors[frame])]
            row.append(summaries.measure(float(known.mean()) if known.size else None, shapes.unit))
            worst = int(np.nanargmax(errors[frame])) + 1 if known.size else None
        else:
            worst = int(np.nanargmax(residuals[frame])) + 1 if seen.size else None
        row += [summaries.measure(squared, sequence.units), NONE if worst is None else str(worst)]
        rows.append((*row, f"{int(sequence.visible[frame].sum())} of {sequence.point_count}"))
    middle = ("mean 3-D error",) if errors is not None else ()
    return Table(("frame", *middle, "reprojection RMS", "worst point", "visible"), tuple(rows))


def _loss_chart(run: Run) -> str:
    history = run.history
    # Phases of a few iterations leave no room for their names: the last one says most.
    began = [phase for phase in history.phases if phase.first > 0][-1:]
    marks = [Mark(float(history.iterations[phase.first]), phase.name.split(":")[0]) for phase in began]
    return line_chart(
        history.iterations,
        history.log_losses,
        x_label="iteration",
        y_label="log₁₀ loss",
        marks=tuple(marks),
    )


def _settings(settings: Settings) -> Rows:
    method = METHODS[settings.method]
    rows = [("method", method.title), ("penalty", penalty_words(settings.penalty))]
    rows += [(option, _word(value)) for option, value in settings.options]
    if settings.problem != "nonrigid":
        rows.insert(0, ("problem", "low rank"))
    for entry in fields(settings):
        value = getattr(settings, entry.name)
        if entry.name in LEFT_OUT or value is None:
            continue
        rows.append((TITLES.get(entry.name, entry.name), _word(value)))
    return tuple(rows)


def _word(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _facts(sequence: Sequence) -> Rows:
    hidden = 1.0 - float(sequence.visible.mean())
    rows = [
        ("sequence", sequence.name),
        ("camera", sequence.camera.value),
        ("frames", str(sequence.frame_count)),
        ("points", str(sequence.point_count)),
        ("hidden", f"{100 * hidden:.1f} %"),
    ]
    if sequence.truth is not None:
        rows.append(("ground truth", f"{len(sequence.truth.frames)} frames, in {sequence.truth_units}"))
    if sequence.source is not None:
        rows.append(("file", sample_name(sequence.source) or str(sequence.source)))
    if sequence.digest:
        rows.append(("SHA-256", sequence.digest[:16] + "…"))
    return tuple(rows)
