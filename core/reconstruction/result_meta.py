"""What the entries of `Result.meta` are, and the check of those that a file holds."""

from __future__ import annotations

from typing import Any, TypedDict

from ..cameras.intrinsics import IntrinsicsOrigin
from ..data.sequence import FRAME_RATES
from ..foundation.exceptions import LONGEST_SENTENCE, InputError, printable_name
from ..problem.robust import RobustLoss
from .provenance import RECORDS
from .verdicts import Verdict

LARGEST_NUMBER = 1e50
# Entries that are used as they are: paths, values of settings, and code of several lines.
EXACT = frozenset("source start video command python settings steps reading versions".split())


class LowRankView(TypedDict, total=False):
    """How the metric view of a low-rank solution was found."""

    metric: bool
    metric_rms: float | None
    projective_rms: float | None
    reason: str


class Refinement(TypedDict, total=False):
    """What is known of a refinement; its energies and ends are free."""

    noise_px: float


class KnownScale(TypedDict, total=False):
    """Units of length per calibrated unit."""

    rule: str
    factor: float
    unit: str


class EndedStart(TypedDict, total=False):
    """How a start of the search ended."""

    name: str
    loss: float
    agrees: bool
    note: str


class ResultMeta(TypedDict, total=False):
    """The entries of `meta` that the program writes; those with other names are free."""

    name: str
    method: str
    digest: str
    content: str
    provenance: str
    command: str
    python: str
    units: str
    truth_units: str
    truth_name: str
    status: str
    rotations: str
    start: str
    preset: str | None
    source: str | None
    video: str | None
    seconds: float
    iterations: int
    frame_rate: float | None
    image_size: list[int] | None
    video_frames: list[int] | None
    point_names: list[str] | None
    remarks: list[str]
    settings: dict[str, Any]
    phase: dict[str, Any]
    phases: list[tuple[int, dict[str, Any]]]
    versions: dict[str, Any]
    reading: dict[str, Any]
    starts: list[EndedStart]
    verdicts: list[Verdict]
    steps: list[dict[str, Any]]
    robust: RobustLoss
    intrinsics: IntrinsicsOrigin | None
    low_rank: LowRankView | None
    refinement: Refinement | None
    scale: KnownScale
    upright: str


def checked_meta(values: dict[str, Any]) -> dict[str, Any]:
    """Return the entries with texts that can be printed: names, units and sentences of a file.

    Raises InputError naming an entry of another kind than the program writes.
    """
    RECORDS.read(ResultMeta, values, "meta")
    any_number = 0.0, LARGEST_NUMBER
    scale, refinement = values.get("scale", {}), values.get("refinement") or {}
    ranges: list[tuple[str, Any, tuple[float, float]]] = [
        ("frame_rate", values.get("frame_rate"), FRAME_RATES),
        ("scale.factor", scale.get("factor"), (1 / LARGEST_NUMBER, LARGEST_NUMBER)),
        ("refinement.noise_px", refinement.get("noise_px"), any_number),
        ("seconds", values.get("seconds"), any_number),
        ("iterations", values.get("iterations"), any_number),
    ]
    for name in ("image_size", "video_frames"):
        ranges += [(f"{name}[{i}]", each, any_number) for i, each in enumerate(values.get(name) or ())]
    for name, value, (least, most) in ranges:
        if value is not None and not least <= value <= most:
            raise InputError(f"meta.{name} is {value}; accepted are {least:g} to {most:g}")
    return {name: value if name in EXACT else _printable(value) for name, value in values.items()}


def _printable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _printable(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_printable(each) for each in value]
    return printable_name(value, LONGEST_SENTENCE) if isinstance(value, str) else value
