"""The filter of the runs of a sweep: words, and comparisons of settings and numbers with values."""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from nrsfm_gui.model.numbers import MINUS, NONE
from nrsfm_gui.text.sweep_rows import FAILURE, STATUS, SweepColumn, number_names, setting_text, shortened

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.foundation import Bools, Floats
    from nrsfm_gui.text.sweep_rows import SweepRows

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le, ">=": operator.ge, "!=": operator.ne, "<": operator.lt, ">": operator.gt,
    "=": operator.eq,
}  # fmt: skip
CLOSE = 1e-6  # relative difference of numbers that are equal as written
LONGEST_NAME = 40  # characters of a name in a sentence
EXAMPLE = 'such as "rank=4"'
MOST_WORDS = 8  # of a heading
SEQUENCE = ("object", "camera", "path")
_SIGN = re.compile(r"\s*(<=|>=|!=|<|>|=)\s*")
# A value, or several with commas; a space may follow a comma where another number comes.
_VALUE = re.compile(r"\S+(?:(?<=,)\s+[-+]?[\d.]\S*(?=\s|$))*")
_UNIT = re.compile(r"\s*\([^()]*\)$")


@dataclass(frozen=True, eq=False)
class FilterResult:
    """The runs that a filter keeps; R runs."""

    kept: Bools  # (R,)
    problem: str  # why a part of the pattern cannot be understood, "" where all of it can


def apply_filter(rows: SweepRows, pattern: str) -> FilterResult:
    """Return which runs a filter keeps.

    Parameters
    ----------
    rows
        of a sweep.
    pattern
        words with spaces between them, all of which a run has: a text that one of its settings, its status or
        its failure contains, or a comparison of a setting or number with a value, such as rank=4,
        3-D error < 2 or rank=3,4. A number equals a value to the digits of the value.

    Returns
    -------
    FilterResult
        a comparison without a value keeps every run, one with an unknown name or value none.
    """
    kept: Bools = np.ones(len(rows), dtype=bool)
    problems: list[str] = []
    first, *rest = _SIGN.split(pattern.strip())
    words = first.split()
    for sign, text in zip(rest[::2], rest[1::2], strict=True):
        column, others = _named(rows, words)
        found = _VALUE.match(text)
        name = shortened(words[-1] if words else "", LONGEST_NAME)
        for word in others:
            kept &= _containing(rows, word)
        words = text[found.end() :].split() if found else []
        if not name:
            problems.append(f"No name before {sign}, {EXAMPLE}")
        elif column is None:
            problems.append(f"No column {name}{_suggestion(rows, name)}")
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
        contained = _containing(rows, word)
        if not contained.any() and len(rows) and find_column(rows, word) is not None:
            problems.append(f"No value after {shortened(word, LONGEST_NAME)}, {EXAMPLE}")
        else:
            kept &= contained
    return FilterResult(kept, next(iter(problems), ""))


def filter_example(rows: SweepRows) -> str:
    """Return a filter of settings and numbers of a sweep that keeps at least one run, "" without a run."""
    number = next(iter(number_names(rows.sweep)), "")
    numbers = None if not number else rows.column(number)
    known = np.zeros(0) if numbers is None else numbers.numbers[np.isfinite(numbers.numbers)]
    if not len(rows):
        return ""
    best = 0
    parts = []
    if numbers is not None and known.size:
        best = int(np.nanargmin(numbers.numbers))
        parts.append(f"{numbers.title}<{_above(float(np.median(known)))}")
    for column in rows.columns:
        text = column.text(best)
        if column.name in rows.sweep.varied and text != NONE and len(text.split()) == 1 and "," not in text:
            parts.insert(0, f"{column.name}={text}")
            break
    return " ".join((*parts, *setting_text(rows.sweep.rows[best][STATUS]).split()[:1]))


def find_column(rows: SweepRows, name: str) -> SweepColumn | None:
    """Return a column by its heading, its name or words of its heading, also a setting that all runs share.

    Parameters
    ----------
    rows
        of a sweep.
    name
        the unit, capitals, hyphens and underscores do not matter.

    Returns
    -------
    SweepColumn or None
        None where there is none; of several with these words the one with the shortest heading.
    """
    wanted = _plain(name)
    if not wanted:
        return None
    for column in rows.columns:
        if wanted == _plain(column.title) or (wanted == _plain(column.name) and column.name != FAILURE):
            return column
    shared = next((each for each in _shared_names(rows) if _plain(each) == wanted), None)
    if shared is not None:
        return _shared_column(rows, shared)
    partly = [column for column in rows.columns if f" {wanted} " in f" {_plain(column.title)} "]
    return min(partly, key=lambda column: len(column.title), default=None)


def _named(rows: SweepRows, words: list[str]) -> tuple[SweepColumn | None, list[str]]:
    """Return the column that the last words name, as many of them as possible, and the words before."""
    for start in range(max(len(words) - MOST_WORDS, 0), len(words)):
        column = find_column(rows, " ".join(words[start:]))
        if column is not None:
            return column, words[:start]
    return None, words[:-1]


def _plain(name: str) -> str:
    return " ".join(re.split(r"[\s,_-]+", _UNIT.sub("", name.casefold()))).strip()


def _shared_names(rows: SweepRows) -> list[str]:
    sweep = rows.sweep
    if not sweep.rows:
        return []
    return [name for name in (*SEQUENCE, *sweep.settings) if name not in sweep.varied]


def _shared_column(rows: SweepRows, name: str) -> SweepColumn:
    """Return the column of a setting that all runs share."""
    value, count = rows.sweep.rows[0][name], len(rows)
    number = float(value) if isinstance(value, int | float) else np.nan
    codes = np.zeros(count, dtype=int)
    return SweepColumn(name, name, "", "", np.full(count, number), (setting_text(value),), codes)


def _suggestion(rows: SweepRows, name: str) -> str:
    names = {_plain(each): each for each in (*_shared_names(rows), *(c.title for c in rows.columns))}
    close = get_close_matches(_plain(name), names, n=1)
    return f"; {shortened(names[close[0]], LONGEST_NAME)}?" if close else ""


def _compared(column: SweepColumn, sign: str, text: str) -> Bools:
    """Return the runs that have the value, one of several values, or a number on one side of it."""
    if sign not in ("=", "!="):
        return _ordered(column, sign, text.rstrip(","))
    values = [value for value in re.split(r",\s*", text) if value]
    found = np.logical_or.reduce([_equal(column, value) for value in values or [text]])
    return np.asarray(found if sign == "=" else ~found)


def _ordered(column: SweepColumn, sign: str, text: str) -> Bools:
    value = _number(column, text)
    if value is not None:
        return np.asarray(COMPARISONS[sign](column.numbers, value))
    if column.labels is None or column.codes is None:
        raise ValueError(_no_number(column, text))
    kept = [COMPARISONS[sign](label.casefold(), text.casefold()) for label in column.labels]
    return np.asarray(np.array(kept, dtype=bool)[column.codes])


def _equal(column: SweepColumn, text: str) -> Bools:
    value = _number(column, text)
    if value is not None:
        exact = np.isclose(column.numbers, value, rtol=CLOSE, atol=0.0)
        return exact if exact.any() else _rounded(column.numbers, value, _digits(text))
    if column.labels is None or column.codes is None:
        if text in (NONE, "-"):
            return np.isnan(column.numbers)
        raise ValueError(_no_number(column, text))
    kept = np.array([label.casefold() == text.casefold() for label in column.labels], dtype=bool)
    if not kept.any() and np.isfinite(column.numbers).all():
        raise ValueError(_no_number(column, text))
    return np.asarray(kept[column.codes])


def _number(column: SweepColumn, text: str) -> float | None:
    """Return the number of a text, which may have the unit of the column, None where it is none."""
    plain = text.casefold().removesuffix(column.unit.casefold()).replace(MINUS, "-")
    try:
        value = float(plain)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _no_number(column: SweepColumn, text: str) -> str:
    return f"{shortened(column.title, LONGEST_NAME)}: {shortened(text, LONGEST_NAME)} is no number"


def _digits(text: str) -> int:
    """Return how many significant digits a number is written with."""
    mantissa = re.split("[eE]", text)[0]
    return max(len(re.sub(r"\D", "", mantissa).lstrip("0")), 1)


def _rounded(numbers: Floats, value: float, digits: int) -> Bools:
    """Return which numbers are a value when they are rounded to its digits."""
    with np.errstate(all="ignore"):
        step = 10.0 ** (np.floor(np.log10(np.abs(numbers))) - digits + 1)
        return np.isclose(np.round(numbers / step) * step, value, rtol=CLOSE, atol=0.0)


def _above(value: float) -> str:
    """Return the next number of two digits above a value."""
    if value == 0.0 or not math.isfinite(value):
        return "1"
    step = 10.0 ** (math.floor(math.log10(abs(value))) - 1)
    return f"{(math.floor(value / step) + 1) * step:.3g}"


def _containing(rows: SweepRows, word: str) -> Bools:
    """Return the runs of which a text contains a word; of shared settings only texts are looked at."""
    folded = word.casefold()
    found: Bools = np.zeros(len(rows), dtype=bool)
    for column in rows.columns:
        if column.labels is not None and column.codes is not None and len(rows):
            found |= np.array([folded in label.casefold() for label in column.labels])[column.codes]
    for name in _shared_names(rows):
        value = rows.sweep.rows[0][name]
        if isinstance(value, str) and folded in value.casefold():
            found |= True
    return found
