"""The paper's tables and figures, run again: from the data to the report."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from ..data.sequence import CameraModel
from ..foundation import InputError, check_replaceable, make_folder, protecting, versions
from ..io.readers import recording_files
from . import figures, report, tables
from .figure1 import figure_blocks, figure_jobs, figure_panels, figure_sequences, figure_summary
from .job_store import JobStore
from .jobs import ExperimentJob, JobResult, JobsProgress, load_job_results, run_jobs
from .mocap import PUBLISHED_E3D, mocap_blocks, mocap_jobs

if TYPE_CHECKING:
    import pandas as pd

EXPERIMENTS = {  # the title of the report, and what is computed
    "figure1": ("Figure 1", "losses of the methods against CPU seconds"),
    "table1": ("Table 1", "lowest losses"),
    "table2": ("Table 2", "3-D errors"),
    "tableA1": ("Table A.1", "losses of every camera path"),
    "tableA2": ("Table A.2", "3-D errors of every camera path"),
    "mocap": ("Motion capture", "e3D of BMM and R-BMM beside the published ones, needs --real"),
    "all": ("The paper's experiments", "all of these"),
}
CURVE_SECONDS = 10.0  # of CPU for a curve of Figure 1
NUMBERS = "numbers.csv"
PACKAGES = ("jinja2", "matplotlib", "pandas")  # of the extra `experiments`
DRAWN_ERRORS = {  # the error of the shapes that are drawn, which `tables.aligned_estimate` has aligned
    CameraModel.ORTHOGONAL: "procrustes_mm_reference_mirror",
    CameraModel.PERSPECTIVE: "procrustes_mm_reference",
}


def reproduce_experiment(
    what: str,
    output: Path,
    *,
    data: Path | None = None,
    real: Path | None = None,
    frame_base: int = 1,
    seconds: float = CURVE_SECONDS,
    processes: int = 1,
    command: str = "",
    progress: Callable[[JobsProgress], None] | None = None,
) -> Path:
    """Run an experiment, or continue one that was stopped, and write its report.

    `data`: a folder in the Challenge's layout, None for the bundled simulated objects; `real`: the folder of
    Figure 1's sequences and of motion capture, None for the folder `real` next to `data`, or simulated
    sequences for Figure 1; `processes`: how many jobs at a time.
    """
    report.check_installed(*PACKAGES)
    if not 0 < seconds < float("inf"):
        raise InputError(f"seconds is {seconds:g}; accepted is a positive number")
    with recording_files() as files:
        without = what in ("figure1", "mocap")
        items = [] if without else tables.load_table_data(data, frame_base=frame_base)
        real_folder = _real_folder(data, real)
        tracks = figure_sequences(real_folder) if what in ("figure1", "all") else ()
    table_jobs = _table_jobs(items, what)
    curve_jobs = figure_jobs(tracks, seconds)
    mocap = mocap_jobs(real_folder) if what in ("mocap", "all") else []
    if what == "mocap" and not mocap:
        names = ", ".join(f"{name}.mat" for name in PUBLISHED_E3D)
        raise InputError(f"there is no motion capture; --real is a folder with one of mocap/{names}")
    jobs: list[ExperimentJob] = [*table_jobs, *curve_jobs, *mocap]
    with protecting(dict.fromkeys([*files, *(job.path for job in mocap)], "a file of the data")):
        check_replaceable(output / name for name in (*report.REPORT_FILES, NUMBERS))
        with JobStore(output / "jobs") as store:
            run_jobs(jobs, store, processes=processes, progress=progress)
            results = load_job_results(store, jobs)
        pictures = make_folder(output / "pictures")
        body: list[report.ReportBlock] = []
        summary: list[str] = []
        if items:
            entries = tables.table_entries(table_jobs, results)
            solved = entries[entries["loss"].notna()]
            report.write_frame(output / NUMBERS, solved[[*tables.WRITTEN_ENTRIES]])
            summary.append(tables.tables_summary(entries))
            body += _table_blocks(what, entries, table_jobs, results, pictures)
        if tracks:
            shown = figure_panels(curve_jobs, results)
            summary.append(figure_summary(shown))
            real_tracks = real_folder is not None
            body += figure_blocks(tracks, shown, seconds, pictures, real=real_tracks)
        body += mocap_blocks(mocap, results) if mocap else []
        failures = {job.label: results[job.key].failure for job in jobs if results[job.key].failure}
        title = f"{EXPERIMENTS[what][0]}, run again"
        body += _failure_blocks(failures)
        if what != "mocap":
            body += [report.Heading("The published numbers"), report.BulletList(tables.PUBLISHED_ERRATA)]
        origin = "bundled simulated objects" if data is None else str(data)
        opening = _opening_blocks(title, items, origin, command, summary)
        return report.write_report([*opening, *body], title, output)


def _real_folder(data: Path | None, real: Path | None) -> Path | None:
    """Return where Figure 1's sequences are, or None where they are to be simulated."""
    if real is not None:
        if not real.is_dir():
            raise InputError(f"{real}: there is no such folder; --real has Figure 1's sequences and mocap/")
        return real
    neighbor = None if data is None else data.absolute().parent / "real"
    return neighbor if neighbor is not None and neighbor.is_dir() else None


def _table_jobs(items: list[tables.TableSequence], what: str) -> list[tables.TableJob]:
    """Return a job for every sequence and penalty; Tables A.1 and A.2 are perspective and WNN only."""
    appendix = what in ("tableA1", "tableA2")
    return [
        tables.table_job(item, penalty)
        for item in items
        if not appendix or item.sequence.camera is CameraModel.PERSPECTIVE
        for penalty in tables.TABLE_PENALTIES
        if not appendix or penalty == "WNN"
    ]


def _table_blocks(
    what: str,
    entries: pd.DataFrame,
    jobs: list[tables.TableJob],
    results: Mapping[str, JobResult],
    pictures: Path,
) -> list[report.ReportBlock]:
    complete = what == "all"
    blocks: list[report.ReportBlock] = [report.Heading("Lowest losses"), tables.comparison_table(entries)]
    if complete or what == "table1":
        blocks += tables.loss_blocks(entries)
    if complete or what == "table2":
        blocks += tables.error_blocks(entries)
    for name in tables.APPENDIX:
        if complete or what == name:
            blocks += tables.appendix_blocks(entries, name, complete=complete)
    blocks += tables.seconds_blocks(entries)
    if complete or what in ("table2", "tableA2"):
        blocks += shape_blocks(jobs, results, pictures)
    return [*blocks, *tables.settings_blocks(jobs, entries)]


def _opening_blocks(
    title: str, items: list[tables.TableSequence], origin: str, command: str, summary: list[str]
) -> list[report.ReportBlock]:
    """Return the top of the report: its title, when and with what it was made, and a summary."""
    all_versions = versions() | {name: version(name) for name in PACKAGES}
    blocks: list[report.ReportBlock] = [
        report.Heading(title, 1),
        report.Paragraph(
            f"The experiments of {tables.published_tables().source}, run again. Made on "
            f"{time.strftime('%Y-%m-%d %H:%M')} on {machine_name()}, one BLAS thread per process; "
            f"{', '.join(' '.join(each) for each in all_versions.items())}."
        ),
        report.CodeBlock(command),
    ]
    real = {item.real for item in items}
    if False in real:
        subject = "Some of these sequences are" if True in real else "These sequences are"
        published = tables.published_tables().objects
        objects = tables.in_printed_order((item.object_name for item in items), published)
        blocks.append(
            report.Paragraph(
                f"**Substitutes.** {subject} not the NRSfM Challenge's: they are {origin} "
                f"({', '.join(objects)}). The paper's numbers are of other data and "
                "are not shown; what can be compared is how the methods rank.",
                highlighted=True,
            )
        )
    return [*blocks, report.BulletList(tuple(summary))]


def machine_name() -> str:
    """Return the processor's name, how many there are, and the operating system."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{name} ({os.cpu_count()} logical processors), {platform.system()} {platform.release()}"


def shape_blocks(
    jobs: list[tables.TableJob], results: Mapping[str, JobResult], folder: Path
) -> list[report.ReportBlock]:
    """Return the 3-D comparisons of every sequence under WNN; write their pictures into `folder`."""
    blocks: list[report.ReportBlock] = [
        report.Heading("3-D comparisons"),
        report.Paragraph(
            "The ground-truth frame of every sequence, weighted nuclear norm: estimate blue, moved onto the "
            "truth, red, by one similarity (orthogonal cameras: mirror images allowed), and the mean "
            "distance that is left."
        ),
    ]
    for camera in (CameraModel.PERSPECTIVE, CameraModel.ORTHOGONAL):
        items = []
        for job in jobs:
            end = results[job.key]
            if job.sequence.camera is not camera or job.penalty != "WNN" or end.failure:
                continue
            errors = {row["method"]: row["errors"][DRAWN_ERRORS[camera]] for row in end.facts["rows"]}
            estimates = {
                f"{method}: {errors[method]:.2f} mm": end.arrays[f"estimate {method}"]
                for method in tables.TABLE_ROWS[camera, "WNN"]
            }
            name, path_name = job.item.object_name, job.item.path_name
            path = folder / f"shape-{camera.value}-{name}-{path_name}.png"
            caption = f"{name} {path_name}, {camera.value}"
            items.append(figures.draw_shapes(path, end.arrays["truth"], estimates, caption))
        if items:
            blocks += [report.Heading(camera.value, 3), report.ImageGallery(tuple(items))]
    return blocks


def _failure_blocks(failures: Mapping[str, str]) -> list[report.ReportBlock]:
    """Return what could not be computed, and why."""
    labels: dict[str, list[str]] = {}
    for label, problem in failures.items():
        labels.setdefault(problem, []).append(label)
    lines = [
        f"{first}{f' and {len(others)} more' if others else ''}: {problem}"
        for problem, (first, *others) in labels.items()
    ]
    return [report.Heading("Not computed"), report.BulletList(tuple(lines))] if lines else []
