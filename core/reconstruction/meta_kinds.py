"""What the entries of `Result.meta` are, and the check of those that a file holds."""

from __future__ import annotations

from typing import Any

from ..data.sequence import FRAME_RATES
from ..foundation.exceptions import LONGEST_SENTENCE, InputError, printable_name

LARGEST_COUNT = 2**53
LARGEST_NUMBER = 1e50
MOST_SHOWN = 40  # characters of a value in a sentence
# Entries that are used as they are: paths, values of settings, and code of several lines.
EXACT = frozenset("source start video command python settings steps reading versions".split())


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_COUNT


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST_NUMBER


def _positive(value: Any) -> bool:
    return _number(value) and value > 0


def _rate(value: Any) -> bool:
    return _number(value) and FRAME_RATES[0] <= value <= FRAME_RATES[1]


def _float(value: Any) -> bool:
    """Return whether a value is a number, infinite or NaN where nothing was found."""
    return isinstance(value, float) or _number(value)


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


# A check; [the kind of all entries] of a list; {name: kind} of an object, with others or without; (a kind,)
# of what may also be null.
META_KINDS: dict[str, Any] = {
    **dict.fromkeys(("name", "method", "digest", "content", "provenance", "command", "python"), _text),
    **dict.fromkeys(("units", "truth_units", "truth_name", "status", "rotations", "start"), _text),
    **dict.fromkeys(("preset", "source", "video"), (_text,)),
    "seconds": _number,
    "iterations": _count,
    "frame_rate": (_rate,),
    "image_size": ([_count],),
    "video_frames": ([_count],),
    "point_names": ([_text],),
    "remarks": [_text],
    "settings": {},
    "phase": {"kind": _text},
    "versions": {},
    "reading": {},
    "starts": [{"name": _text, "loss": _float, "agrees": _flag, "note": _text}],
    "verdicts": [{"kind": _text, "sentence": _text}],
    "steps": [{"settings": {}}],
    "robust": {"kind": _text, "scale": _positive},
    "intrinsics": ({"source": _text, "remark": _text},),
    "low_rank": ({"metric": _flag, "metric_rms": (_float,), "projective_rms": (_float,), "reason": _text},),
    "refinement": ({"noise_px": _number},),
    "upright": _text,
    "scale": {"rule": _text, "factor": _positive, "unit": _text},
}


def check_meta(meta: dict[str, Any], kinds: dict[str, Any] | None = None, where: str = "meta") -> None:
    """Refuse entries of other kinds than the program writes; those with other names are free.

    Raises InputError naming the entry.
    """
    for name, kind in (META_KINDS if kinds is None else kinds).items():
        if name in meta:
            _check(meta[name], kind, f"{where}.{name}")


def _check(value: Any, kind: Any, where: str) -> None:
    if isinstance(kind, tuple):
        if value is None:
            return
        (kind,) = kind
    if isinstance(kind, list) and isinstance(value, list):
        for number, each in enumerate(value):
            _check(each, kind[0], f"{where}[{number}]")
    elif isinstance(kind, dict) and isinstance(value, dict):
        check_meta(value, kind, where)
    elif isinstance(kind, list | dict) or not kind(value):
        shown = repr(value)[:MOST_SHOWN]
        raise InputError(f"{where} is {shown}; accepted is what the program writes there")


def printable_meta(meta: dict[str, Any]) -> dict[str, Any]:
    """Return the entries with texts that can be printed: names, units and sentences of a file."""
    return {name: value if name in EXACT else _printable(value) for name, value in meta.items()}


def _printable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _printable(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_printable(each) for each in value]
    return printable_name(value, LONGEST_SENTENCE) if isinstance(value, str) else value
