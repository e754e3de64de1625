"""The report: what was computed, from what, with what, and what came out, as Markdown and as HTML."""

from __future__ import annotations

import csv
import os
import platform
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from ..data.sequence import CameraModel
from ..foundation.atomic import replacing
from ..foundation.version import versions
from . import pictures
from .document import Block, BulletList, Code, Heading, ImageRow, Paragraph, ReportImage, as_html, as_markdown
from .published import SLIPS, published
from .sections import ERRORS
from .tables import PERSPECTIVE_WNN, TableEntries, TableEntry

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from .job import JobResult
    from .sequence_job import SequenceJob
    from .sources import ReportSequences

CUT = ("ADMM-NN", "ADMM-WNN")  # methods that minimize the same objective, over matrices of any rank
SHOWN = {
    CameraModel.ORTHOGONAL: ("R-BMM", "Ours-WNN", "Search-WNN"),
    CameraModel.PERSPECTIVE: PERSPECTIVE_WNN,
}
DRAWN = {  # the error of the shapes that are drawn, which `sequence_job.aligned` has moved
    CameraModel.ORTHOGONAL: "procrustes_mm_reference_mirror",
    CameraModel.PERSPECTIVE: "procrustes_mm_reference",
}


def entries_of(
    jobs: Iterable[SequenceJob], source: ReportSequences, found: Mapping[str, JobResult]
) -> TableEntries:
    """Return what the jobs of the tables ended with."""
    real = {(item.object_name, item.path_name, item.camera): item.real for item in source.items}
    entries = []
    for job in jobs:
        camera = job.sequence.camera
        there = real[job.object_name, job.path_name, camera]
        for row in found[job.key].facts.get("rows", ()):
            measured = (row["loss"], row["errors"], row["cpu_seconds"])
            place = (job.object_name, job.path_name, camera, row["method"])
            before_cut = row["loss_before_cut"] if row["method"] in CUT else None
            end = (before_cut, row["status"], job.command(row["method"]))
            entries.append(TableEntry(*place, *measured, there, *end))
    return TableEntries(entries)


def opening(title: str, source: ReportSequences | None, command: str, summary: list[str]) -> list[Block]:
    """Return what stands at the top: what this is, with what it was made, and what came out in short."""
    said = {**versions(), **_drawing_versions()}
    blocks: list[Block] = [
        Heading(title, 1),
        Paragraph(
            f"The experiments of {published().source}, run again. Made on {time.strftime('%Y-%m-%d %H:%M')} "
            f"on {machine()}, one BLAS thread per process; "
            f"{', '.join(f'{name} {version}' for name, version in said.items())}."
        ),
        Code(command),
    ]
    if source is not None and not source.real:
        some = any(item.real for item in source.items)
        words = "Some of these sequences are" if some else "These sequences are"
        blocks.append(
            Paragraph(
                f"**Stand-ins.** {words} not the NRSfM Challenge's: they are {source.words} "
                f"({', '.join(source.objects)}). The paper's numbers are of other data, so that none stand "
                "beside them; what can be compared is how the methods rank.",
                note=True,
            )
        )
    return [*blocks, BulletList(tuple(summary))]


def machine() -> str:
    """Return the processor's name, how many there are, and the operating system."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{name} ({os.cpu_count()} logical processors), {platform.system()} {platform.release()}"


def _drawing_versions() -> dict[str, str]:
    import joblib
    import matplotlib

    return {"joblib": joblib.__version__, "matplotlib": matplotlib.__version__}


def shape_blocks(jobs: Collection[SequenceJob], found: Mapping[str, JobResult], folder: Path) -> list[Block]:
    """Return the 3-D comparisons of every sequence under WNN; write their pictures into `folder`."""
    blocks: list[Block] = [
        Heading("3-D comparisons"),
        Paragraph(
            "The ground-truth frame of every sequence, weighted nuclear norm: estimate blue, moved onto the "
            "truth, red, by one similarity (orthogonal cameras: mirror images allowed), and the mean "
            "distance that is left."
        ),
    ]
    for camera in (CameraModel.PERSPECTIVE, CameraModel.ORTHOGONAL):
        items = []
        for job in jobs:
            end = found[job.key]
            if job.sequence.camera is not camera or job.penalty != "WNN" or end.problem:
                continue
            errors = {row["method"]: row["errors"][DRAWN[camera]] for row in end.facts["rows"]}
            estimates = {
                f"{method}: {errors[method]:.2f} mm": end.arrays[f"estimate {method}"]
                for method in SHOWN[camera]
            }
            name, path_name = job.object_name, job.path_name
            path = folder / f"shape-{camera.value}-{name}-{path_name}.png"
            width = pictures.compare_shapes(path, end.arrays["truth"], estimates)
            caption = f"{name} {path_name}, {camera.value}"
            items.append(ReportImage(f"{folder.name}/{path.name}", caption, width))
        if items:
            blocks += [Heading(camera.value, 3), ImageRow(tuple(items))]
    return blocks


def slip_blocks() -> list[Block]:
    """Return what does not agree in the published numbers."""
    return [Heading("The published numbers"), BulletList(SLIPS)]


def problem_blocks(problems: Mapping[str, str]) -> list[Block]:
    """Return what could not be computed, and why."""
    if not problems:
        return []
    counted = Counter(problems.values())
    lines = []
    for problem, count in counted.items():
        first = next(label for label, text in problems.items() if text == problem)
        more = f" and {count - 1} more" if count > 1 else ""
        lines.append(f"{first}{more}: {problem}")
    return [Heading("Not computed"), BulletList(tuple(lines))]


def write_numbers(entries: TableEntries, path: Path) -> None:
    """Write every number of the tables as csv, with the command that makes it again."""
    names = list(ERRORS)
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream, lineterminator="\n")
        header = ["object", "path", "camera", "method", "loss", "log10_loss", *names]
        table.writerow([*header, "cpu_seconds", "status", "command"])
        for entry in entries:
            place = (entry.object_name, entry.path_name, entry.camera.value, entry.method)
            errors = [repr(entry.errors[name]) if name in entry.errors else "" for name in names]
            last = (f"{entry.cpu_seconds:.4f}", entry.status, entry.command)
            table.writerow([*place, repr(entry.loss), repr(entry.log_loss), *errors, *last])


def write_report(blocks: list[Block], title: str, folder: Path) -> Path:
    """Write `report.md` and `report.html`, and return the path of the latter."""
    for name, text in (("report.md", as_markdown(blocks)), ("report.html", as_html(blocks, title))):
        with replacing(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return folder / "report.html"
