"""Small charts as SVG text, alike on a page and in print. No Qt.

SVG Tiny: only what browsers and Qt's renderer both draw, so colors are attributes and nothing is clipped.
"""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nrsfm_gui.model.nice_ticks import ticks
from nrsfm_gui.model.numbers import MINUS

if TYPE_CHECKING:
    from core.foundation import Floats

WIDTH, HEIGHT = 500, 256  # units of the drawing
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 14, 44  # around the axes
MUTED, GRID = "#5c6670", "#e2e5e9"
BLUE, ORANGE = "#1565c0", "#c4560f"
MOST_VERTICES = 800  # of a curve: more cannot be told apart
MOST_BARS = 60
FONT = "DejaVu Sans, Helvetica, Arial, sans-serif"


@dataclass(frozen=True)
class Mark:
    """A place on the x axis with a word: where a phase begins, where the worst frame is."""

    x: float
    word: str


@dataclass(frozen=True)
class Frame:
    """The axes of a chart: what they show, and the map to the drawing."""

    x: tuple[float, float]
    y: tuple[float, float]
    x_label: str
    y_label: str

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return where a value is drawn."""
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    def axes(self, *, x_ticks: list[tuple[float, str]] | None = None) -> list[str]:
        """Return grid, ticks and labels."""
        parts = []
        for value in ticks(*self.y):
            x, y = self.place(self.x[0], value)
            parts += [_line(x, y, WIDTH - RIGHT, y, GRID), _text(x - 7, y + 4, number(value), anchor="end")]
        for value, word in x_ticks or [(value, number(value)) for value in ticks(*self.x)]:
            x, y = self.place(value, self.y[0])
            parts += [_line(x, y, x, y + 4, MUTED), _text(x, y + 18, word)]
        left, bottom = self.place(self.x[0], self.y[0])
        right, top = self.place(self.x[1], self.y[1])
        parts += [_line(left, bottom, right, bottom, MUTED), _line(left, bottom, left, top, MUTED)]
        parts.append(_text((left + right) / 2, HEIGHT - 6, self.x_label, size=13))
        middle = (top + bottom) / 2
        parts.append(_text(14, middle, self.y_label, size=13, turned=True))
        return parts


def line_chart(
    x: Floats,
    y: Floats,
    *,
    x_label: str,
    y_label: str,
    marks: tuple[Mark, ...] = (),
    from_zero: bool = False,
    filled: bool = False,
) -> str:
    """Return a curve; values that are not finite leave gaps.

    Parameters
    ----------
    x, y
        (N,) what is drawn.
    x_label, y_label
        with units.
    marks
        vertical lines with a word.
    from_zero
        whether the y axis begins at 0.
    filled
        whether the area below is filled.
    """
    finite = np.isfinite(y)
    if not finite.any():
        return _empty("nothing to show")
    low, high = float(y[finite].min()), float(y[finite].max())
    low = 0.0 if from_zero else low
    pad = 0.06 * (high - low) or 0.5 * (abs(high) or 1.0)
    frame = Frame(_spread(x), (low if from_zero else low - pad, high + pad), x_label, y_label)
    parts = frame.axes()
    for mark in marks:
        at, bottom = frame.place(mark.x, frame.y[0])
        parts.append(_line(at, TOP, at, bottom, MUTED, dashed=True))
        end = at > 0.75 * WIDTH
        parts.append(_text(at + (-5 if end else 5), TOP + 11, mark.word, anchor="end" if end else "start"))
    for run in _runs(finite):
        picked = run[_thinned(y[run])]
        places = [frame.place(float(x[k]), float(y[k])) for k in picked]
        if filled and len(places) > 1:
            floor = frame.place(0.0, frame.y[0])[1]
            area = [(places[0][0], floor), *places, (places[-1][0], floor)]
            parts.append(f'<polygon points="{_points(area)}" fill="{BLUE}" fill-opacity="0.14"/>')
        if len(places) > 1:
            line = f'points="{_points(places)}" fill="none" stroke="{BLUE}"'
            parts.append(f'<polyline {line} stroke-width="1.8" stroke-linejoin="round"/>')
        if len(places) == 1 or len(places) <= 3:
            parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{BLUE}"/>' for a, b in places]
    return _drawing(parts)


def spectrum_chart(values: Floats, weights: Floats) -> str:
    """Return singular values (K,) as bars and their weights (K,) as dots, both as logarithms.

    Zeros have no logarithm: their bars have no height, and their dots are hollow, on the axis.
    """
    values, weights = values[:MOST_BARS], weights[:MOST_BARS]
    both = np.concatenate([values, weights])
    positive = both[np.isfinite(both) & (both > 0)]
    if not positive.size:
        return _empty("no singular values")
    low = max(math.floor(math.log10(positive.min())), math.ceil(math.log10(positive.max())) - 12)
    high = max(math.ceil(math.log10(positive.max()) + 1e-9), low + 1)
    frame = Frame((0.5, len(values) + 0.5), (low, high), "number", "log₁₀")
    every = max(1, math.ceil(len(values) / 12))
    numbers = [(float(k), str(k)) for k in range(1, len(values) + 1, every)]
    parts = frame.axes(x_ticks=numbers)
    width = 0.62 * (WIDTH - LEFT - RIGHT) / len(values)
    floor = frame.place(1, low)[1]
    for k, value in enumerate(values, start=1):
        x, y = frame.place(k, max(_logarithm(value), low))
        parts.append(
            f'<rect x="{x - width / 2:.1f}" y="{y:.1f}" width="{width:.1f}" height="{floor - y:.1f}" '
            f'fill="{BLUE}" fill-opacity="0.75"/>'
        )
    for k, weight in enumerate(weights, start=1):
        x, y = frame.place(k, max(_logarithm(weight), low))
        dress = f'fill="{ORANGE}"' if weight > 0 else f'fill="none" stroke="{ORANGE}" stroke-width="1.5"'
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" {dress}/>')
    parts += [
        f'<rect x="{WIDTH - 200}" y="{TOP}" width="12" height="9" fill="{BLUE}" fill-opacity="0.75"/>',
        _text(WIDTH - 183, TOP + 9, "singular values", anchor="start"),
        f'<circle cx="{WIDTH - 72}" cy="{TOP + 5}" r="4.5" fill="{ORANGE}"/>',
        _text(WIDTH - 63, TOP + 9, "weights", anchor="start"),
    ]
    return _drawing(parts)


def number(value: float) -> str:
    """Return a tick's number, short."""
    return f"{value:.6g}".replace("-", MINUS) if abs(value) > 1e-12 else "0"


def _logarithm(value: float) -> float:
    return math.log10(value) if value > 0 else -math.inf


def _spread(x: Floats) -> tuple[float, float]:
    low, high = float(x.min()), float(x.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _runs(finite: np.ndarray) -> list[np.ndarray]:
    """Return the indices of the parts without gaps."""
    indices = np.flatnonzero(finite)
    return np.split(indices, np.flatnonzero(np.diff(indices) > 1) + 1)


def _thinned(y: Floats) -> np.ndarray:
    """Return which of many values are drawn: the lowest and the highest of every few."""
    if len(y) <= MOST_VERTICES:
        return np.arange(len(y))
    chosen = {0, len(y) - 1}
    for part in np.array_split(np.arange(len(y)), MOST_VERTICES // 2):
        chosen |= {int(part[y[part].argmin()]), int(part[y[part].argmax()])}
    return np.array(sorted(chosen))


def _points(places: list[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _line(x1: float, y1: float, x2: float, y2: float, color: str, *, dashed: bool = False) -> str:
    dash = ' stroke-dasharray="4 4"' if dashed else ""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}"{dash}/>'


def _text(
    x: float, y: float, words: str, *, anchor: str = "middle", size: int = 12, turned: bool = False
) -> str:
    turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{MUTED}"{turn}>'
        f"{html.escape(words)}</text>"
    )


def _empty(words: str) -> str:
    return _drawing([_text(WIDTH / 2, HEIGHT / 2, words, size=14)])


def _drawing(parts: list[str]) -> str:
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{FONT}" font-weight="normal">'
    return "\n".join([head, *parts, "</svg>"])
