"""What is said about a result: its loss, how it was reached, and its errors, each by its name."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from ..evaluation.result_errors import errors_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..reconstruction.result import Result


def summary_of(result: Result) -> dict[str, Any]:
    """Return the numbers of a run, ready for JSON."""
    meta = result.meta
    starts = meta.get("starts", [])
    return {
        "loss": result.loss,
        "log10_loss": result.log_loss,
        "rank": result.rank,
        "iterations": result.iterations,
        "seconds": result.seconds,
        "status": meta.get("status", ""),
        "rotations": meta.get("rotations", ""),
        "starts": starts,
        "remarks": meta.get("remarks", []),
        "starts_agreed": sum(bool(start["agrees"]) for start in starts),
        "low_rank": meta.get("low_rank"),
        "errors": errors_of(result),
        "units": meta.get("units", "px"),
        "truth_units": meta.get("truth_units", "mm"),
    }


def error_lines(errors: Mapping[str, float], units: str, truth_units: str, alignment: str = "") -> list[str]:
    """Return the errors as lines with their units and what they mean; `alignment` is the name of one's."""
    meaning = {
        "procrustes_mm": (truth_units, "mean 3-D error, per-frame similarity"),
        "procrustes_mm_reference": (truth_units, "the same at the reference frame"),
        "procrustes_mm_mirror": (truth_units, "mean 3-D error, per-frame similarity, mirror allowed"),
        "aligned_mm": (truth_units, f"mean 3-D error, {alignment}"),
        "challenge_v02": (truth_units, "NRSfM Challenge score 0.2 of the reference frame"),
        "e3d_global": ("", "camera frame, one orthogonal alignment, relative to the spread of the truth"),
        "frobenius_relative": ("", "camera frame, relative to the size of the truth"),
        "reprojection_px": (units, "root mean square reprojection error"),
    }
    lines = []
    for name, value in errors.items():
        unit, words = meaning[name]
        lines.append(f"{name:24} {value:.5g} {unit}".rstrip().ljust(44) + words)
    return lines


def as_lines(summary: Mapping[str, Any]) -> list[str]:
    """Return the summary of a run for people."""
    lines = [
        f"log10 loss {summary['log10_loss']:.6f} (loss {summary['loss']:.10g}), rank {summary['rank']}",
        f"{summary['status']} after {summary['iterations']} iterations, {summary['seconds']:.2f} s",
    ]
    if summary["rotations"]:
        lines.append(f"rotations: {summary['rotations']}")
    lines += [f"note: {remark}" for remark in summary["remarks"]]
    lines += start_lines(summary["starts"])
    if summary["low_rank"]:
        lines += low_rank_lines(summary["low_rank"], summary["units"])
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
            f"{joined} more starts joined others on their way, {len(starts) - len(ended) - joined} were left "
            f"behind; {agreed} of {len(starts)} agree on the lowest loss"
        )
    return lines


def low_rank_lines(figures: Mapping[str, Any], units: str) -> list[str]:
    """Return what is said about a low-rank solution: how its cameras fit, and how it became metric."""
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
