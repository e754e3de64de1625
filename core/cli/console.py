"""What the commands print: one line of progress, and the numbers of a result with their units."""

from __future__ import annotations

import json
import math
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from ..evaluation.metrics import ERROR_NAMES, METRICS, errors_of
from ..foundation import DEPTHS, phase_text, printable
from ..reconstruction import Iterate, Result, worth_of

if TYPE_CHECKING:
    from ..experiments.jobs import JobsProgress

INTERVAL = 0.1  # seconds between two drawings
INTRINSICS = {"fx": (0, 0), "fy": (1, 1), "cx": (0, 2), "cy": (1, 2)}


def print_lines(*lines: str, stream: TextIO | None = None) -> None:
    """Print lines, in which names of files are escaped where a terminal would obey them."""
    print("\n".join(map(printable, lines)), file=stream)


class ProgressLine:
    """A line of progress in a block, after which it is removed; empty where the stream is no terminal."""

    def __init__(self, stream: TextIO, *, shown: bool = True) -> None:
        self._stream = stream
        self._shown = shown and stream.isatty()
        self._began = self._drawn = time.monotonic()
        self._width = 0

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def show(self, text: Callable[[float], str]) -> None:
        """Draw what a function of the seconds since the beginning returns, at most ten times a second."""
        now = time.monotonic()
        if self._shown and now - self._drawn >= INTERVAL:
            self._drawn = now
            self.write(text(now - self._began))

    def write(self, text: str) -> None:
        """Draw a text at once."""
        if not self._shown:
            return
        text = printable(text)[: shutil.get_terminal_size().columns - 1]
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = len(text)

    def clear(self) -> None:
        """Remove the line."""
        if self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
            self._width = 0


def progress_text(iterate: Iterate, elapsed: float) -> str:
    """Return the line: the rate counts computing time, the time left assumes equally long phases."""
    record = iterate.record
    parts = []
    if 0 < iterate.fraction < 1:
        parts.append(f"{100 * iterate.fraction:.0f} %")
        parts.append(f"ETA {elapsed * (1 - iterate.fraction) / iterate.fraction:.0f} s")
    parts.append(f"iteration {record.iteration}")
    if record.objective == DEPTHS:
        parts.append(f"energy {record.value:.5f}")
    elif record.value > 0:
        parts.append(f"log10 loss {math.log10(record.value):.5f}")
    if record.seconds > 0:
        parts.append(f"{record.iteration / record.seconds:.0f} it/s")
    return "  ".join([*parts, phase_text(iterate.phase)])


def duration_text(seconds: float) -> str:
    """Return a duration in the unit that suits it.

    >>> duration_text(35.2), duration_text(200), duration_text(9000), duration_text(1e6)
    ('35 s', '3 min', '2.5 h', '11.6 days')
    """
    for size, larger, unit, digits in ((1, 60, "s", 0), (60, 3600, "min", 0), (3600, 86400, "h", 1)):
        if seconds < 2 * larger:
            return f"{seconds / size:.{digits}f} {unit}"
    return f"{seconds / 86400:.1f} days"


def jobs_progress_text(now: JobsProgress) -> str:
    """Return the line of progress of many jobs."""
    parts = [f"{now.done} of {now.total}"]
    if now.failed:
        parts.append(f"{now.failed} failed")
    if now.seconds_left is not None:
        parts += [f"{100 * now.fraction:.0f} %", f"ETA {duration_text(now.seconds_left)}"]
    return "  ".join([*parts, now.label])


def summary_of(result: Result) -> dict[str, Any]:
    """Return the numbers of a run, ready for JSON."""
    meta, matrix = result.meta, result.intrinsics
    starts = meta.get("starts", [])
    K = {name: float(matrix[place]) for name, place in INTRINSICS.items()}
    verdicts = meta.get("verdicts", [])
    ended = meta.get("refinement") and meta.get("status") != "stopped"  # only then it is known
    return {
        "answer": worth_of([verdict["kind"] for verdict in verdicts]) if ended else None,
        **{name: getattr(result, name) for name in ("loss", "rank", "iterations", "seconds")},
        "log10_loss": result.log_loss,
        "status": meta.get("status", ""),
        "rotations": meta.get("rotations", ""),
        "starts": starts,
        "intrinsics": {"camera": result.camera.value, **K, **(meta.get("intrinsics") or {})},
        "remarks": meta.get("remarks", []),
        "starts_agreed": sum(bool(start["agrees"]) for start in starts),
        **{name: meta.get(name) for name in ("low_rank", "refinement", "scale")},
        "verdicts": verdicts,
        "errors": errors_of(result),
        "units": meta.get("units", "px"),
        "truth_units": meta.get("truth_units", "mm"),
    }


def error_lines(errors: Mapping[str, float], units: str, truth_units: str, alignment: str = "") -> list[str]:
    """Return the errors as lines with their units and what they mean; `alignment` is the name of one's."""
    names = ERROR_NAMES | {"aligned_mm": ("", "mm", f"mean 3-D error, {alignment}")}
    lines = []
    for name, value in errors.items():
        _, kind, text = names.get(name) or ("", "", (METRICS[name].__doc__ or "").partition("\n")[0])
        unit = {"mm": truth_units, "px": units}.get(kind, "")
        lines.append(f"{name:26} {value:.5g} {unit}".rstrip().ljust(46) + text)
    return lines


def as_lines(summary: Mapping[str, Any]) -> list[str]:
    """Return the summary of a run as lines of text."""
    loss = f"log10 loss {summary['log10_loss']:.6f} (loss {summary['loss']:.10g}), rank {summary['rank']}"
    lines = [f"{summary['status']} after {summary['iterations']} iterations, {summary['seconds']:.2f} s"]
    if summary["refinement"]:
        energy = refinement_lines(summary["refinement"], summary["units"])
        answer = [f"answer: {summary['answer']}"] if summary["answer"] else []
        lines = [*answer, *energy, *lines, f"its start: {loss}"]
    else:
        lines.insert(0, loss)
    if summary["rotations"]:
        lines.append(f"rotations: {summary['rotations']}")
    if summary["scale"]:
        lines.append("one calibrated unit is {factor:.6g} {unit} ({rule})".format(**summary["scale"]))
    lines += [f"note: {remark}" for remark in summary["remarks"]]
    lines += start_lines(summary["starts"])
    if summary["low_rank"]:
        lines += low_rank_lines(summary["low_rank"], summary["units"])
    lines += [f"note: {verdict['sentence']}" for verdict in summary["verdicts"]]
    lines += error_lines(summary["errors"], summary["units"], summary["truth_units"])
    lines += [f"wrote {path}" for path in summary["output"]]
    return lines


def start_lines(starts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for every start that was followed to its end, and one for all others."""
    ended = [start for start in starts if not start.get("note")]
    lines = []
    for start in ended:
        agrees = "agrees" if start["agrees"] else "higher"
        lines.append(f"start {start['name']}: loss {start['loss']:.10g}, {agrees}")
    joined = sum(start.get("note", "").startswith("joined") for start in starts)
    if len(starts) > len(ended):
        agreed = sum(bool(start["agrees"]) for start in starts)
        lines.append(
            f"{joined} more starts joined others before their end, {len(starts) - len(ended) - joined} were "
            f"given up; {agreed} of {len(starts)} agree on the lowest loss"
        )
    return lines


def low_rank_lines(figures: Mapping[str, Any], units: str) -> list[str]:
    """Return the lines of a low-rank solution: how its cameras fit, and how it was upgraded to metric."""
    lines = [f"projective cameras: reprojection {figures['projective_rms']:.4g} {units} root mean square"]
    if figures["metric"]:
        adjusted = "upgraded_rms" in figures
        lines.append(
            f"metric view{', bundle adjusted' if adjusted else ''}: reprojection {figures['metric_rms']:.4g} "
            f"{units}, {figures['in_front']:.1%} of the observations in front of their camera; "
            f"{figures['assumed']}"
        )
        if adjusted and figures["upgraded_rms"] is not None:
            lines.append(f"metric upgrade alone: reprojection {figures['upgraded_rms']:.4g} {units}")
    if "reason" in figures:
        lines.append(("" if figures["metric"] else "no metric view: ") + figures["reason"])
    return lines


def refinement_lines(figures: Mapping[str, Any], units: str) -> list[str]:
    """Return the lines of the energy of the depths: its value, its parameters, and how its starts ended."""
    noise = f"noise {figures['noise_px']:.3g} {units}, " if figures["noise_px"] is not None else ""
    weights = ", ".join(f"{weight:g}" for weight in figures["mode_weights"])
    share = figures["length_share"]
    lighter = f" times {share:.2g}, since lengths do not stay" if share < 1 else ""
    lines = [
        f"energy of the depths {figures['energy']:.8g} per point and frame, {noise}isometry "
        f"{figures['isometry']:g}{lighter}, smallest movement {figures['smallest_movement']:g}, "
        f"{figures['neighbors']} neighbors, mode weights {weights}"
    ]
    ends = figures["ends"] if len(figures["ends"]) > 1 else []
    for end in ends:
        apart = 100 * end["distance"]
        words = (
            f"energy {end['excess']:.2g} higher, {apart:.2g} % of the object apart"
            if apart
            else "the lowest energy"
        )
        lines.append(f"end of {end['name']}: {words}")
    return lines


def as_json(summary: Mapping[str, Any]) -> str:
    """Return one JSON object on one line; what is not a finite number is null."""
    return json.dumps(_plain(summary), allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
