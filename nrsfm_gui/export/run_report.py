"""A report of one run as one HTML page: settings, numbers, plots, worst frames, and how to repeat it.

Everything is inside the page: no other file, no script, no network. A browser prints it or makes a PDF of it.
The plots are those of the window in the colors of figures, drawn by widgets that are never shown.
"""

from __future__ import annotations

import base64
import html
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
from PyQt6.QtCore import QSize

from core import METHODS, InputError, command_for, python_for
from core.foundation import PROGRAM, replacing, versions
from core.io.readers import sample_name
from nrsfm_gui.export.figures import error_plot, worst_frames
from nrsfm_gui.export.movie import ScenePainter
from nrsfm_gui.export.movie_options import MovieOptions
from nrsfm_gui.model.names import error_name, numbered_title, penalty_text
from nrsfm_gui.model.numbers import NONE
from nrsfm_gui.model.theme import PAPER
from nrsfm_gui.panels.loss.attempts import attempts_of
from nrsfm_gui.panels.loss.loss_plot import LossPlot, RunDetails
from nrsfm_gui.panels.parameters.spectrum_plot import SpectrumPlot, SpectrumState, mode_count, modes_state
from nrsfm_gui.scene import summaries
from nrsfm_gui.scene.incumbent import incumbent_of
from nrsfm_gui.scene.quality import quality
from nrsfm_gui.scene.scene import error_series
from nrsfm_gui.text.run_numbers import numbers
from nrsfm_gui.widgets.plots.plot_export import PlotFigure, figure_svg
from nrsfm_gui.widgets.plots.svg_generator import png_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from core import Iterate, Provenance, Sequence, Settings
    from core.foundation import Floats
    from nrsfm_gui.export.movie import ViewSources
    from nrsfm_gui.model.run import Run
    from nrsfm_gui.scene.scene import ErrorSeries
    from nrsfm_gui.scene.shapes import Shapes

PICTURE = (800, 410)  # pixels: small, so that its labels can be read on a page
CHART = QSize(500, 260)  # likewise
LEFT_OUT = {"problem", "method", "penalty", "options"}  # settings that have rows of their own
REMARK = "remark"
IN_TILES = {"reprojection RMS", "alignment", "iterations", "computing time", REMARK}
TITLES = {"max_iterations": "iterations at most", "rotation_rank": "rank of the rotations"}

Rows = tuple[tuple[str, str], ...]

STYLE = """
:root { color-scheme: light; --ink: #1c2024; --muted: #5c6670; --line: #dfe3e8; --soft: #f5f7f9; }
* { box-sizing: border-box; }
body { margin: 0; background: #eef0f3; color: var(--ink);
  font: 14px/1.45 system-ui, "DejaVu Sans", sans-serif; }
main { max-width: 1040px; margin: 24px auto; padding: 32px 40px; background: #fff; border-radius: 8px; }
header { display: flex; justify-content: space-between; align-items: baseline; gap: 24px; }
h1 { font-size: 24px; margin: 0; }
h2 { font-size: 14px; margin: 0 0 8px; font-weight: 600; }
.muted { color: var(--muted); }
.tiles { display: grid; grid-template-columns: repeat(4, 1fr); gap: 12px; margin: 20px 0 24px; }
.tile { background: var(--soft); border-radius: 6px; padding: 12px 14px; }
.tile b { display: block; font-size: 21px; font-weight: 600; white-space: nowrap; }
.two { display: grid; grid-template-columns: 1fr 1fr; gap: 24px 32px; margin-bottom: 24px; }
.three { display: grid; grid-template-columns: 1fr 1fr 1fr; gap: 24px; margin-bottom: 24px; }
.two > *, .three > * { min-width: 0; }
.remark { margin: -8px 0 20px; padding: 8px 12px; border-left: 4px solid #c4560f; background: var(--soft); }
.wide { margin-bottom: 24px; }
svg, img { width: 100%; height: auto; display: block; }
img { border: 1px solid var(--line); border-radius: 4px; }
table { border-collapse: collapse; width: 100%; font-size: 13px; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 500; color: var(--muted); }
td, th { padding: 3px 12px 3px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td { overflow-wrap: anywhere; }
table.pairs th { width: 42%; font-weight: 400; }
pre { background: var(--soft); border-radius: 6px; padding: 10px 12px; margin: 0 0 12px; font-size: 12.5px;
  white-space: pre-wrap; overflow-wrap: anywhere; }
footer { border-top: 1px solid var(--line); padding-top: 10px; font-size: 12px; }
@media screen and (max-width: 760px) {
  .two, .three { grid-template-columns: 1fr; }
  .tiles { grid-template-columns: 1fr 1fr; }
}
@media print {
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  body { background: #fff; font-size: 10px; line-height: 1.3; }
  main { margin: 0; padding: 0; max-width: none; }
  h1 { font-size: 18px; }
  h2 { font-size: 11px; margin-bottom: 4px; break-after: avoid; }
  table { font-size: 9.5px; }
  td, th { padding-top: 1.5px; padding-bottom: 1.5px; }
  pre { font-size: 8.5px; padding: 5px 8px; margin-bottom: 6px; }
  footer { font-size: 8.5px; padding-top: 4px; }
  svg, img { width: auto; max-width: 100%; max-height: 43mm; }
  .tiles { margin: 10px 0 14px; gap: 8px; }
  .tile { padding: 5px 10px; }
  .tile b { font-size: 15px; }
  .remark { margin: -6px 0 12px; padding: 4px 10px; }
  .two, .three { gap: 10px 20px; margin-bottom: 10px; }
  .wide { margin-bottom: 10px; }
  section, tr, .tile { break-inside: avoid; }
}
@page { size: A4; margin: 12mm; }
"""


@dataclass(frozen=True)
class WorstFrameTable:
    """A table with a heading for every column."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class RunReport:
    """The content of a report, as text and drawings."""

    title: str
    subtitle: str
    date: str
    tiles: Rows  # the numbers that matter most: value, meaning
    remarks: tuple[str, ...]  # what is degenerate
    numbers: Rows  # label, value; those that are not among the tiles
    settings: Rows
    facts: Rows  # of the sequence
    loss: str  # an svg element, as are the next two
    spectrum: str
    errors: str
    errors_title: str
    worst: WorstFrameTable
    worst_title: str
    picture: bytes  # PNG
    picture_title: str
    command: str
    python: str
    versions: str


def save_report(views: ViewSources, path: Path) -> None:
    """Write a report of the shown iteration.

    Raises InputError where the suffix is not `.html`, there is no reconstruction yet, or the file cannot be
    written.
    """
    session = views.session
    run = session.seen_run
    if path.suffix.lower() != ".html":
        raise InputError(f"{path} has {path.suffix or 'no suffix'}; accepted for reports is .html")
    if run is None or session.seen is None:
        raise InputError(f"{path} is not written: there is no reconstruction yet")
    painter = ScenePainter(views, MovieOptions(width=PICTURE[0], height=PICTURE[1]), theme=PAPER)
    painter.fit(session.frame)
    picture = png_bytes(painter.picture(session.frame, 0.0))
    painter.close()
    scene = views.display.scene
    assert scene is not None  # the painter has drawn it
    report = make_report(run, scene.shapes, picture, f"3-D view, frame {session.frame + 1}")
    with replacing(path) as temporary:
        temporary.write_text(html_report(report), encoding="utf-8", errors="backslashreplace")


def make_report(run: Run, shapes: Shapes, picture: bytes, picture_title: str) -> RunReport:
    """Gather the content of the report of a run."""
    sequence, seen = run.sequence, run.last
    assert seen is not None
    known = quality(shapes)
    found = incumbent_of(run, seen, known)
    labeled = [(row.label, row.value) for row in numbers(run, found, sequence) if row.value != NONE]
    there, error = known.error is not None, error_name(sequence.truth_name)
    series = error_series(sequence, shapes)
    assert series is not None and series.per_frame is not None  # there is a reconstruction
    recipe: Provenance | Settings = run.settings
    if seen.provenance is not None:
        recipe = seen.provenance.flatten() or run.settings
    return RunReport(
        title=f"{summaries.sequence_title(sequence)} · run {numbered_title(run)}",
        subtitle=run.note,
        date=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        tiles=(
            (
                summaries.objective_value(found.value, found.objective),
                summaries.OBJECTIVE_NAMES[found.objective],
            ),
            (summaries.measure(known.reprojection, sequence.units), "reprojection error, RMS"),
            (
                summaries.measure(known.error, known.unit) if error else "unknown",
                f"mean {error}, {known.alignment}" if there else "3-D error, for want of a ground truth",
            ),
            (summaries.seconds(found), f"computing time, {summaries.iterations(found)} iterations"),
        ),
        remarks=tuple(value for label, value in labeled if label == REMARK),
        numbers=tuple(
            (label, value) for label, value in labeled if label not in {*IN_TILES, f"mean {error}"}
        ),
        settings=_settings(run.settings),
        facts=_facts(sequence),
        loss=_loss_chart(run),
        spectrum=_spectrum_chart(seen),
        errors=_error_chart(series),
        errors_title=f"Mean {series.name} of every frame"
        + (f", {known.alignment}" if series.name.startswith("3-D") else ""),
        worst=_worst_table(shapes, sequence, series.per_frame),
        worst_title=f"Worst frames, by {series.name}",
        picture=picture,
        picture_title=picture_title,
        command=command_for(sequence, recipe),
        python=python_for(sequence, recipe).rstrip(),
        versions=f"{PROGRAM} " + ", ".join(f"{name} {found}" for name, found in versions().items()),
    )


def _worst_table(shapes: Shapes, sequence: Sequence, per_frame: Floats) -> WorstFrameTable:
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
    middle = (f"mean {error_name(sequence.truth_name)}",) if errors is not None else ()
    return WorstFrameTable(("frame", *middle, "reprojection RMS", "worst point", "visible"), tuple(rows))


def _loss_chart(run: Run) -> str:
    plot = LossPlot()
    plot.set_details(RunDetails(attempts=attempts_of(run.history, run.last)))
    plot.set_histories({run.number: run.history}, run.number)
    chart = figure_svg(plot.figure, CHART, name="loss")
    plot.deleteLater()
    return chart


def _spectrum_chart(seen: Iterate) -> str:
    """Return a chart of what the objective of an iterate weighs."""
    plot, values, weights = SpectrumPlot(), seen.spectrum.values, seen.spectrum.weights
    state = SpectrumState(singular_values=tuple(values.tolist()), run_weights=tuple(weights.tolist()))
    if seen.record.energy is not None:
        state = modes_state(values, seen.settings, mode_count(values, seen.settings))
    plot.set_state(state)
    chart = figure_svg(plot.figure, CHART, name="spectrum")
    plot.deleteLater()
    return chart


def _error_chart(series: ErrorSeries) -> str:
    plot = error_plot(series)
    chart = figure_svg(PlotFigure(plot), CHART, name="errors")
    plot.deleteLater()
    return chart


def _settings(settings: Settings) -> Rows:
    method = METHODS[settings.method]
    rows = [("method", method.title), ("penalty", penalty_text(settings.penalty))]
    rows += [(option, _format_value(value)) for option, value in settings.options]
    if settings.problem != "nonrigid":
        rows.insert(0, ("problem", "low rank"))
    for entry in fields(settings):
        value = getattr(settings, entry.name)
        if entry.name in LEFT_OUT or value is None:
            continue
        rows.append((TITLES.get(entry.name, entry.name), _format_value(value)))
    return tuple(rows)


def _format_value(value: object) -> str:
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
        rows.append((sequence.truth_name, f"{len(sequence.truth.frames)} frames, in {sequence.truth_units}"))
    if sequence.source is not None:
        rows.append(("file", sample_name(sequence.source) or str(sequence.source)))
    if sequence.digest:
        rows.append(("SHA-256", sequence.digest[:16] + "…"))
    return tuple(rows)


def html_report(report: RunReport) -> str:
    """Return the page of a report."""
    picture = base64.b64encode(report.picture).decode("ascii")
    escaped = {name: html.escape(str(getattr(report, name))) for name in ("title", "subtitle", "date")}
    tiles = "".join(
        f'<div class="tile"><b>{html.escape(value)}</b>'
        f'<span class="muted">{html.escape(meaning)}</span></div>'
        for value, meaning in report.tiles
    )
    remarks = "".join(f'<p class="remark">{html.escape(remark)}</p>' for remark in report.remarks)
    return f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escaped["title"]}</title><style>{STYLE}</style></head>
<body><main>
<header><div><h1>{escaped["title"]}</h1><div class="muted">{escaped["subtitle"]}</div></div>
<div class="muted">{escaped["date"]}</div></header>
<div class="tiles">{tiles}</div>
{remarks}
<div class="two">
{_figure(report.picture_title, f'<img alt="3-D view" src="data:image/png;base64,{picture}">')}
{_figure(report.errors_title, report.errors)}
{_figure("Loss", report.loss)}
{_figure("Singular values and their weights", report.spectrum)}
</div>
<section class="wide"><h2>{html.escape(report.worst_title)}</h2>{_table(report.worst)}</section>
<div class="three">
<section><h2>Numbers</h2>{_pairs(report.numbers)}</section>
<section><h2>Settings</h2>{_pairs(report.settings)}</section>
<section><h2>Sequence</h2>{_pairs(report.facts)}</section>
</div>
<h2>How to make it again</h2>
<pre>{html.escape(report.command)}</pre>
<pre>{html.escape(report.python)}</pre>
<footer class="muted">{html.escape(report.versions)}</footer>
</main></body></html>
"""


def _figure(title: str, drawing: str) -> str:
    return f"<section><h2>{html.escape(title)}</h2>{drawing}</section>"


def _pairs(rows: Rows) -> str:
    lines = (f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>" for name, value in rows)
    return f'<table class="pairs">{"".join(lines)}</table>'


def _table(table: WorstFrameTable) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in table.headings)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"
