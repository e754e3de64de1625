"""Matrices in plain text: whitespace between the numbers, one line per row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...foundation.exceptions import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from ...foundation.types import Bools, Floats


def parse_matrix(content: bytes, path: Path) -> Floats:
    """Return the matrix that a text holds.

    Blank lines are skipped. NaN and infinities are numbers here: whether they may stand is for the caller.

    Raises
    ------
    InputError
        naming the file and the 1-based line, where a row is ragged or holds what is not a number.
    """
    lines = [line for line in content.decode("latin-1").splitlines() if line.strip()]
    try:
        matrix: Floats = np.loadtxt(lines, dtype=np.float64, comments=None, ndmin=2)
    except ValueError as error:
        raise InputError(_what_is_wrong(content, path) or f"{path}: {error}") from error
    return matrix


def parse_mask(content: bytes, path: Path) -> Bools:
    """Return which entries of a matrix of numbers are nonzero.

    Raises
    ------
    InputError
        as `parse_matrix`, and where an entry is NaN.
    """
    digits = content.translate(None, b" \t\r\n")
    widths = [len(line.split()) for line in content.splitlines() if line.strip()]
    mask: Bools
    if (
        digits.count(b"0") + digits.count(b"1") == len(digits) == widths[0] * len(widths)
        and len(set(widths)) == 1
    ):
        # As many digits as numbers: the usual file, read at a tenth of the time.
        mask = np.frombuffer(digits, np.uint8).reshape(len(widths), -1) == ord("1")
        return mask
    matrix = parse_matrix(content, path)
    if np.isnan(matrix).any():
        row, column = np.argwhere(np.isnan(matrix))[0]
        raise InputError(f"{path}: row {row + 1}, column {column + 1} is NaN; accepted are 0 and 1")
    mask = matrix != 0
    return mask


def _what_is_wrong(content: bytes, path: Path) -> str | None:
    """Return the sentence for the first line that is ragged or not numeric, or None."""
    width = first = None
    for number, line in enumerate(content.decode("latin-1").splitlines(), 1):
        tokens = line.split()
        for token in tokens:
            try:
                float(token)
            except ValueError:
                shown = token if len(token) <= 20 else token[:20] + "..."
                return f"{path}: row {number} holds {shown!r}, which is not a number"
        if width is None and tokens:
            width, first = len(tokens), number
        if tokens and len(tokens) != width:
            return (
                f"{path}: row {number} has {len(tokens)} numbers, row {first} has {width}; "
                "all rows need the same number"
            )
    return None
