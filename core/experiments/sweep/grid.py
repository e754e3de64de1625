"""The values of a sweep as text: lists, ranges, seeds, and a share of the runs."""

from __future__ import annotations

import re

import numpy as np

from ...foundation.exceptions import InputError

MOST_VALUES = 100_000  # of one name
_PART = re.compile(r"\[[^\[\]]*\]|[^,\[\]]+")  # one value: in brackets with commas, else without
ACCEPTED_VALUES = "A,B,... , log:FIRST:LAST:COUNT, lin:FIRST:LAST:COUNT, and [A,B] for a value with commas"


def parse_values(text: str, *, whole: bool = False) -> tuple[str, ...]:
    """Return the values that a text lists, each as an option of the command line accepts it.

    Raises InputError where the text lists nothing, or a range is none.

    >>> parse_values("2,4,6"), parse_values("log:2:32:5", whole=True)
    (('2', '4', '6'), ('2', '4', '8', '16', '32'))
    >>> parse_values("[1,2],[3,4]")
    ('1,2', '3,4')
    """
    parts = _PART.findall(text)
    if not parts or ",".join(parts) != text:
        raise InputError(f"{text!r} lists no values; accepted are {ACCEPTED_VALUES}")
    values: list[str] = []
    for part in parts:
        if part.startswith("["):
            values.append(part[1:-1].strip())
        elif part.startswith(("log:", "lin:")):
            values += _range(part, whole=whole)
        else:
            values.append(part.strip())
    if not all(values):
        raise InputError(f"{text!r} has an empty value; accepted are {ACCEPTED_VALUES}")
    return tuple(dict.fromkeys(values))


def _range(text: str, *, whole: bool) -> list[str]:
    kind, *numbers = text.split(":")
    try:
        first, last, count = float(numbers[0]), float(numbers[1]), int(numbers[2])
    except (ValueError, IndexError):
        raise _not_a_range(text) from None
    if len(numbers) != 3 or not 2 <= count <= MOST_VALUES or not np.isfinite([first, last]).all():
        raise _not_a_range(text)
    if kind == "log" and not (first > 0 and last > 0):
        raise InputError(f"{text!r} begins or ends at 0 or below; a range of ratios is above 0")
    spaced = np.geomspace if kind == "log" else np.linspace
    values = spaced(first, last, count)
    return [f"{value:.0f}" if whole else f"{value:.6g}" for value in values]


def _not_a_range(text: str) -> InputError:
    return InputError(
        f"{text!r} is no range; accepted are log:FIRST:LAST:COUNT and lin:FIRST:LAST:COUNT, with 2 to "
        f"{MOST_VALUES} values"
    )


def parse_seeds(text: str) -> tuple[str, ...]:
    """Return the seeds that a text names: "0:5" are 0 to 4, "1,7" those two.

    Raises InputError where it names none.

    >>> parse_seeds("0:3"), parse_seeds("4,2")
    (('0', '1', '2'), ('4', '2'))
    """
    found = re.fullmatch(r"(\d{1,9}):(\d{1,9})", text)
    if found is not None:
        seeds = range(int(found[1]), int(found[2]))
    elif re.fullmatch(r"\d{1,9}(,\d{1,9})*", text):
        return tuple(dict.fromkeys(str(int(seed)) for seed in text.split(",")))
    if found is None or not 0 < len(seeds) <= MOST_VALUES:
        raise InputError(
            f"--seeds is {text!r}; accepted are FIRST:END, such as 0:5 for 0 to 4, or seeds with commas "
            "between them"
        )
    return tuple(str(seed) for seed in seeds)


def parse_shard(text: str) -> tuple[int, int]:
    """Return k and n of "k/n", the k-th of n shares of the runs.

    Raises InputError where it is none.

    >>> parse_shard("3/8")
    (3, 8)
    """
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    k, n = (0, 0) if found is None else (int(found[1]), int(found[2]))
    if not 1 <= k <= n:
        raise InputError(f"--shard is {text!r}; accepted is k/n, with k from 1 to n, such as 1/8")
    return k, n
