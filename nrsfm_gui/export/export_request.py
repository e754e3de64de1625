"""What can be exported, the options of a movie, and what the export dialog needs of a session."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from core import WRITERS, InputError
from core.evaluation import Kind, Mirror
from core.io.writers import DEFAULT_FPS
from core.io.writers import KINDS as WRITER_KINDS
from nrsfm_gui.export.movie_files import FORMATS as MOVIES
from nrsfm_gui.model.appearance import check_accepted
from nrsfm_gui.model.session import Session
from nrsfm_gui.scene.framing import evenly_spread
from nrsfm_gui.scene.summaries import file_stem

VIEWS = {"3d": "3-D view", "2d": "2-D view", "window": "whole window"}
SIDES = (64, 7680)  # pixels: least and most of width and height
MOST_FPS = 240.0
STEM = "reconstruction"  # of proposed names, where there is no sequence
MOST_SHAPES = 24  # in one figure
SHAPES = "5 evenly"  # frames of a row of shapes, at first


@dataclass(frozen=True)
class ExportKind:
    """One thing that can be exported, or one figure: its formats, and the rows of the dialog that matter."""

    title: str
    tip: str
    formats: dict[str, str] = field(default_factory=dict)  # suffix -> label
    rows: tuple[str, ...] = ()
    needs_run: bool = True  # a reconstruction, not only a sequence


def _of_writers(kind: str, tip: str, *rows: str) -> ExportKind:
    """Return one kind of the table of writers."""
    formats = {suffix: writer.label for suffix, writer in WRITERS.items() if writer.kind == kind}
    return ExportKind(WRITER_KINDS[kind], tip, formats, rows)


FIGURES = {
    "shapes": ExportKind(
        "shapes at several frames",
        "The 3-D view at some frames, side by side: estimate blue, ground truth red",
        needs_run=False,
    ),
    "tracks": ExportKind(
        "2-D view", "Tracks and reprojections, over the picture if there is one", needs_run=False
    ),
    "loss": ExportKind("loss", "The loss plot as it is shown"),
    "spectrum": ExportKind("singular values and weights", "The singular values and their weights"),
    "errors": ExportKind("error by frame", "The mean error of every frame"),
    "heat": ExportKind("error by frame and point", "The error of every point in every frame, in colors"),
    "guidance": ExportKind("guidance", "The held-out error over a parameter, as Guidance shows it"),
    "points": ExportKind("selected points", "Errors or paths of the selected points over the frames"),
}
PLACED = ("coordinates", "align", "mirror")
KINDS: dict[str, ExportKind] = {
    "result": _of_writers("result", "All there is: shapes, cameras, settings and how it was made"),
    "scene": _of_writers(
        "scene",
        "The moving shape and its camera, y up, at the frame rate of the sequence",
        *(*PLACED, "color", "video", "fps", "interpolation"),
    ),
    "page": _of_writers(
        "page", "A page that plays the shape in a browser, with errors in color", *PLACED, "fps"
    ),
    "shapes": _of_writers(
        "shapes", "Points with their triangles or edges, frame by frame", "frames", *PLACED, "text"
    ),
    "table": _of_writers("table", "A row for every frame, or every frame and point", *PLACED, "fps"),
    "movie": ExportKind(
        "Movie of a view",
        "The views as they are drawn now, frame after frame",
        {suffix: made.label for suffix, made in MOVIES.items()},
        ("view", "range", "seconds", "size", "fps", "turning", "speed"),
        needs_run=False,
    ),
    "picture": ExportKind(
        "Picture of a view",
        "The view as it is drawn now",
        {".png": "PNG picture"},
        ("view", "size", "transparent"),
        needs_run=False,
    ),
    "figure": ExportKind(
        "Figure for a paper",
        "A plot, or shapes side by side: black on white, in centimeters, without marks of the window",
        {".pdf": "PDF drawing", ".png": "PNG picture"},
        ("figure", "shapes", "paper", "dpi"),
        needs_run=False,
    ),
    "report": ExportKind(
        "Report of this run",
        "One page: settings, numbers, plots, the worst frames and how to make it again; a browser prints it",
        {".html": "HTML page, everything inside"},
    ),
}
ALIGNED = {Kind.PER_FRAME: "truth", Kind.SEQUENCE: "sequence", Kind.NONE: "none"}
TURNINGS = {
    "none": "the camera stands still",
    "once": "one turn over the whole movie, so that it can repeat",
    "speed": "at a speed in degrees per second",
}
WHICH_FRAMES = {
    "numbered": "all frames, a numbered file each",
    "one": "the frame that is shown",
    "stacked": "all frames in one file (PLY)",
}


@dataclass(frozen=True, kw_only=True)
class MovieOptions:
    """What a movie, or a picture of a view, shows. Raises InputError where a value is refused."""

    view: str = "3d"  # a key of VIEWS
    width: int = 1280  # pixels
    height: int = 720
    fps: float = 15.0  # frames per second
    first: int = 0  # frames of the sequence, 0-based, both included
    last: int = 0
    seconds: float = 6.0  # how long a single frame is shown
    turn: float = 0.0  # degrees per second around the vertical, of the 3-D view
    one_turn: bool = False  # or one turn over the whole movie
    transparent: bool = False  # whether there is no background, of the 3-D view

    def __post_init__(self) -> None:
        check_accepted(self, view=VIEWS)
        for name in ("width", "height"):
            if not SIDES[0] <= getattr(self, name) <= SIDES[1]:
                raise InputError(
                    f"{name} is {getattr(self, name)}; accepted are {SIDES[0]} to {SIDES[1]} pixels"
                )
        if not 0 < self.fps <= MOST_FPS:
            raise InputError(f"fps is {self.fps:g}; accepted are numbers above 0, up to {MOST_FPS:g}")
        if not 0 <= self.first <= self.last:
            raise InputError(f"frames {self.first + 1} to {self.last + 1} are none; give first and last")
        if not 0 < self.seconds <= 3600:
            raise InputError(f"seconds are {self.seconds:g}; accepted are numbers above 0, up to 3600")

    @property
    def count(self) -> int:
        """The number of pictures."""
        if self.first == self.last:
            return max(1, round(self.seconds * self.fps))
        return self.last - self.first + 1

    def shots(self) -> list[tuple[int, float]]:
        """Return (frame, degrees turned) of every picture; a whole turn ends one step before it began."""
        rate = 360.0 * self.fps / self.count if self.one_turn else self.turn
        step = 0 if self.first == self.last else 1
        return [(self.first + step * index, index * rate / self.fps) for index in range(self.count)]


@dataclass(frozen=True)
class ExportContext:
    """What the window shows while the dialog is open."""

    name: str = STEM  # that proposed files begin with
    folder: str = ""
    frame: int = 0
    frames: tuple[int, int] = (1, 1)  # first and last that playing loops over, counted from 1
    frame_count: int = 1
    truth: bool = False
    align: str = "none"  # a key of ALIGNMENTS: as the window lays the estimate over the truth
    mirror: bool = False
    reconstruction: bool = False
    video: bool = False  # whether the tracks are of a video
    std: bool = False  # whether the reconstruction has standard deviations
    earlier: str = ""  # "iteration 120 of 2546" where an earlier one than the newest is shown
    fps: float = DEFAULT_FPS  # frame rate of the sequence
    missing: dict[str, str] = field(default_factory=dict)  # suffix -> what has to be installed


def context_of(session: Session, folder: Path) -> ExportContext:
    """Return what the dialog needs of a session; `folder` is where files were written last."""
    sequence, seen = session.sequence, session.seen
    last = None if session.shown is None else session.shown.last
    count = 1 if sequence is None else sequence.frame_count
    truth = sequence is not None and sequence.truth is not None
    loop = session.frame_range or (0, count - 1)
    earlier = ""
    if session.moment is not None and seen is not None and last is not None:
        earlier = f"iteration {seen.iteration} of {last.iteration}"
    return ExportContext(
        name=file_stem(sequence, STEM),
        folder=str(folder.absolute()),
        frame=session.frame,
        frames=(loop[0] + 1, loop[1] + 1),
        frame_count=count,
        truth=truth,
        align=ALIGNED.get(session.alignment.kind, "truth") if truth else "none",
        mirror=session.alignment.mirror is not Mirror.OFF,
        reconstruction=last is not None,
        video=sequence is not None and sequence.video is not None,
        std=last is not None and last.geometry.std is not None,
        earlier=earlier,
        fps=(None if sequence is None else sequence.frame_rate) or DEFAULT_FPS,
        missing={suffix: made.missing for suffix, made in MOVIES.items() if made.missing},
    )


def parse_frames(text: str, frame_count: int) -> tuple[int, ...]:
    """Return the 0-based frames of a text: "1, 25, 50", or "5 evenly" spaced from the first to the last.

    Raises InputError where it is neither, or names a frame that is not there.

    >>> parse_frames("3 evenly", 11)
    (0, 5, 10)
    >>> parse_frames("4, 2", 11)
    (3, 1)
    """
    words = text.replace(",", " ").split()
    accepted = (
        f'accepted are up to {MOST_SHAPES} of the frames 1 to {frame_count}, as "1, 25, 50", or "5 evenly"'
    )
    evenly = len(words) == 2 and words[1] == "evenly"
    numbers = words[:1] if evenly else words
    if not numbers or not all(word.isascii() and word.isdigit() for word in numbers):
        raise InputError(f"frames are {text!r}; {accepted}")
    chosen = [int(word) for word in numbers]
    if evenly and 1 <= chosen[0] <= MOST_SHAPES:
        return tuple(evenly_spread(frame_count, chosen[0]).tolist())
    if evenly or len(chosen) > MOST_SHAPES or not all(1 <= frame <= frame_count for frame in chosen):
        raise InputError(f"frames are {text!r}; {accepted}")
    return tuple(frame - 1 for frame in chosen)
