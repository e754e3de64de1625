"""A sequence: the 2-D tracks of one camera, and everything that is known about them.

Tracks are stored as the file has them (pixels for a perspective camera, millimeters for an orthogonal
one); `core.cameras.calibration` turns them into the calibrated observations that a problem is posed on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from enum import Enum
from functools import cached_property
from numbers import Real
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..foundation.exceptions import LONGEST_SENTENCE, InputError, printable_name
from ..foundation.parameters import chosen_of
from ..foundation.types import Bools, Floats, Ints, read_only

MIN_FRAMES = 2
MIN_POINTS = 4
NOT_A_ROTATION = 1e-2  # largest accepted entry of R R' - I of known rotations
LARGEST_COORDINATE = 1e30
FRAME_RATES = 1e-6, 1e9  # frames per second, from one in eleven days on


class CameraModel(Enum):
    """How a point in the camera frame becomes an observation: divided by its depth, or without it."""

    PERSPECTIVE = "perspective"
    ORTHOGONAL = "orthogonal"


def check_frame_rate(rate: float, name: str) -> None:
    """Refuse what is no frame rate."""
    least, largest = FRAME_RATES
    if not least <= rate <= largest:
        raise InputError(f"{name} is {rate:g}; accepted are {least:g} to {largest:g} frames per second")


@dataclass(frozen=True, eq=False, repr=False)
class Observations:
    """2-D tracks and which of them are visible.

    Parameters
    ----------
    tracks
        (F, 2, P); a hidden entry keeps the value that the file gives, or is NaN where it gives none.
    visible
        (F, P) whether a point is seen in a frame.

    Raises
    ------
    InputError
        where shapes disagree, a visible observation is not finite, a frame has no visible point, or there are
        fewer than 2 frames or 4 points.

    Examples
    --------
    >>> import numpy as np
    >>> import core
    >>> core.Observations(np.zeros((5, 2, 10)), np.ones((5, 10), dtype=bool))
    Observations(5 frames, 10 points, 100% visible)
    """

    tracks: Floats  # (F, 2, P)
    visible: Bools  # (F, P)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tracks", read_only(self.tracks))
        object.__setattr__(self, "visible", read_only(self.visible, np.bool_))
        if self.tracks.ndim != 3 or self.tracks.shape[1] != 2:
            last = self.tracks.ndim == 3 and self.tracks.shape[2] == 2
            hint = "; tracks.transpose(0, 2, 1) has it" if last else ""
            raise InputError(f"tracks have shape {self.tracks.shape}; accepted is (frames, 2, points){hint}")
        frames, _, points = self.tracks.shape
        if self.visible.shape != (frames, points):
            raise InputError(
                f"visible has shape {self.visible.shape}; these tracks need ({frames}, {points})"
            )
        for count, least, what in ((frames, MIN_FRAMES, "frame"), (points, MIN_POINTS, "point")):
            if count < least:
                plural = "" if count == 1 else "s"
                raise InputError(f"tracks have {count} {what}{plural}; at least {least} are needed")
        far = f"accepted are coordinates up to {LARGEST_COORDINATE:g}, whose powers are finite"
        for bad, sentence in (
            (~np.isfinite(self.tracks).all(axis=1) & self.visible, "visible observations must be finite"),
            (np.isinf(self.tracks).any(axis=1), "accepted is NaN where a point is hidden"),
            ((np.abs(self.tracks) > LARGEST_COORDINATE).any(axis=1) & self.visible, far),
        ):
            if bad.any():
                f, p = np.argwhere(bad)[0]
                marked = ", which is marked visible" if self.visible[f, p] else ""
                place = f"at frame {f}, point {p} (both 0-based){marked}"
                raise InputError(f"tracks hold {self.tracks[f, :, p]} {place}; {sentence}")
        empty = np.flatnonzero(~self.visible.any(axis=1))
        if empty.size:
            raise InputError(
                f"frame {empty[0]} (0-based) has no visible point; every frame needs at least one"
            )

    def __repr__(self) -> str:
        frames, points = self.visible.shape
        return f"Observations({frames} frames, {points} points, {self.visible.mean():.0%} visible)"


@dataclass(frozen=True, eq=False, repr=False)
class GroundTruth:
    """The true 3-D shape of one, several or all frames, in millimeters unless the sequence has other units.

    The coordinate system of each frame is its own: errors are measured after an alignment.

    Parameters
    ----------
    frames
        (G,) 0-based indices of frames, increasing.
    points
        (G, 3, P) true shapes, NaN where a point is unknown.
    reference
        0-based index of the frame that the intrinsics are estimated from.

    Examples
    --------
    >>> import numpy as np
    >>> import core
    >>> core.GroundTruth(np.array([4]), np.zeros((1, 3, 20)), reference=4)
    GroundTruth(1 frames, 20 points)
    """

    frames: Ints  # (G,)
    points: Floats  # (G, 3, P)
    reference: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "frames", read_only(self.frames, np.int64))
        object.__setattr__(self, "points", read_only(self.points))
        if self.points.ndim != 3 or self.points.shape[:2] != (len(self.frames), 3):
            raise InputError(
                f"ground truth has shape {self.points.shape}; accepted is ({len(self.frames)}, 3, points)"
            )
        far = (np.abs(self.points) > LARGEST_COORDINATE).any(axis=1)  # an infinity is, NaN is not
        if far.any():
            g, p = np.argwhere(far)[0]
            raise InputError(
                f"ground truth is {self.points[g, :, p]} at frame {self.frames[g]}, point {p} (0-based); "
                f"accepted are coordinates up to {LARGEST_COORDINATE:g}, and NaN where it is unknown"
            )
        if (np.diff(self.frames) <= 0).any() or (self.frames < 0).any():
            raise InputError("ground truth has frames that do not increase from 0 or more")
        if self.reference not in self.frames:
            raise InputError(f"ground truth has no frame {self.reference} (0-based)")

    def __repr__(self) -> str:
        return f"GroundTruth({len(self.frames)} frames, {self.points.shape[2]} points)"

    @classmethod
    def of_all_frames(cls, points: npt.ArrayLike) -> GroundTruth:
        """Return the truth (F, 3, P) of every frame; its reference is the frame with most known points."""
        shapes = read_only(points)
        known = np.isfinite(shapes).all(axis=1).sum(axis=1)
        return cls(np.arange(len(shapes)), shapes, int(known.argmax()))

    def at(self, frame: int) -> Floats | None:
        """Return the (3, P) truth of a frame, or None where there is none."""
        where = np.flatnonzero(self.frames == frame)
        return self.points[where[0]] if where.size else None


GROUND_TRUTH = "ground truth"
VIDEO_SUFFIXES = (".mp4", ".mov", ".avi", ".mkv", ".webm", ".m4v", ".mpg", ".mpeg", ".gif")
WHERE_FINITE = read_only(np.zeros((0, 0)), np.bool_)  # visible where tracks are finite


@dataclass(frozen=True, eq=False, repr=False)
class Sequence:
    """One camera's view of one deforming object. Immutable; arrays are read-only.

    Names, units and the other texts can be of a file that is not trusted: what cannot be printed is escaped.

    Parameters
    ----------
    tracks
        (F, 2, P) the observations, in `units`; NaN where a point is hidden.
    visible
        (F, P) whether a point is seen in a frame; by default where its track is finite.
    camera
        the camera model, or its name.
    name
        the name of the sequence in titles and messages.
    intrinsics
        (3, 3) K of a perspective camera in the units of the tracks; the identity where they are calibrated,
        None where K is unknown.
    truth, truth_units, truth_name
        the true shapes, their unit, and what they are: the program whose reconstruction, where they are one.
    rotations, translations
        (F, 3, 3), (F, 3) the true cameras, from the world to the camera, in the unit of the truth.
    companion
        the same points under an orthogonal camera, as the NRSfM Challenge has them.
    edges, faces
        (E, 2), (T, 3) 0-based indices of points: a skeleton or the edges of a mesh, and its triangles.
    units, image_size, frame_rate
        of the tracks, such as "px"; width and height of the picture in pixels; and frames per second.
    video, video_frames
        the file whose frames the tracks are of, and (F,) which, from 0; None where they are 0, 1, 2, ...
    point_names, provenance
        of the P points, such as those of a skeleton; and how the tracks were made, where it is not evident.
    source, digest, reading
        the file or folder that it was read from, SHA-256 of its bytes, and the options of `read_sequence`.

    Raises
    ------
    InputError
        where shapes disagree, a visible observation is not finite, a frame has no visible point, or there are
        fewer than 2 frames or 4 points.

    Examples
    --------
    >>> import numpy as np
    >>> import core
    >>> tracks = np.random.default_rng(0).normal(size=(5, 2, 10))
    >>> tracks[2, :, 3] = np.nan
    >>> sequence = core.Sequence(tracks, intrinsics=np.diag([900.0, 900.0, 1.0]), name="cloth")
    >>> sequence
    Sequence('cloth', perspective, 5 frames, 10 points)
    >>> int(sequence.visible.sum())
    49
    """

    tracks: Floats  # (F, 2, P)
    visible: Bools = field(default_factory=lambda: WHERE_FINITE)  # (F, P)
    camera: CameraModel = CameraModel.PERSPECTIVE
    name: str = "tracks"
    _: KW_ONLY
    intrinsics: Floats | None = None  # (3, 3)
    truth: GroundTruth | None = None
    rotations: Floats | None = None  # (F, 3, 3)
    translations: Floats | None = None  # (F, 3)
    companion: Observations | None = None
    edges: Ints | None = None  # (E, 2)
    faces: Ints | None = None  # (T, 3)
    units: str = "px"
    truth_units: str = "mm"
    truth_name: str = GROUND_TRUTH
    image_size: tuple[int, int] | None = None
    video: Path | None = None
    video_frames: Ints | None = None  # (F,)
    frame_rate: float | None = None
    point_names: tuple[str, ...] | None = None
    source: Path | None = None
    digest: str = ""
    provenance: str = ""
    reading: Mapping[str, str | int | float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        tracks = read_only(self.tracks)
        finite = self.visible is WHERE_FINITE and tracks.ndim == 3
        visible: Bools = np.asarray(np.isfinite(tracks).all(axis=1)) if finite else self.visible
        object.__setattr__(self, "camera", chosen_of(CameraModel, "camera", self.camera))
        for name in ("name", "units", "truth_units", "truth_name"):
            object.__setattr__(self, name, printable_name(getattr(self, name)))
        object.__setattr__(self, "provenance", printable_name(self.provenance, LONGEST_SENTENCE))
        self.__dict__.update(vars(Observations(tracks, visible)))
        frames, points = self.visible.shape
        expected = {"intrinsics": (3, 3), "rotations": (frames, 3, 3), "translations": (frames, 3)}
        for name, shape in expected.items():
            value = getattr(self, name)
            if value is None:
                continue
            array = read_only(value)
            if array.shape != shape:
                raise InputError(f"{name} of {self.name!r} have shape {array.shape}; accepted is {shape}")
            if not (np.abs(array) <= LARGEST_COORDINATE).all():
                raise InputError(f"{name} of {self.name!r} hold a number above {LARGEST_COORDINATE:g} or NaN")
            object.__setattr__(self, name, array)
        if self.intrinsics is not None:
            checked_intrinsics(self.intrinsics, f"intrinsics of {self.name!r}")
        if self.rotations is not None:
            check_rotations(self.rotations, f"R of {self.name!r}")
        if self.truth is not None:
            of, last = f"ground truth of {self.name!r}", self.truth.frames.max()
            if (known := self.truth.points.shape[2]) != points:
                raise InputError(f"{of} has {known} points; the tracks have {points}")
            if last >= frames:
                raise InputError(f"{of} is for frame {last} (0-based); the tracks have {frames} frames")
        if self.companion is not None and self.companion.visible.shape != (frames, points):
            raise InputError(
                f"companion tracks of {self.name!r} are {self.companion.visible.shape} (frames, points); "
                f"the tracks are ({frames}, {points})"
            )
        if self.video_frames is not None:
            object.__setattr__(self, "video_frames", _checked_frames(self.video_frames, frames, self.name))
        for name, columns in (("edges", 2), ("faces", 3)):
            value = getattr(self, name)
            if value is None:
                continue
            array = read_only(value, np.int64)
            outside = array.size > 0 and not 0 <= array.min() <= array.max() < points
            if array.ndim != 2 or array.shape[1] != columns or outside:
                raise InputError(
                    f"{name} of {self.name!r} must be (n, {columns}) point indices below {points}"
                )
            object.__setattr__(self, name, array)
        if self.frame_rate is not None:
            check_frame_rate(self.frame_rate, f"frame_rate of {self.name!r}")
        if self.image_size is not None:
            object.__setattr__(self, "image_size", _checked_size(self.image_size, self.name))
        if self.point_names is not None:
            object.__setattr__(self, "point_names", _checked_names(self.point_names, points, self.name))

    def __repr__(self) -> str:
        size = f"{self.frame_count} frames, {self.point_count} points"
        return f"Sequence({self.name!r}, {self.camera.value}, {size})"

    @property
    def observations(self) -> Observations:
        """The tracks with their visibility."""
        return Observations(self.tracks, self.visible)

    @property
    def frame_count(self) -> int:
        """F, the number of frames."""
        return int(self.visible.shape[0])

    @property
    def point_count(self) -> int:
        """P, the number of points."""
        return int(self.visible.shape[1])

    @cached_property
    def content(self) -> str:
        """SHA-256 of all that a reconstruction and its errors may depend on, hidden tracks left out.

        `digest` is of one file; visibility, companion and truth may lie in others.
        """
        digest = hashlib.sha256(self.camera.value.encode())
        for array in self._relevant_arrays():
            values = np.ascontiguousarray([] if array is None else array)
            digest.update(str((values.shape, values.dtype.str)).encode())
            digest.update(values.data)
        return digest.hexdigest()

    def _relevant_arrays(self) -> Iterator[npt.ArrayLike | None]:
        """Yield all that a reconstruction and its errors may depend on, one at a time: copies are large."""
        yield from _seen(self.observations)
        yield self.intrinsics
        yield self.rotations
        if self.companion is not None:
            yield from _seen(self.companion)
        if self.truth is not None:
            yield self.truth.points
            yield self.truth.frames
            yield [self.truth.reference]


def checked_intrinsics(intrinsics: Floats, name: str = "K") -> Floats:
    """Return K (3, 3) divided by its last entry, or refuse what is no upper triangular camera matrix."""
    K = np.asarray(intrinsics, dtype=float)
    if K.shape != (3, 3):
        raise InputError(f"{name} has shape {K.shape}; accepted is (3, 3)")
    if not np.isfinite(K).all():
        raise InputError(f"{name} holds a value that is not finite; accepted are finite numbers")
    if K[2, 2] == 0 or (K[[1, 2, 2], [0, 0, 1]] != 0).any():
        raise InputError(
            f"{name} is {K.tolist()}; accepted is [[fx, skew, cx], [0, fy, cy], [0, 0, 1]] with zeros there"
        )
    with np.errstate(over="ignore"):
        K = np.asarray(K / K[2, 2])
    if not (K[0, 0] > 0 and K[1, 1] > 0):
        raise InputError(f"{name} has focal lengths {K[0, 0]:g} and {K[1, 1]:g}; both must be positive")
    if min(K[0, 0], K[1, 1]) < 1 / LARGEST_COORDINATE or not np.abs(K).max() <= LARGEST_COORDINATE:
        raise InputError(
            f"{name} has focal lengths {K[0, 0]:g} and {K[1, 1]:g} and numbers up to {np.abs(K).max():g}; "
            f"accepted are focal lengths from {1 / LARGEST_COORDINATE:g} on, and numbers up to "
            f"{LARGEST_COORDINATE:g}"
        )
    return K


def check_rotations(R: Floats, name: str, most: float = NOT_A_ROTATION) -> None:
    """Refuse matrices R (F, 3, 3) that are far from rotations; files have few digits of them."""
    finite = np.asarray(np.isfinite(R).all(axis=(1, 2)))
    R = np.where(finite[:, None, None], R, 0.0)
    off = np.abs(R @ R.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2))
    bad = (off > most) | (np.linalg.det(R) <= 0)
    if bad.any():
        raise InputError(
            f"{name} of frame {np.flatnonzero(bad)[0]} (0-based) is not a rotation (R R' must be I, and the "
            "determinant 1)"
        )


def _checked_size(size: object, name: str) -> tuple[int, int]:
    numbers = tuple(size) if isinstance(size, Iterable) else (size,)
    if len(numbers) != 2 or any(not isinstance(n, Real) or n % 1 != 0 or n < 1 for n in numbers):
        raise InputError(
            f"image_size of {name!r} is {numbers}; accepted are width and height in whole pixels"
        )
    return int(numbers[0]), int(numbers[1])


def _checked_frames(numbers: npt.ArrayLike, frames: int, name: str) -> Ints:
    """Return the frames of a video, one for each frame of the tracks."""
    array = np.asarray(numbers)
    if array.shape != (frames,) or array.dtype.kind not in "iu":
        raise InputError(
            f"video_frames of {name!r} have shape {array.shape}; accepted are ({frames},) whole numbers"
        )
    if not 0 <= array.min() <= array.max() <= np.iinfo(np.int64).max:
        raise InputError(
            f"video_frames of {name!r} are from {array.min()} to {array.max()}; accepted are 0 and more"
        )
    return read_only(array, np.int64)


def _checked_names(names: Iterable[str], points: int, sequence: str) -> tuple[str, ...]:
    """Return the names of the points, each on one line."""
    listed = tuple(printable_name(" ".join(str(name).split())) for name in names)
    if len(listed) != points:
        raise InputError(f"{sequence!r} has {len(listed)} point_names; the tracks have {points} points")
    return listed


def _seen(observations: Observations) -> Iterator[npt.ArrayLike]:
    """Yield the tracks, 0 where they are hidden, and which are seen."""
    visible = observations.visible
    yield np.where(visible[:, None], observations.tracks, 0.0)
    yield visible
