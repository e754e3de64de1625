"""Dataclasses as JSON and back, by their annotations."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import numpy as np
import pytest

from core import InputError
from core.foundation import Records, check_shapes


class Color(Enum):
    RED = "red"


@dataclass(frozen=True)
class Part:
    name: str
    place: tuple[float, float] | None = None
    later: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.later and min(self.later) < 0:
            raise InputError("later counts from 0")


@dataclass(frozen=True)
class Whole:
    parts: tuple[Part, ...]
    color: Color
    file: Path | None
    named: str | Path
    flag: bool
    layers: frozenset[str]
    limits: dict[str, float]
    secret: object = None


RECORDS = Records(left_out={Whole: ("secret",)})
WHOLE = Whole(
    (Part("a", (0.1, 1 / 3), (2,)), Part("b")),
    Color.RED,
    Path("x y"),
    "best",
    True,
    frozenset("ba"),
    {"low": 0.5},
)


def test_what_is_written_is_read():
    written = json.loads(json.dumps(RECORDS.write(WHOLE)))
    assert RECORDS.read(Whole, written, "") == WHOLE
    assert "secret" not in written and written["layers"] == ["a", "b"]
    assert isinstance(RECORDS.read(Whole, written, "").file, Path)


@pytest.mark.parametrize(
    ("way", "value", "sentence"),
    [
        (("parts",), "ab", "parts is 'ab'; accepted is a list"),
        (("parts", 0), 3, r"parts\[0\] is 3; accepted is an object"),
        (("parts", 0, "name"), 3, r"parts\[0\].name is 3; accepted is a text"),
        (("parts", 0, "place"), [1.0], r"place is \[1.0\]; accepted is 2 values"),
        (("parts", 0, "place"), [1.0, "2"], r"place\[1\] is '2'; accepted is a number"),
        (("parts", 0, "later"), [1.5], r"later\[0\] is 1.5; accepted is a whole number"),
        (("parts", 0, "later"), [-1], r"parts\[0\]: later counts from 0"),
        (("parts", 0, "later"), [10**400], "accepted is a whole number"),
        (("parts", 0, "more"), 1, r"parts\[0\] holds 'more'; accepted are name, place, later"),
        (("color",), "blue", "color is 'blue'; accepted is one of red"),
        (("file",), "", "file is ''; accepted is a path"),
        (("flag",), 1, "flag is 1; accepted is true or false"),
        (("limits",), {"low": None}, "limits.low is None; accepted is a number"),
        (("flag",), KeyError, "it lacks 'flag'"),
    ],
)
def test_what_is_of_another_kind_is_refused_with_its_place(way, value, sentence):
    written = place = json.loads(json.dumps(RECORDS.write(WHOLE)))
    for key in way[:-1]:
        place = place[key]
    if value is KeyError:
        del place[way[-1]]
    else:
        place[way[-1]] = value
    with pytest.raises(InputError, match=sentence):
        RECORDS.read(Whole, written, "")


def test_texts_are_escaped_where_they_cannot_be_printed():
    assert RECORDS.read(Part, {"name": "a\x1b[31m\nb"}, "").name == "a\\x1b[31m\nb"
    assert len(RECORDS.read(Part, {"name": "x" * 10_000}, "").name) < 2100


def test_sizes_of_arrays_must_agree():
    shapes = {"tracks": ("F", 2, "P"), "C": ("3P", "K")}
    check_shapes(shapes, {"tracks": np.zeros((4, 2, 5)), "C": np.zeros((15, 2))}, {}, "a.npz")
    with pytest.raises(
        InputError, match=r"a.npz: C has shape \(14, 2\); accepted is \(3P, K\), here \(15, 2\)"
    ):
        check_shapes(shapes, {"tracks": np.zeros((4, 2, 5)), "C": np.zeros((14, 2))}, {}, "a.npz")
    with pytest.raises(InputError, match=r"here \(3, 2, 5\)"):
        check_shapes(shapes, {"tracks": np.zeros((4, 2, 5))}, {"F": 3}, "a.npz")
