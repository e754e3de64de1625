"""Making the report of the run that is shown: the picture in the window's thread, the rest beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core import InputError
from core.foundation import replacing
from nrsfm_gui.export.movie import ScenePainter
from nrsfm_gui.export.movie_options import MovieOptions
from nrsfm_gui.export.tasks import Task, Watch
from nrsfm_gui.model.theme import LIGHT
from nrsfm_gui.scene.shapes import build_shapes
from nrsfm_gui.widgets.plots import png_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from nrsfm_gui.main_window import MainWindow

PICTURE = (800, 410)  # pixels: small, so that its labels can be read on a page

SUFFIXES = (".html", ".pdf")


def report_task(window: MainWindow, path: Path) -> Task:
    """Return the task that writes a report of what is looked at.

    Raises
    ------
    InputError
        where the suffix is neither `.html` nor `.pdf`, or there is no reconstruction yet.
    """
    session, run = window.session, window.session.seen_run
    seen = session.seen
    if path.suffix.lower() not in SUFFIXES:
        found = path.suffix or "no suffix"
        raise InputError(f"{path} has {found}; accepted for reports are {', '.join(SUFFIXES)}")
    if run is None or seen is None:
        raise InputError(f"{path} is not written: there is no reconstruction yet")
    frame, alignment = session.frame, session.alignment
    painter = ScenePainter(window, MovieOptions(width=PICTURE[0], height=PICTURE[1]), theme=LIGHT)
    painter.fit(frame)
    picture = png_bytes(painter.picture(frame, 0.0))
    painter.close()

    def write(watch: Watch) -> str:
        from nrsfm_gui.export.run_report import make_report
        from nrsfm_gui.export.run_report_html import html_report
        from nrsfm_gui.export.run_report_pdf import pdf_report

        shapes = build_shapes(run.sequence, seen, alignment)
        report = make_report(run, shapes, picture, f"3-D view, frame {frame + 1}")
        watch(0, 1)
        pdf = path.suffix.lower() == ".pdf"
        content = pdf_report(report) if pdf else html_report(report).encode("utf-8")
        with replacing(path) as temporary:
            temporary.write_bytes(content)
        return f"Saved {path}"

    return Task(f"Writing {path.name}", path, write, window)
