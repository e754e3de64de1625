"""A report of one run as one HTML page: settings, numbers, plots, worst frames, and how to repeat it.

Everything is inside the page: no other file, no script, no network. A browser prints it or makes a PDF of it.
The plots are those of the window in the colors of figures, drawn by widgets that are never shown.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable
from contextlib import closing
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from string import Template

import numpy as np
from PyQt6.QtCore import QSize
from PyQt6.QtWidgets import QWidget

from core import METHODS, InputError, Iterate, Sequence, Settings, command_for, python_for
from core.foundation import DEPTHS, PROGRAM, Floats, replacing, versions
from core.io.readers import sample_name
from core.reconstruction import worth_of
from nrsfm_gui.export.export_request import MovieOptions
from nrsfm_gui.export.figures import error_plot, worst_frames
from nrsfm_gui.export.movie import ScenePainter, ViewSources
from nrsfm_gui.model.names import error_name, numbered_title, penalty_text
from nrsfm_gui.model.numbers import NONE
from nrsfm_gui.model.run import Run
from nrsfm_gui.model.theme import PAPER
from nrsfm_gui.panels.loss.attempts import attempts_of
from nrsfm_gui.panels.loss.loss_curves import LossState
from nrsfm_gui.panels.loss.loss_plot import LossPlot
from nrsfm_gui.panels.parameters.spectrum_plot import SpectrumPlot
from nrsfm_gui.panels.parameters.spectrum_state import SpectrumState, mode_count, modes_state
from nrsfm_gui.scene import summaries
from nrsfm_gui.scene.incumbent import incumbent_of, quality
from nrsfm_gui.scene.scene import error_series
from nrsfm_gui.scene.shapes import Shapes
from nrsfm_gui.text.run_numbers import numbers
from nrsfm_gui.widgets.plots.plot_export import Figure, PlotFigure, figure_image, png_bytes

PICTURE = QSize(800, 410)  # pixels: small, so that its labels can be read on a page
CHART = QSize(500, 260)  # likewise
CHART_SCALE = 2.0  # pixels of a chart to each of the page, for fine screens and for paper
LEFT_OUT = {"problem", "method", "penalty", "options"}  # settings that have rows of their own
REMARK = "remark"
IN_TILES = {"reprojection RMS", "alignment", "iterations", "computing time", REMARK}
TITLES = {"max_iterations": "iterations at most", "rotation_rank": "rank of the rotations"}

TEMPLATE = Path(__file__).with_name("run_report.html")


def save_report(views: ViewSources, path: Path) -> None:
    """Write a report of the shown iteration. Raises InputError where that cannot be done."""
    session = views.session
    run = session.seen_run
    if path.suffix.lower() != ".html":
        raise InputError(f"{path} has {path.suffix or 'no suffix'}; accepted for reports is .html")
    if run is None or session.seen is None:
        raise InputError(f"{path} is not written: there is no reconstruction yet")
    options = MovieOptions(width=PICTURE.width(), height=PICTURE.height())
    with closing(ScenePainter(views, options, theme=PAPER)) as painter:
        painter.fit(session.frame)
        picture = png_bytes(painter.picture(session.frame, 0.0))
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
    series = error_series(sequence, shapes)[0]  # there is a reconstruction
    plot = error_plot(series)
    recipe = seen.provenance or run.settings
    measured = f"mean {error}, {known.alignment}"
    tiles = (  # the numbers that matter most: value, meaning
        (summaries.objective_value(found.value, found.objective), summaries.OBJECTIVE_NAMES[found.objective]),
        (summaries.measure(known.reprojection, sequence.units), "reprojection error, RMS"),
        (
            summaries.measure(known.error, known.unit),
            "3-D error, for want of a ground truth" if known.error is None else measured,
        ),
        (summaries.seconds(found), f"computing time, {summaries.iterations(found)} iterations"),
    )
    others = [(label, value) for label, value in labeled if label not in {*IN_TILES, f"mean {error}"}]
    remarks = [f'<p class="remark">{html.escape(value)}</p>' for label, value in labeled if label == REMARK]
    if found.objective == DEPTHS and seen.status.finished:
        remarks.insert(0, f"<p>Answer: {worth_of([verdict.kind for verdict in seen.verdicts])}.</p>")
    aligned = f", {known.alignment}" if series.name.startswith("3-D") else ""
    texts = {
        "title": f"{summaries.sequence_title(sequence)} · run {numbered_title(run)}",
        "note": run.note,
        "date": datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        "picture_title": picture_title,
        "error_title": f"Mean {series.name} of every frame{aligned}",
        "worst_title": f"Worst frames, by {series.name}",
        "command": command_for(sequence, recipe),
        "program": python_for(sequence, recipe).rstrip(),
        "made_by": f"{PROGRAM} " + ", ".join(f"{name} {version}" for name, version in versions().items()),
    }
    return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        {name: html.escape(text) for name, text in texts.items()},
        tiles="".join(_tile(value, meaning) for value, meaning in tiles),
        remarks="".join(remarks),
        picture=_picture(picture, PICTURE, "3-D view"),
        error_chart=_chart(PlotFigure(plot), plot),
        loss_chart=_loss_chart(run),
        spectrum_chart=_spectrum_chart(seen),
        worst=_worst_table(shapes, sequence, series.per_frame),
        numbers=_pairs(others),
        settings=_pairs(_settings(run.settings)),
        sequence=_pairs(_facts(sequence)),
    )


def _worst_table(shapes: Shapes, sequence: Sequence, per_frame: Floats) -> str:
    """Return frame, 3-D error, reprojection error and visible points of the worst frames."""
    residuals, errors = shapes.residuals, shapes.errors
    assert residuals is not None  # there is a reconstruction
    middle = (f"mean {error_name(sequence.truth_name)}",) if errors is not None else ()
    headings = "frame", *middle, "reprojection RMS", "worst point", "visible"
    rows = [_cells("th", headings)]
    for frame in worst_frames(per_frame):
        seen = residuals[frame][np.isfinite(residuals[frame])]
        rms = float(np.sqrt(np.mean(seen**2))) if seen.size else None
        values = residuals[frame] if errors is None else errors[frame]
        known = values[np.isfinite(values)]
        mean = summaries.measure(float(known.mean()) if known.size else None, shapes.unit)
        row = [str(frame + 1), *([] if errors is None else [mean]), summaries.measure(rms, sequence.units)]
        worst = str(int(np.nanargmax(values)) + 1) if known.size else NONE
        visible = f"{int(sequence.visible[frame].sum())} of {sequence.point_count}"
        rows.append(_cells("td", [*row, worst, visible]))
    return f"<table>{''.join(rows)}</table>"


def _cells(kind: str, texts: Iterable[str]) -> str:
    """Return a row of a table; `kind`: th or td."""
    cells = (f"<{kind}>{html.escape(text)}</{kind}>" for text in texts)
    return f"<tr>{''.join(cells)}</tr>"


def _loss_chart(run: Run) -> str:
    plot = LossPlot()
    attempts = attempts_of(run.history, run.last)
    plot.set_state(LossState({run.number: run.history}, run.number, attempts=attempts))
    return _chart(plot.figure, plot)


def _spectrum_chart(seen: Iterate) -> str:
    """Return a chart of what the objective of an iterate weighs."""
    plot, values, weights = SpectrumPlot(), seen.spectrum.values, seen.spectrum.weights
    state = SpectrumState(tuple(weights.tolist()), tuple(values.tolist()))
    if seen.record.energy is not None:
        state = modes_state(values, seen.settings, mode_count(values, seen.settings))
    plot.set_state(state)
    return _chart(plot.figure, plot)


def _chart(figure: Figure, widget: QWidget) -> str:
    """Return a figure as an element of the page, and delete the widget that draws it."""
    picture = png_bytes(figure_image(figure, CHART, CHART_SCALE))
    widget.deleteLater()
    return _picture(picture, CHART, figure.title)


def _picture(content: bytes, size: QSize, title: str) -> str:
    """Return a picture that is inside the page; `content`: PNG."""
    inside = f"data:image/png;base64,{base64.b64encode(content).decode('ascii')}"
    sides = f'width="{size.width()}" height="{size.height()}"'
    return f'<img alt="{html.escape(title)}" {sides} src="{inside}" />'


def _settings(settings: Settings) -> list[tuple[str, str]]:
    rows = [("method", METHODS[settings.method].title), ("penalty", penalty_text(settings.penalty))]
    rows += [(option, _format_value(value)) for option, value in settings.options]
    if settings.problem != "nonrigid":
        rows.insert(0, ("problem", "low rank"))
    known = {entry.name: getattr(settings, entry.name) for entry in fields(settings)}
    rows += [
        (TITLES.get(name, name), _format_value(value))
        for name, value in known.items()
        if name not in LEFT_OUT and value is not None
    ]
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


def _pairs(rows: Iterable[tuple[str, str]]) -> str:
    lines = (f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>" for name, value in rows)
    return f'<table class="pairs">{"".join(lines)}</table>'
