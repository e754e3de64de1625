"""What reads a damaged file: every way by which a file comes into the program, as far as it goes.

A reader raises InputError, whose sentence is checked, or returns what the program would show.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
from foreign_seeds import FRAMES, POINTS

import core
from core import InputError
from core.cameras.calibration import load_intrinsics
from core.cameras.rotations import load_rotations
from core.cli import parser
from core.cli.evaluate import load_truth
from core.experiments.job_store import JobStore
from core.experiments.report import render_markdown
from core.experiments.sweep.frame import report_table, tabulate
from core.experiments.sweep.rows import is_sweep_folder, read_sweep
from core.io.writers import WRITERS
from core.reconstruction import load_start
from core.tracking import Video
from core.tracking.decoding import VideoDecoder
from nrsfm_gui.model.app_store import REPORTS, AppStore
from nrsfm_gui.panels.appearance.mesh_files import read_triangulation
from nrsfm_gui.panels.background.image_sources import open_source
from nrsfm_gui.sessions.opening import is_result, read_opened_result
from nrsfm_gui.sessions.session_file import ViewState, read_session, session_summary
from nrsfm_gui.text.sweep_rows import build_rows
from nrsfm_gui.text.table_text import MARKDOWN

MOST_ROWS = 8  # of a sweep, that are shown

Read = "Callable[[Path, tuple[str, ...]], str]"


@dataclass(frozen=True)
class FuzzedReader:
    """A way to read files, and how many of the inputs it gets."""

    read: Callable[[Path, tuple[str, ...]], str]
    share: float


def _command(name: str, *words: str) -> str:
    """Run a command without its handling of errors, and return what it prints."""
    args = parser().parse_args([name, *words])
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        import_module(f"core.cli.{name}").run(args)
    return printed.getvalue()


def _sequence(path: Path, options: tuple[str, ...]) -> str:
    return _command("info", str(path), *options)


def _evaluate(path: Path, options: tuple[str, ...]) -> str:
    return _command("evaluate", str(path), *options)


def _export(path: Path, options: tuple[str, ...]) -> str:
    """Export to one of the formats, which depends on the content."""
    suffix = list(WRITERS)[zlib.crc32(path.read_bytes()) % len(WRITERS)]
    return _command("export", str(path), "-o", str(path.with_name(f"written{suffix}")), *options)


def _sequence_of_seeds() -> core.Sequence:
    return core.simulate("balloon", frames=FRAMES, points=POINTS, seed=3)


def _start(path: Path, options: tuple[str, ...]) -> str:
    return repr(load_start(path, _sequence_of_seeds()))


def _opened_result(path: Path, options: tuple[str, ...]) -> str:
    if not is_result(path):
        return ""
    run = read_opened_result(path)
    return f"{run.sequence.content} {run.sequence} {run.message} {run.title}"


def _session(path: Path, options: tuple[str, ...]) -> str:
    try:
        summary = session_summary(path)
    except InputError:
        summary = ""  # `read_session` says more
    session = read_session(path)
    runs = [run for opened in session.sequences for run in opened.runs]
    changes = [opened.change for opened in session.sequences]
    view = ViewState.from_plain(session.view) if session.view else None
    return f"{summary} {changes} {[len(run.history) for run in runs]} {view}"


def _mesh(path: Path, options: tuple[str, ...]) -> str:
    return repr(read_triangulation(path, POINTS))


@cache
def _result_of_seeds() -> core.Result:
    return core.reconstruct(_sequence_of_seeds(), "bilinear", starts=1, rotations="truth", max_iterations=1)


def _truth(path: Path, options: tuple[str, ...]) -> str:
    return repr(load_truth(path, _result_of_seeds())[0])


def _rotations(path: Path, options: tuple[str, ...]) -> str:
    return repr(load_rotations(path).shape)


def _intrinsics(path: Path, options: tuple[str, ...]) -> str:
    return repr(load_intrinsics(path))


def _sweep(path: Path, options: tuple[str, ...]) -> str:
    with JobStore(path) as store:
        keys = [file.stem for file in (path / "results").iterdir()]
        found = [store.has_result(key) and store.load_row(key) is not None for key in keys]
    if not is_sweep_folder(path):
        return repr(found)
    rows = build_rows(read_sweep(path))
    sweep, shown = rows.sweep, np.arange(min(len(rows), MOST_ROWS))
    by = sweep.varied[:2]
    tables = [report_table(tabulate(sweep, number, by)) for number in sweep.numbers[:2] if by]
    texts = [rows.run_title(run) + rows.run_details(run, kept=True) for run in shown]
    listed = rows.text(rows.columns, shown, MARKDOWN)
    return "\n".join((repr(found), *texts, rows.common_settings(), listed, render_markdown(tables)))


def _settings(path: Path, options: tuple[str, ...]) -> str:
    store = AppStore(path)
    read = (
        store.layout(), store.recent(), store.recent(REPORTS), store.imported(Path("/tmp/a.npz")),
        store.parameters("abc"), store.preferences(), store.refused(), store.open_sections, store.theme,
        store.offered_session, store.steps_done, store.writing_folder,
    )  # fmt: skip
    return repr(read)


def _picture(path: Path, options: tuple[str, ...]) -> str:
    source = open_source(path)
    try:
        return repr([source.read(index).size() for index in range(min(source.count, 2))])
    finally:
        source.release()


def _video(path: Path, options: tuple[str, ...]) -> str:
    # A decoder that crashes is a finding, though the program goes on: its own process takes 0.4 s to start.
    video = (VideoDecoder if zlib.crc32(path.read_bytes()) % 8 else Video)(path)
    try:
        shapes = [video.read(index).shape for index in {0, video.count - 1}]
        return f"{video.size} {video.frame_rate} {shapes}"
    finally:
        video.close()


READERS: dict[str, FuzzedReader] = {
    "sequence": FuzzedReader(_sequence, 40),
    "evaluate": FuzzedReader(_evaluate, 8),
    "export": FuzzedReader(_export, 5),
    "start": FuzzedReader(_start, 6),
    "opened result": FuzzedReader(_opened_result, 6),
    "session": FuzzedReader(_session, 10),
    "mesh": FuzzedReader(_mesh, 5),
    "truth": FuzzedReader(_truth, 2),
    "rotations": FuzzedReader(_rotations, 1),
    "intrinsics": FuzzedReader(_intrinsics, 2),
    "sweep": FuzzedReader(_sweep, 6),
    "settings": FuzzedReader(_settings, 4),
    "picture": FuzzedReader(_picture, 2),
    "video": FuzzedReader(_video, 2),
}
