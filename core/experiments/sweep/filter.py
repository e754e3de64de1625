"""The filter of the runs of a sweep: words, and comparisons of settings and numbers with values."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from ...foundation import Bools, Floats, InputError
from ...io.files.variables import shortened
from .frame import FAILURE, MISSING, RunColumn, Sweep

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le, ">=": operator.ge, "!=": operator.ne, "<": operator.lt, ">": operator.gt,
    "=": operator.eq,
}  # fmt: skip
CLOSE = 1e-6  # relative difference of numbers that are equal as written
EXAMPLE = 'such as "rank=4"'
MOST_WORDS = 8  # of a heading
VERSION = "version"
SHARED = ("object", "camera", "path", VERSION)  # besides settings
MINUS = "−"  # as the window writes numbers
_SIGN = re.compile(r"\s*(<=|>=|!=|<|>|=)\s*")
# A value, or several with commas; a space may follow a comma where another number comes.
_VALUE = re.compile(r"\S+(?:(?<=,)\s+[-+]?[\d.]\S*(?=\s|$))*")
_UNIT = re.compile(r"\s*\([^()]*\)$")


@dataclass(frozen=True, eq=False)
class FilterResult:
    """The runs that a filter keeps; R runs."""

    kept: Bools  # (R,)
    problem: str  # why a part of the pattern cannot be understood, "" where all of it can


def apply_filter(sweep: Sweep, pattern: str) -> FilterResult:
    """Return which runs a filter keeps."""
    kept: Bools = np.ones(len(sweep), dtype=bool)
    problems: list[str] = []
    first, *rest = _SIGN.split(pattern.strip())
    words = first.split()
    for sign, text in zip(rest[::2], rest[1::2], strict=True):
        column, others = _named(sweep, words)
        found = _VALUE.match(text)
        name = shortened(words[-1] if words else "")
        for word in others:
            kept &= _containing(sweep, word)
        words = text[found.end() :].split() if found else []
        if not name:
            problems.append(f"No name before {sign}, {EXAMPLE}")
        elif column is None:
            problems.append(f"No column {name}{_suggestion(sweep, name)}")
            kept &= False
        elif found is None:
            problems.append(f"No value after {name} {sign}")
        else:
            if words and column.unit and words[0].strip("()") == column.unit:
                words = words[1:]
            try:
                kept &= _compared(column, sign, found[0])
            except ValueError as refusal:
                problems.append(str(refusal))
                kept &= False
    for word in words:
        contained = _containing(sweep, word)
        if not contained.any() and len(sweep) and find_column(sweep, word) is not None:
            problems.append(f"No value after {shortened(word)}, {EXAMPLE}")
        else:
            kept &= contained
    return FilterResult(kept, next(iter(problems), ""))


def filtered(sweep: Sweep, pattern: str) -> Sweep:
    """Return a sweep with the runs that a filter keeps. Raises InputError where there are none."""
    found = apply_filter(sweep, pattern)
    if found.problem:
        raise InputError(f"the filter is {pattern!r}: {found.problem}")
    if not found.kept.any():
        raise InputError(f"the filter is {pattern!r}, which none of the {len(sweep)} runs matches")
    return replace(sweep, runs=sweep.runs[found.kept].reset_index(drop=True))


def find_column(sweep: Sweep, name: str) -> RunColumn | None:
    """Return a column by its heading, its name or words of its heading, also a setting that all runs share.

    The unit, capitals, hyphens and underscores do not matter; of several with these words the one with the
    shortest heading.
    """
    wanted = _plain(name)
    if not wanted:
        return None
    for column in sweep.columns:
        if wanted == _plain(column.title) or (wanted == _plain(column.name) and column.name != FAILURE):
            return column
    shared = next((each for each in _shared_names(sweep) if _plain(each) == wanted), None)
    if shared is not None:
        return sweep.setting(shared)
    partly = [column for column in sweep.columns if f" {wanted} " in f" {_plain(column.title)} "]
    return min(partly, key=lambda column: len(column.title), default=None)


def _named(sweep: Sweep, words: list[str]) -> tuple[RunColumn | None, list[str]]:
    """Return the column that the last words name, as many of them as possible, and the words before."""
    for start in range(max(len(words) - MOST_WORDS, 0), len(words)):
        column = find_column(sweep, " ".join(words[start:]))
        if column is not None:
            return column, words[:start]
    return None, words[:-1]


def _plain(name: str) -> str:
    return " ".join(re.split(r"[\s,_-]+", _UNIT.sub("", name.casefold()))).strip()


def _shared_names(sweep: Sweep) -> list[str]:
    if not len(sweep):
        return []
    return [name for name in (*SHARED, *sweep.settings) if name not in sweep.varied]


def _suggestion(sweep: Sweep, name: str) -> str:
    names = {_plain(each): each for each in (*_shared_names(sweep), *(c.title for c in sweep.columns))}
    close = get_close_matches(_plain(name), names, n=1)
    return f"; {shortened(names[close[0]])}?" if close else ""


def _compared(column: RunColumn, sign: str, text: str) -> Bools:
    """Return the runs that have the value, one of several values, or a number on one side of it."""
    if sign not in ("=", "!="):
        return _ordered(column, sign, text.rstrip(","))
    values = [value for value in re.split(r",\s*", text) if value]
    found = np.logical_or.reduce([_equal(column, value) for value in values or [text]])
    return np.asarray(found if sign == "=" else ~found)


def _ordered(column: RunColumn, sign: str, text: str) -> Bools:
    value = _number(column, text)
    if value is not None and (column.codes is None or np.isfinite(column.numbers).any()):
        return np.asarray(COMPARISONS[sign](column.numbers, value))
    found = column.matching(lambda label: COMPARISONS[sign](label.casefold(), text.casefold()))
    if found is None:
        raise ValueError(_no_number(column, text))
    return found


def _equal(column: RunColumn, text: str) -> Bools:
    value = _number(column, text)
    # The runs whose text it is; that of an object may be a number, too.
    named = column.matching(lambda label: label.casefold() == text.casefold())
    if value is not None:
        exact = np.isclose(column.numbers, value, rtol=CLOSE, atol=0.0)
        if named is not None:
            exact |= named
        return exact if exact.any() else _rounded(column.numbers, value, text)
    if named is None and text in (MISSING, "-"):
        return np.isnan(column.numbers)
    if named is None or (not named.any() and np.isfinite(column.numbers).all()):
        raise ValueError(_no_number(column, text))
    return named


def _number(column: RunColumn, text: str) -> float | None:
    """Return the number of a text, which may have the unit of the column, None where it is none."""
    plain = text.casefold().removesuffix(column.unit.casefold()).replace(MINUS, "-")
    try:
        value = float(plain)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _no_number(column: RunColumn, text: str) -> str:
    return f"{shortened(column.title)}: {shortened(text)} is no number"


def _rounded(numbers: Floats, value: float, text: str) -> Bools:
    """Return which numbers are a value when they are rounded to the significant digits of its text."""
    mantissa = re.split("[eE]", text)[0]
    digits = max(len(re.sub(r"\D", "", mantissa).lstrip("0")), 1)
    with np.errstate(all="ignore"):
        step = 10.0 ** (np.floor(np.log10(np.abs(numbers))) - digits + 1)
        return np.isclose(np.round(numbers / step) * step, value, rtol=CLOSE, atol=0.0)


def _containing(sweep: Sweep, word: str) -> Bools:
    """Return the runs of which a text contains a word; of shared settings only texts are looked at."""
    folded = word.casefold()
    found: Bools = np.zeros(len(sweep), dtype=bool)
    for column in sweep.columns:
        contained = column.matching(lambda label: folded in label.casefold())
        if contained is not None:
            found |= contained
    for name in _shared_names(sweep):
        value = sweep.runs[name].iat[0]
        if name != VERSION and isinstance(value, str) and folded in value.casefold():
            found |= True
    return found
