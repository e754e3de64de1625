"""A report of one run as one HTML page: settings, numbers, plots, worst frames, and how to repeat it.

Everything is inside the page: no other file, no script, no network. A browser prints it or makes a PDF of it.
The plots are those of the window in the colors of figures, drawn by widgets that are never shown.
"""

from __future__ import annotations

import base64
import html
from dataclasses import fields
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
from PyQt6.QtCore import QSize

from core import METHODS, InputError, command_for, python_for
from core.foundation import PROGRAM, replacing, versions
from core.io.readers import sample_name
from nrsfm_gui.export.export_request import MovieOptions
from nrsfm_gui.export.figures import error_plot, worst_frames
from nrsfm_gui.export.movie import ScenePainter
from nrsfm_gui.model.names import error_name, numbered_title, penalty_text
from nrsfm_gui.model.numbers import NONE
from nrsfm_gui.model.theme import PAPER
from nrsfm_gui.panels.loss.attempts import attempts_of
from nrsfm_gui.panels.loss.loss_plot import LossPlot, RunDetails
from nrsfm_gui.panels.parameters.spectrum_plot import SpectrumPlot, SpectrumState, mode_count, modes_state
from nrsfm_gui.scene import summaries
from nrsfm_gui.scene.incumbent import incumbent_of, quality
from nrsfm_gui.scene.scene import error_series
from nrsfm_gui.text.run_numbers import numbers
from nrsfm_gui.widgets.plots.plot_export import PlotFigure, figure_svg
from nrsfm_gui.widgets.plots.svg_generator import png_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable
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
    page = report_page(run, scene.shapes, picture, f"3-D view, frame {session.frame + 1}")
    with replacing(path) as temporary:
        temporary.write_text(page, encoding="utf-8", errors="backslashreplace")


def report_page(run: Run, shapes: Shapes, picture: bytes, picture_title: str) -> str:
    """Return the page of a run; `picture`: PNG."""
    sequence, seen = run.sequence, run.last
    assert seen is not None
    known = quality(shapes)
    found = incumbent_of(run, seen, known)
    labeled = [(row.label, row.value) for row in numbers(run, found, sequence) if row.value != NONE]
    error = error_name(sequence.truth_name)
    series = error_series(sequence, shapes)
    assert series is not None  # there is a reconstruction
    recipe: Provenance | Settings = run.settings
    if seen.provenance is not None:
        recipe = seen.provenance.flatten() or run.settings
    tiles = (  # the numbers that matter most: value, meaning
        (summaries.objective_value(found.value, found.objective), summaries.OBJECTIVE_NAMES[found.objective]),
        (summaries.measure(known.reprojection, sequence.units), "reprojection error, RMS"),
        (
            summaries.measure(known.error, known.unit),
            "3-D error, for want of a ground truth"
            if known.error is None
            else f"mean {error}, {known.alignment}",
        ),
        (summaries.seconds(found), f"computing time, {summaries.iterations(found)} iterations"),
    )
    others = [(label, value) for label, value in labeled if label not in {*IN_TILES, f"mean {error}"}]
    remarks = (f'<p class="remark">{html.escape(value)}</p>' for label, value in labeled if label == REMARK)
    worst = _worst_table(shapes, sequence, series.per_frame)
    aligned = f", {known.alignment}" if series.name.startswith("3-D") else ""
    title = html.escape(f"{summaries.sequence_title(sequence)} · run {numbered_title(run)}")
    date = html.escape(datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"))
    source = f"data:image/png;base64,{base64.b64encode(picture).decode('ascii')}"
    made_by = f"{PROGRAM} " + ", ".join(f"{name} {version}" for name, version in versions().items())
    return f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>{STYLE}</style></head>
<body><main>
<header><div><h1>{title}</h1><div class="muted">{html.escape(run.note)}</div></div>
<div class="muted">{date}</div></header>
<div class="tiles">{"".join(_tile(value, meaning) for value, meaning in tiles)}</div>
{"".join(remarks)}
<div class="two">
{_figure(picture_title, f'<img alt="3-D view" src="{source}">')}
{_figure(f"Mean {series.name} of every frame{aligned}", _error_chart(series))}
{_figure("Loss", _loss_chart(run))}
{_figure("Singular values and their weights", _spectrum_chart(seen))}
</div>
<section class="wide"><h2>{html.escape(f"Worst frames, by {series.name}")}</h2>{worst}</section>
<div class="three">
<section><h2>Numbers</h2>{_pairs(others)}</section>
<section><h2>Settings</h2>{_pairs(_settings(run.settings))}</section>
<section><h2>Sequence</h2>{_pairs(_facts(sequence))}</section>
</div>
<h2>How to make it again</h2>
<pre>{html.escape(command_for(sequence, recipe))}</pre>
<pre>{html.escape(python_for(sequence, recipe).rstrip())}</pre>
<footer class="muted">{html.escape(made_by)}</footer>
</main></body></html>
"""


def _worst_table(shapes: Shapes, sequence: Sequence, per_frame: Floats) -> str:
    """Return frame, 3-D error, reprojection error and visible points of the worst frames."""
    residuals, errors = shapes.residuals, shapes.errors
    assert residuals is not None  # there is a reconstruction
    middle = (f"mean {error_name(sequence.truth_name)}",) if errors is not None else ()
    headings = "frame", *middle, "reprojection RMS", "worst point", "visible"
    rows = [_cells("th", headings)]
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
        rows.append(_cells("td", [*row, f"{int(sequence.visible[frame].sum())} of {sequence.point_count}"]))
    return f"<table>{''.join(rows)}</table>"


def _cells(kind: str, texts: Iterable[str]) -> str:
    """Return a row of a table; `kind`: th or td."""
    cells = (f"<{kind}>{html.escape(text)}</{kind}>" for text in texts)
    return f"<tr>{''.join(cells)}</tr>"


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


def _settings(settings: Settings) -> list[tuple[str, str]]:
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
    return rows


def _format_value(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _facts(sequence: Sequence) -> list[tuple[str, str]]:
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
    return rows


def _tile(value: str, meaning: str) -> str:
    meaning = f'<span class="muted">{html.escape(meaning)}</span>'
    return f'<div class="tile"><b>{html.escape(value)}</b>{meaning}</div>'


def _figure(title: str, drawing: str) -> str:
    return f"<section><h2>{html.escape(title)}</h2>{drawing}</section>"


def _pairs(rows: Iterable[tuple[str, str]]) -> str:
    lines = (f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>" for name, value in rows)
    return f'<table class="pairs">{"".join(lines)}</table>'
