"""Delimited text: a header of one or more rows, then rows of fields between commas, semicolons or tabs."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, field, replace

import numpy as np

from ....foundation.exceptions import InputError
from ....foundation.representation import OneLine
from ....foundation.types import Floats
from ...files.allowance import Allowance
from ...files.contents import reason

SEPARATORS = (",", ";", "\t")
_MISSING = frozenset(("", "nan", "na", "n/a", "null", "none"))  # in small letters
_FLAGS = {"true": 1.0, "false": 0.0}  # as pandas writes them
_FIRST_LINE = re.compile(r"\S[^\r\n]*")
_CHARACTER = 6  # bytes of one in the file, as a text and as what is read from
_FIELD, _ROW = 56, 72  # bytes of a short text and of a list, as objects
MOST_COLUMNS = 50_000  # of which each becomes a variable; 20 000 points have 40 001
_LARGEST_HEADER = 8  # rows; a table of text alone is no header of that many


@dataclass(frozen=True, eq=False)
class Table(OneLine):
    """The fields of a text, as they are written."""

    header: tuple[tuple[str, ...], ...]  # its rows, none where the first row holds numbers
    rows: list[list[str]]
    lines: list[int]  # of each row, from 1
    separator: str
    ends: tuple[int, ...] = ()  # rows at which a part ends: a line of one word and empty fields
    known: dict[int, Floats] = field(default_factory=dict, init=False, repr=False)  # columns of numbers

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts, none where there is only one."""
        count = len(self.ends) + (bool(self.ends) and self.ends[-1] < len(self.rows))
        return tuple(f"part {number}" for number in range(1, count + 1)) if count > 1 else ()

    def part(self, index: int) -> Table:
        """Return one of the parts, counted from 0."""
        inside = slice((0, *self.ends)[index], (*self.ends, len(self.rows))[index])
        return replace(self, rows=self.rows[inside], lines=self.lines[inside], ends=())

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, those of the first row; their numbers from 1 where there is no header."""
        if self.header:
            return self.header[0]
        return tuple(str(number + 1) for number in range(len(self.rows[0]) if self.rows else 0))

    def numbers(self, columns: SequenceOf[int]) -> Floats:
        """Return some columns as numbers (rows, columns), NaN where a field is empty or says so."""
        return np.stack([self._numbers(column) for column in columns], axis=1)

    def _numbers(self, column: int) -> Floats:
        if column not in self.known:
            try:
                values = np.array([float(fields[column]) for fields in self.rows])  # the usual one, fast
            except ValueError:
                numbered = zip(self.rows, self.lines, strict=True)
                values = np.array([self._number(fields, column, line) for fields, line in numbered])
            if np.isinf(values).any():
                raise InputError(f"line {self.lines[int(np.isinf(values).argmax())]} holds an infinity")
            self.known[column] = values
        return self.known[column]

    def _number(self, fields: list[str], column: int, line: int) -> float:
        value = _number(fields[column], self.separator != ",")
        if value is None:
            raise InputError(f"line {line} is {self.separator.join(fields)[:40]!r}; accepted are numbers")
        return value

    def texts(self, column: int) -> list[str]:
        """Return a column as it is written."""
        return [fields[column] for fields in self.rows]


def parse_table(content: bytes) -> Table:
    """Return the fields of a delimited text; the separator is the one that its first line has most of.

    `content`: the bytes of the file, UTF-8 or Latin-1.
    """
    if b"\0" in content:
        raise InputError("holds zero bytes, as a table in UTF-16 does; accepted is a table in UTF-8")
    Allowance(len(content)).check(_CHARACTER * len(content))  # before the text is copied
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    found = _FIRST_LINE.search(text)
    first = "" if found is None else found[0]
    separator = max(SEPARATORS, key=first.count)
    lines_of_text = text.count("\n") + text.count("\r") + 1
    Allowance(len(content)).use(_FIELD * (text.count(separator) + lines_of_text) + _ROW * lines_of_text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    header: list[tuple[str, ...]] = []
    rows: list[list[str]] = []
    lines: list[int] = []
    ends: list[int] = []
    try:
        for read in reader:
            if len(read) > MOST_COLUMNS:
                raise InputError(
                    f"line {reader.line_num} has {len(read)} fields; accepted are up to {MOST_COLUMNS}"
                )
            fields = [field.strip() for field in read]
            if not any(fields) and len(fields) <= 1:
                continue
            width = len(header[0]) if header else len(rows[0]) if rows else len(fields)
            if len(fields) != width:
                which = "the header" if header else "the first line"
                raise InputError(f"line {reader.line_num} has {len(fields)} fields; {which} has {width}")
            if not rows and len(header) < _LARGEST_HEADER and _is_header(fields, separator):
                header.append(tuple(fields))
            elif rows and len(fields) > 1 and not any(fields[1:]) and _number(fields[0], False) is None:
                ends.append(len(rows))
            else:
                rows.append(fields)
                lines.append(reader.line_num)
    except csv.Error as error:
        raise InputError(f"line {reader.line_num} is no delimited text ({reason(error)})") from None
    if header:  # NumPy writes "# " before the first name
        header[0] = (header[0][0].lstrip("# "), *header[0][1:])
    return Table(tuple(header), rows, lines, separator, tuple(ends))


def _is_header(fields: list[str], separator: str) -> bool:
    """Whether most of the fields of a row that are not empty are words."""
    written = [field for field in fields if field.lower() not in _MISSING]
    words = sum(_number(field, separator != ",") is None for field in written)
    return 2 * words > len(written)


def _number(field: str, decimal_comma: bool) -> float | None:
    """Return the number of a field, NaN for none, None for a word."""
    try:
        return float(field)
    except ValueError:
        pass
    word = field.lower()
    if word in _MISSING or word in _FLAGS:
        return _FLAGS.get(word, float("nan"))
    if decimal_comma and field.count(",") == 1:
        return _number(field.replace(",", "."), False)
    return None
