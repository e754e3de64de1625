"""Colors of the two themes and of figures, by what they mean; the only source of colors of all views."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Theme:
    """One set of colors, each a "#rrggbb" string."""

    name: str  # "dark" or "light"
    window: str  # around panels
    panel: str  # behind plots, the 3-D view and fields
    raised: str  # buttons, headers
    border: str
    text: str
    muted: str  # secondary text, axis labels
    accent: str  # focus, the running state
    warning: str  # invalid fields
    grid: str  # grid lines of plots and of the 3-D floor
    floor: str  # the middle of the 3-D floor, from where it fades into the panel
    shadow: str  # of the shape on it
    estimate: str  # the reconstruction (blue)
    truth: str  # distances from the ground truth (red)
    truth_shape: str  # the ground truth itself, which must not outshine the estimate (gray)
    measured: str  # measured 2-D points (blue)
    reprojected: str  # reprojected 2-D points (green)
    residual: str  # segments between the two
    selection: str  # the selected point
    other: str  # the points of a second run
    runs: tuple[
        str, ...
    ]  # curves of the runs behind the one in front, which has the accent; not near `other` and `residual`


DARK = Theme(
    name="dark",
    window="#1b1e23",
    panel="#14161a",
    raised="#2a2f37",
    border="#3a404a",
    text="#e8eaed",
    muted="#9aa3ae",
    accent="#4c9aff",
    warning="#ff8b6b",
    grid="#343a44",
    floor="#2b313a",
    shadow="#000000",
    estimate="#5aa9ff",
    truth="#ff6b6b",
    truth_shape="#8d949e",
    measured="#5aa9ff",
    reprojected="#4fd18b",
    residual="#c9a227",
    selection="#ffd54a",
    other="#c58af0",
    runs=("#ff7a4d", "#3fbf7f", "#ff9fc0", "#4fd0de", "#b9d957", "#e04f9a"),
)
LIGHT = Theme(
    name="light",
    window="#f2f3f5",
    panel="#ffffff",
    raised="#e4e7eb",
    border="#c3c9d1",
    text="#1c2024",
    muted="#5c6670",
    accent="#0b63ce",
    warning="#b93815",
    grid="#d9dde3",
    floor="#f1f3f6",
    shadow="#959dab",
    estimate="#2b80e4",
    truth="#c62828",
    truth_shape="#949ba5",
    measured="#1565c0",
    reprojected="#1b8a4b",
    residual="#a06a00",
    selection="#d18b00",
    other="#8440bd",
    runs=("#d6400a", "#1f9a55", "#d8408c", "#0a8f9e", "#6f8a00", "#7d1f45"),
)
PAPER = replace(  # of figures for papers: black on white, the ground truth red
    LIGHT,
    name="paper",
    window="#ffffff",
    border="#404040",
    text="#000000",
    muted="#202020",
    accent="#0b5cad",
    truth_shape="#c62828",
)
THEMES = {theme.name: theme for theme in (DARK, LIGHT)}
