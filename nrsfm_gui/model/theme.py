"""Colors of the two themes and of figures, by what they mean; the only source of colors of all views."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Theme:
    """One set of colors, each a "#rrggbb" string: by default the dark ones."""

    name: str = "dark"  # "dark" or "light"
    window: str = "#1b1e23"  # around panels
    panel: str = "#14161a"  # behind plots, the 3-D view and fields
    raised: str = "#2a2f37"  # buttons, headers
    border: str = "#3a404a"
    text: str = "#e8eaed"
    muted: str = "#9aa3ae"  # secondary text, axis labels
    accent: str = "#4c9aff"  # focus, the running state
    warning: str = "#ff8b6b"  # invalid fields
    grid: str = "#343a44"  # grid lines of plots and of the 3-D floor
    floor: str = "#2b313a"  # the middle of the 3-D floor, from where it fades into the panel
    shadow: str = "#000000"  # of the shape on it
    estimate: str = "#5aa9ff"  # the reconstruction (blue)
    truth: str = "#ff6b6b"  # distances from the ground truth (red)
    truth_shape: str = "#8d949e"  # the ground truth itself, which must not outshine the estimate (gray)
    measured: str = "#5aa9ff"  # measured 2-D points (blue)
    reprojected: str = "#4fd18b"  # reprojected 2-D points (green)
    residual: str = "#c9a227"  # segments between the two
    selection: str = "#ffd54a"  # the selected point
    other: str = "#c58af0"  # the points of a second run
    # Curves of the runs behind the one in front, which has the accent; not near `other` and `residual`.
    runs: tuple[str, ...] = ("#ff7a4d", "#3fbf7f", "#ff9fc0", "#4fd0de", "#b9d957", "#e04f9a")


DARK = Theme()
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
