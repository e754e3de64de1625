"""The whole of it: what is asked for, from data to report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..data.sequence import CameraModel
from ..foundation.exceptions import InputError
from . import report, sections, tables
from .figure1 import figure_blocks, figure_jobs, figure_summary, figure_tracks, panels
from .mocap_job import mocap_blocks, mocap_jobs
from .run import perform
from .sequence_job import PENALTIES, SequenceJob
from .sources import ReportSequences, challenge_source
from .store import Store, made

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from .document import Block
    from .job import ExperimentJob, JobResult
    from .run import ExperimentProgress
    from .tables import TableEntries

TITLES = {
    "figure1": "Figure 1, run again",
    "table1": "Table 1, run again",
    "table2": "Table 2, run again",
    "tableA1": "Table A.1, run again",
    "tableA2": "Table A.2, run again",
    "all": "The paper's experiments, run again",
}

EXPERIMENTS = tuple(TITLES)
SECONDS = 10.0  # of CPU for a curve of Figure 1


def check_installed() -> None:
    """Refuse to begin where what draws and distributes is not installed.

    Raises
    ------
    InputError
        with how to install it.
    """
    try:
        import joblib  # noqa: F401
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise InputError(
            f"the experiments need joblib and matplotlib, and {error.name} is not installed; install both "
            "with: pip install 'nrsfm-gui[experiments]' (or, in a checkout, pip install '.[experiments]')"
        ) from error


def reproduce(
    what: str,
    output: Path,
    *,
    data: Path | None = None,
    real: Path | None = None,
    frame_base: int = 1,
    seconds: float = SECONDS,
    processes: int | None = None,
    command: str = "",
    progress: Callable[[ExperimentProgress], None] | None = None,
) -> Path:
    """Run an experiment, or go on with it, and write its report.

    Parameters
    ----------
    what
        one of `EXPERIMENTS`.
    output
        the report's folder, made where it is absent; finished jobs are kept in its folder `jobs`.
    data
        the Challenge's folder, or one like it; None takes the bundled simulated objects.
    real
        the folder of Figure 1's sequences, and for "all" of motion capture; None takes `real` beside `data`,
        or simulated ones for Figure 1.
    frame_base
        number of the first frame in `gt_frame_N`.
    seconds
        of CPU for every curve of Figure 1.
    processes
        how many jobs at a time; None leaves it to joblib's context.
    command
        what the report gives as the command that makes it.
    progress
        called with where the run stands.

    Returns
    -------
    Path
        of the report's HTML file; `report.md`, `numbers.csv` and the pictures lie beside it.

    Raises
    ------
    InputError
        where something needed is not installed, the data is broken, or the folder cannot be written.
    """
    check_installed()
    if not 0 < seconds < float("inf"):
        raise InputError(f"seconds is {seconds:g}; accepted is a positive number")
    source = None if what == "figure1" else challenge_source(data, frame_base=frame_base)
    real_folder = _real_folder(data, real)
    tracks = figure_tracks(real_folder) if what in ("figure1", "all") else ()
    sequence_jobs = [] if source is None else _table_jobs(source, what)
    matrix_jobs = figure_jobs(tracks, seconds)
    captured = mocap_jobs(real_folder) if what == "all" else []
    jobs: list[ExperimentJob] = [*sequence_jobs, *matrix_jobs, *captured]
    store = Store(output / "jobs")
    found = perform(jobs, store, processes=processes, progress=progress)
    pictures = made(output / "pictures")
    body: list[Block] = []
    summary: list[str] = []
    if source is not None:
        entries = report.entries_of(sequence_jobs, source, found)
        report.write_numbers(entries, output / "numbers.csv")
        summary.append(tables.summary(entries))
        body += _table_blocks(what, source, entries, sequence_jobs, found, pictures)
    if tracks:
        shown = panels(matrix_jobs, found)
        summary.append(figure_summary(shown))
        body += figure_blocks(tracks, shown, seconds, pictures)
    body += mocap_blocks(captured, found) if captured else []
    problems = {job.label: found[job.key].problem for job in jobs if found[job.key].problem}
    title = TITLES[what]
    blocks = report.opening(title, source, command, summary)
    body += [*report.problem_blocks(problems), *report.slip_blocks()]
    return report.write_report([*blocks, *body], title, output)


def _real_folder(data: Path | None, real: Path | None) -> Path | None:
    """Return where Figure 1's sequences are, or None where they are to be simulated."""
    if real is not None:
        if not real.is_dir():
            raise InputError(f"{real}: there is no such folder; --real is that of Figure 1's sequences")
        return real
    beside = None if data is None else data.absolute().parent / "real"
    return beside if beside is not None and beside.is_dir() else None


def _table_jobs(source: ReportSequences, what: str) -> list[SequenceJob]:
    """Return a job for every sequence and penalty; Tables A.1 and A.2 are perspective and WNN only."""
    appendix = what in ("tableA1", "tableA2")
    return [
        SequenceJob(item.object_name, item.path_name, item.sequence, penalty)
        for item in source.items
        if not appendix or item.camera is CameraModel.PERSPECTIVE
        for penalty in PENALTIES
        if not appendix or penalty == "WNN"
    ]


def _table_blocks(
    what: str,
    source: ReportSequences,
    entries: TableEntries,
    jobs: list[SequenceJob],
    found: Mapping[str, JobResult],
    pictures: Path,
) -> list[Block]:
    whole = what == "all"
    blocks = sections.verdict_blocks(entries)
    if whole or what == "table1":
        blocks += sections.loss_blocks(entries, source)
    if whole or what == "table2":
        blocks += sections.error_blocks(entries, source)
    if whole or what == "tableA1":
        blocks += sections.appendix_loss_blocks(entries, source, whole=whole)
    if whole or what == "tableA2":
        blocks += sections.appendix_error_blocks(entries, source, whole=whole)
    blocks += sections.seconds_blocks(entries, source)
    if whole or what in ("table2", "tableA2"):
        blocks += report.shape_blocks(jobs, found, pictures)
    return [*blocks, *sections.settings_blocks(jobs, found)]
