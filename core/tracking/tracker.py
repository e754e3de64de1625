"""Points followed through a video: corners, Lucas-Kanade, and a check of every point against its first patch.

From one frame to the next, every point is moved by pyramidal Lucas-Kanade (OpenCV), forward and backward;
one that does not come back to within `RETURN` pixels ends. The errors of these moves add up over the frames,
so the patch around the point's first position is registered to the frame by an affine map (`registration`),
which removes the drift; a point whose patch is not similar enough any more, or not near where Lucas-Kanade
has it, ends. So does a point that jumps: its motion is neither what it was in the frame before nor what it is
around the point. A patch that is seen much smaller, larger or more obliquely than at first is replaced by the
present one.

New corners (Shi and Tomasi) begin where no point is within the region, which moves with the points in it;
at once where many points are lost, as at a cut. A corner does not begin where noise would move it far, or
where its patch resembles what is beside it, as in a weave: such points slide. Before a point ends because of
its patch it is often wrong already, so its last observations are left out from where the similarity stays
below the middle of `check` and 1.

Sizes here in pixels are of pictures of up to `WORKING`. Larger ones are reduced: a patch of so many pixels of
theirs has too little texture. Places are given and returned in pixels of the video.

At the end the tracks are chosen that are kept, and sentences say what they cover: frames without any, cuts, a
background.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Generator
from collections.abc import Sequence as Items
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data import Sequence, triangulate_tracks
from ..data.sequence import MIN_FRAMES, MIN_POINTS
from ..foundation import Bools, Floats, InputError, Ints, Parameter, Pixels
from ..foundation.representation import OneLine
from .opencv import load_opencv
from .region import Masks, area, checked_region, moved_region, outline
from .registration import PointRows, Sampler, Singles, Templates, ambiguity, register
from .video import Video

POINTS = 300  # followed at a time, and at most in the result
CHECK = 0.8  # similarity with the first patch, below which a point ends
RETURN = 0.7  # px between a point and where it comes back to, at most
APART = 2.5  # px between Lucas-Kanade and the registered patch, at most
OBLIQUE = (0.5, 2.0)  # scales of the affine map between which a patch is kept
LONGEST_OUTSIDE = 5  # frames in a row outside the mask, after which a point ends
SHORTEST = 15  # frames of a track that is kept
SHORTEST_OF_SPARSE = 5  # frames of a track that is kept where frames would have too few points without it
RESEED = 5  # frames between two searches for corners
LOST = 0.5  # share of the points after a search, at which corners are sought again at once
WORKING = 1280  # px of the longer side of the picture that points are followed in; larger ones are reduced
QUALITY = 0.01  # of a corner, in shares of the best one
CANDIDATES = 2  # corners that are looked at for one that begins
UNCERTAIN = 2.0  # how much farther than the median corner, where none was followed, noise may move one
FAINT = 0.2  # px per gray level of noise, above which a corner is taken to be of noise alone
AMBIGUOUS = 0.8  # similarity of a corner's patch with one beside it, from which on it may be mistaken for it
INSET = 7  # px from the border of the region that points begin: their patches are within it
LEAST_SPACING, CLOSER = 5.0, 0.7  # px between corners; factor where they are too few in the first frame
WINDOW, LEVELS = 21, 3  # of Lucas-Kanade: px, and halvings of the image
BLUR = 0.8  # px, deviation: what is compared is less noisy, and smooth between the pixels
BORDER = 3.0  # px from the border of the image that a point must be
AROUND = 12  # points whose motion a point is compared with
JUMP = 3.0  # px between the motion of a point, what it was before, and what it is around it
JUMP_RATIO = 6.0  # and how much more than is usual around it


@dataclass(frozen=True, eq=False)
class TrackingStep(OneLine):
    """One frame, and what has been followed up to it."""

    picture: int  # 0-based number of the frame in the video
    done: int  # frames of the result so far, and all of them
    total: int  # frames of the result so far, and all of them
    image: Pixels  # (H, W, 3) the frame
    tracks: Floats  # (done, 2, N) px of every point so far, NaN where it is not seen; nothing is left out yet
    region: Floats | None  # (M, 2) px where new corners may begin; None: everywhere
    _follower: _PointFollower = field(repr=False)

    @property
    def followed(self) -> int:
        """The number of points that are followed in this frame."""
        return int(np.isfinite(self.tracks[-1, 0]).sum())

    def sequence(self) -> Sequence:
        """Return the tracks so far as a sequence, as they would be if the video ended here."""
        return self._follower.sequence(self.done)

    def remarks(self, sequence: Sequence) -> tuple[str, ...]:
        """Return sentences about a sequence of this step: frames without tracks, cuts, and a background."""
        return coverage_remarks(sequence, self._follower.kept[: self.done])


def track_video(
    path: Path,
    *,
    points: int = POINTS,
    region: npt.ArrayLike | None = None,
    mask: Path | None = None,
    check: float = CHECK,
    start: int = 1,
    end: int | None = None,
    step: int = 1,
    stopped: Callable[[], bool] = lambda: False,
) -> Generator[TrackingStep, None, None]:
    """Follow points through a video, and yield every frame of the result.

    `region`: (M, 2) corners, in pixels of the first frame, of where points begin; None: everywhere; `mask`: a
    picture, or pictures for all frames (`Masks`): points begin where it is not black, and are not seen where
    it is black; `start`, `end`: first and last frame of the video, counted from 1; by default to its end.
    """
    _check_arguments(points, check, start, end, step)
    cv2 = load_opencv()
    with ExitStack() as opened:
        video = opened.enter_context(closing(Video(path, stopped)))
        masks = None if mask is None else opened.enter_context(closing(Masks(mask, video)))
        last = video.count if end is None else min(end, video.count)
        pictures = range(start - 1, last)
        kept = range(start - 1, last, step)
        if len(kept) < MIN_FRAMES:
            raise InputError(
                f"{path}: frames {start} to {last} in steps of {step} are {len(kept)} of {video.count}; at "
                f"least {MIN_FRAMES} are needed"
            )
        tracker = _PointFollower(cv2, video, points, region, check, kept)
        for picture in pictures:
            image = _of_one_size(video, picture)
            tracker.follow(image, None if masks is None else masks.read(picture))
            if picture in kept:
                yield tracker.keep(picture, image)


def follow_places(
    path: Path,
    places: npt.ArrayLike,
    *,
    pictures: npt.ArrayLike,
    check: float = CHECK,
    watch: Callable[[int, int], object] = lambda _done, _total: None,
) -> Floats:
    """Follow given points through a video; none are added, and none are left out.

    `places`: (N, 2) px where they are in the first picture; `pictures`: (F,) numbers of the frames, counted
    from 0, increasing; those between are used to follow the points. Returns (F, 2, N) px, NaN where a point
    has ended.
    """
    cv2, numbers = load_opencv(), np.asarray(pictures, dtype=np.int64)
    begin = np.asarray(places, dtype=np.float32).reshape(-1, 2)
    with closing(Video(path)) as video:
        follower = _PointFollower(cv2, video, max(len(begin), 1), None, check, numbers.tolist(), begin)
        for done, picture in enumerate(range(int(numbers[0]), int(numbers[-1]) + 1), 1):
            watch(done, int(numbers[-1] - numbers[0]) + 1)
            image = _of_one_size(video, picture)
            follower.follow(image)
            if picture in numbers:
                step = follower.keep(picture, image)
        return np.array(step.tracks)


@dataclass(frozen=True, eq=False)
class _Points(PointRows):
    """The points that are followed, in the pixels of the reduced picture."""

    names: Ints  # (N,) columns of the tracks
    places: Singles  # (N, 2)
    maps: Singles  # (N, 2, 2) from their patches to the present picture
    velocities: Singles  # (N, 2) per frame, NaN where a point has just begun
    similarity: Singles  # (N,) with their patches
    outside: Ints  # (N,) frames in a row in which a point is outside the mask
    templates: Templates


class _PointFollower:
    """The points that are followed, and where they have been."""

    def __init__(
        self,
        cv2: Any,
        video: Video,
        points: int,
        region: npt.ArrayLike | None,
        check: float,
        kept: Collection[int],
        begin: Singles | None = None,  # where the points begin, in place of corners
    ) -> None:
        self._cv2, self._video, self.kept = cv2, video, list(kept)
        self._most, self._check = points, check
        reduction = min(1.0, WORKING / max(video.size))
        width, height = self._size = tuple(max(1, round(reduction * side)) for side in video.size)
        self._scale: Floats = np.array(self._size) / video.size
        self._given = None if begin is None else self._reduced(begin).astype(np.float32)
        self._region: Floats | None = None
        self._mask: Pixels | None = None  # of the present frame, 255 where the object is
        covered = float(width * height)
        if region is not None:
            corners = self._reduced(checked_region(region, video.size, float(self._scale.prod())))
            self._region, covered = outline(corners), area(corners)
        self._spacing = max(LEAST_SPACING, 0.75 * float(np.sqrt(covered / points)))
        self._limit = np.array([width - 1 - BORDER, height - 1 - BORDER], dtype=np.float32)
        self._uncertain: float | None = None  # above which noise moves a corner too far
        self._before: Pixels | None = None  # the brightness of the frame before
        self._passed = 0  # frames
        self._searched, self._found = 0, 0  # the frame of the last search, and the points after it
        self._points: _Points | None = None
        self._count = 0  # of all points so far
        self._tracks = np.full((len(kept), 2, 4 * points), np.nan)
        self._similar = np.full((len(kept), 4 * points), np.nan, dtype=np.float32)
        self._failed: list[Ints] = []  # points that ended because of their patch

    def follow(self, image: Pixels, inside: Bools | None = None) -> None:
        """Move the points to the next frame. `inside`: where the object is, None where that is not known."""
        cv2 = self._cv2
        if inside is not None:
            self._mask = cv2.resize(
                255 * inside.astype(np.uint8), self._size, interpolation=cv2.INTER_NEAREST
            )
        gray: Pixels = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
        if gray.shape[::-1] != self._size:
            gray = cv2.resize(gray, self._size, interpolation=cv2.INTER_AREA)
        smooth = cv2.GaussianBlur(gray.astype(np.float32), (0, 0), BLUR)
        sampler = Sampler(cv2, smooth)
        if self._before is not None and self._followed:
            self._move(self._before, gray, sampler)
        if self._given is not None:
            if not self._passed:
                self._add(self._given, Templates.at(sampler, self._given))
        elif self._followed < self._most and self._is_search_due():
            self._begin(gray, sampler)
            self._searched, self._found = self._passed, self._followed
            if self._region is not None and not self._count:  # it is of the first frame; others may be black
                raise self._no_corners()
        self._before = gray
        self._passed += 1

    @property
    def _followed(self) -> int:
        return 0 if self._points is None else len(self._points.names)

    def _no_corners(self) -> InputError:
        return InputError(
            f"{self._video.path}: no corners are found where points may begin; choose a region with texture"
        )

    def _is_search_due(self) -> bool:
        # Not in two frames in a row: corners of noise are lost at once, and would be sought in every frame.
        lost = self._followed <= LOST * self._found and self._searched < self._passed - 1
        return self._passed % RESEED == 0 or lost

    def _reduced(self, places: npt.ArrayLike) -> Floats:
        """Return places (..., 2) of the video in the reduced picture; middles of pixels are whole numbers."""
        return np.asarray(places) * self._scale + (self._scale - 1) / 2

    def _enlarged(self, places: npt.ArrayLike) -> Floats:
        """Return places (..., 2) of the reduced picture in the video."""
        return (np.asarray(places) - (self._scale - 1) / 2) / self._scale

    def keep(self, picture: int, image: Pixels) -> TrackingStep:
        """Store where the points are in a frame of the result."""
        row = self.kept.index(picture)
        if self._count > self._tracks.shape[2]:
            more = self._count + 2 * self._most - self._tracks.shape[2]
            self._tracks = np.pad(self._tracks, ((0, 0), (0, 0), (0, more)), constant_values=np.nan)
            self._similar = np.pad(self._similar, ((0, 0), (0, more)), constant_values=np.nan)
        points = self._points
        if points is not None:
            self._tracks[row][:, points.names] = self._enlarged(points.places).T
            if self._mask is not None:
                self._tracks[row][:, points.names[points.outside > 0]] = np.nan
            self._similar[row, points.names] = points.similarity
        so_far = self._tracks[: row + 1, :, : self._count].view()
        so_far.setflags(write=False)
        region = None if self._region is None else self._enlarged(self._region)
        return TrackingStep(picture, row + 1, len(self.kept), image, so_far, region, self)

    def sequence(self, frames: int) -> Sequence:
        """Return what is good of the first frames."""
        tracks = self._tracks[:frames, :, : self._count].copy()
        self._leave_out_doubtful_ends(tracks)
        seen = np.isfinite(tracks[:, 0])
        path, step = self._video.path, self.kept[1] - self.kept[0]
        if not self._count:
            raise self._no_corners()
        shortest = min(SHORTEST, max(MIN_FRAMES, frames // 2))
        lengths = seen.sum(axis=0)
        enough = lengths >= shortest
        sparse = seen[:, enough].sum(axis=1) < MIN_POINTS
        enough |= (lengths >= min(SHORTEST_OF_SPARSE, shortest)) & seen[sparse].any(axis=0)
        long = np.flatnonzero(enough)
        chosen = long[chosen_tracks(seen[:, long], self._most)]
        crowded = np.flatnonzero(seen[:, chosen].sum(axis=1) >= MIN_POINTS)
        if len(chosen) < MIN_POINTS or len(crowded) < MIN_FRAMES:
            raise InputError(
                f"{path}: {len(chosen)} points are followed through at least {shortest} frames; at least "
                f"{MIN_POINTS} are needed. Choose a region with texture, more points, or a lower check"
            )
        tracks = tracks[crowded][:, :, chosen]
        tracks = tracks[:, :, np.isfinite(tracks[:, 0]).any(axis=0)]
        pictures = np.array(self.kept)[crowded]
        every = f", every {step}th" if step > 1 else ""
        first, last = pictures[0] + 1, pictures[-1] + 1
        rate = self._video.frame_rate
        return Sequence(
            tracks,
            name=path.stem if path.exists() else path.absolute().parent.name,  # of a pattern: its folder
            faces=triangulate_tracks(tracks, np.isfinite(tracks[:, 0])),
            image_size=self._video.size,
            video=path.absolute(),
            video_frames=pictures if (pictures != np.arange(len(pictures))).any() else None,
            frame_rate=None if rate is None else rate / step,
            digest=hashlib.sha256(np.ascontiguousarray(tracks).data).hexdigest(),
            provenance=f"followed through {path.name}, frames {first} to {last}{every}: at most {self._most} "
            f"points, check {self._check:g}",
        )

    def _move(self, before: Pixels, gray: Pixels, sampler: Sampler) -> None:
        points = self._points
        assert points is not None
        flow = {"winSize": (WINDOW, WINDOW), "maxLevel": LEVELS}
        moved, found, _ = self._cv2.calcOpticalFlowPyrLK(before, gray, points.places[:, None], None, **flow)
        back, returned, _ = self._cv2.calcOpticalFlowPyrLK(gray, before, moved, None, **flow)
        moved, back = moved[:, 0], back[:, 0]
        near = np.linalg.norm(back - points.places, axis=1) < RETURN
        good = np.asarray(near & (found.ravel() > 0) & (returned.ravel() > 0) & self._inside(moved))
        was, moved = points[good], moved[good]
        maps, places, similarity = register(was.templates, sampler, was.maps, moved)
        apart = np.linalg.norm(places - moved, axis=1)
        same = (similarity >= self._check) & (apart < APART) & self._inside(places)
        velocities, outside = places - was.places, was.outside
        same &= ~jumps(was.places, velocities, was.velocities)
        if self._mask is not None:
            x, y = np.rint(np.clip(places, 0, self._limit)).astype(int).T
            outside = np.where(self._mask[y, x], 0, outside + 1)
            same &= outside <= LONGEST_OUTSIDE
        self._failed.append(was.names[~same])
        now = _Points(was.names, places, maps, velocities, similarity, outside, was.templates)[same]
        if self._region is not None:
            self._region = moved_region(self._region, was.places[same], now.places)
        # Patches that are seen much smaller, larger or more obliquely than at first are replaced.
        scales = np.linalg.svd(now.maps, compute_uv=False)
        other = (scales[:, 1] < OBLIQUE[0]) | (scales[:, 0] > OBLIQUE[1])
        if other.any():
            fresh, kept = Templates.at(sampler, now.places[other]), now.templates
            kept.patches[other], kept.slopes[other] = fresh.patches, fresh.slopes
            kept.inverses[other] = fresh.inverses
            now.maps[other] = np.eye(2, dtype=np.float32)
        self._points = now

    def _begin(self, gray: Pixels, sampler: Sampler) -> None:
        """Let points begin at corners that are far enough from those that are followed."""
        cv2 = self._cv2
        free = np.full(gray.shape, 255, dtype=np.uint8) if self._mask is None else self._mask.copy()
        margin = int(BORDER) + 1
        if self._region is not None:
            polygon = cv2.fillPoly(np.zeros_like(free), [np.rint(self._region).astype(np.int32)], 255)
            free &= polygon
        if self._region is not None or self._mask is not None:
            free = cv2.erode(
                free, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * INSET + 1, 2 * INSET + 1))
            )
        free[:margin] = free[-margin:] = free[:, :margin] = free[:, -margin:] = 0
        if not self._followed:
            self._uncertain = None
        begun, fresh = self._corners(gray, sampler, free)
        while not self._count and len(begun) < self._most and self._spacing > LEAST_SPACING:
            self._spacing = max(LEAST_SPACING, CLOSER * self._spacing)
            begun, fresh = self._corners(gray, sampler, free)
        if fresh is not None:
            self._add(begun, fresh)

    def _add(self, places: Singles, templates: Templates) -> None:
        names = self._count + np.arange(len(places))
        maps = np.tile(np.eye(2, dtype=np.float32), (len(places), 1, 1))
        velocities, similarity = np.full_like(places, np.nan), np.ones(len(places), dtype=np.float32)
        begun = _Points(names, places, maps, velocities, similarity, np.zeros_like(names), templates)
        self._points = begun if self._points is None else self._points.joined(begun)
        self._count += len(places)

    def _corners(self, gray: Pixels, sampler: Sampler, free: Pixels) -> tuple[Singles, Templates | None]:
        """Return the places (N, 2) and patches of new corners, apart from each other and from the points."""
        cv2, spacing = self._cv2, self._spacing
        mask, wanted = free.copy(), self._most - self._followed
        for x, y in () if self._points is None else np.rint(self._points.places).astype(int).tolist():
            cv2.circle(mask, (x, y), round(spacing), 0, -1)
        corners = cv2.goodFeaturesToTrack(gray, CANDIDATES * wanted, QUALITY, spacing, mask=mask, blockSize=5)
        if corners is None:
            return np.zeros((0, 2), dtype=np.float32), None
        found = corners.reshape(-1, 2)
        patches = Templates.at(sampler, found)
        if self._uncertain is None:
            self._uncertain = min(FAINT, UNCERTAIN * float(np.median(patches.uncertainty)))
        clear = patches.uncertainty < self._uncertain
        clear &= ambiguity(patches, sampler, found) < AMBIGUOUS
        best = np.flatnonzero(clear)[:wanted]
        return found[best], patches[best]

    def _inside(self, places: Singles) -> npt.NDArray[np.bool_]:
        return np.asarray(((places >= BORDER) & (places <= self._limit)).all(axis=1))

    def _leave_out_doubtful_ends(self, tracks: Floats) -> None:
        """Leave out what points that ended because of their patch showed just before, in place."""
        frames = len(tracks)
        enough = (1 + self._check) / 2
        for name in np.concatenate(self._failed) if self._failed else ():
            similar = self._similar[:frames, name]
            sure = np.flatnonzero(similar >= enough)
            tracks[(sure[-1] + 1 if sure.size else 0) :, :, name] = np.nan


def _of_one_size(video: Video, picture: int) -> Pixels:
    """Return a frame, as large as the video says that all are."""
    image = video.read(picture)
    height, width = image.shape[:2]
    if (width, height) != video.size:
        raise InputError(
            f"{video.path}: frame {picture + 1} is {width} x {height} pixels, not {video.size[0]} x "
            f"{video.size[1]}; points are followed through frames of one size"
        )
    return image


def jumps(places: Singles, velocities: Singles, before: Singles) -> npt.NDArray[np.bool_]:
    """Return which points jump: they move otherwise than before, and otherwise than all around them.

    The motion around a point is an affine function of the place, fitted to its `AROUND` nearest neighbors
    with weights 1 / (1 + (residual / 2 median residual)^2), so that others that jump do not count.

    `places`, `velocities`: (N, 2) px and px per frame; `before`: (N, 2) velocities in the frame before, NaN
    where a point has just begun: it jumps where none of its neighbors moves as it does. Returns (N,).
    """
    if len(places) <= AROUND:
        return np.zeros(len(places), dtype=bool)
    points, motion = places.astype(np.float64), velocities.astype(np.float64)
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    near = np.argpartition(apart, AROUND - 1, axis=1)[:, :AROUND]
    ones = np.ones((len(points), AROUND, 1))
    terms = np.concatenate([points[near] - points[:, None], ones], axis=2)
    weights = np.ones((len(points), AROUND))
    for _ in range(4):
        matrices = np.einsum("nki,nk,nkj->nij", terms, weights, terms) + 1e-6 * np.eye(3)
        fitted = np.linalg.solve(matrices, np.einsum("nki,nk,nkc->nic", terms, weights, motion[near]))
        residuals = np.linalg.norm(motion[near] - terms @ fitted, axis=2)
        usual = np.median(residuals, axis=1, keepdims=True) + 0.05
        weights = 1 / (1 + (residuals / (2 * usual)) ** 2)
    other = np.linalg.norm(motion - fitted[:, 2], axis=1)
    alone = (np.linalg.norm(motion[near] - motion[:, None], axis=2) > JUMP).all(axis=1)
    changed = np.linalg.norm(motion - before, axis=1) > JUMP
    changed |= alone & ~np.isfinite(before).all(axis=1)
    found: npt.NDArray[np.bool_] = (other > JUMP) & (other > JUMP_RATIO * usual[:, 0]) & changed
    return found


def _check_arguments(points: int, check: float, start: int, end: int | None, step: int) -> None:
    for name, value, least in (("points", points, MIN_POINTS), ("start", start, 1), ("step", step, 1)):
        Parameter(name, "", least=least, integer=True).checked(value)
    Parameter("check", "", most=1.0, open_above=True).checked(check)
    if end is not None and end <= start:
        raise InputError(f"end is {end}; accepted is a frame after the first one, {start}")


def without_track(sequence: Sequence, point: int) -> Sequence:
    """Return a sequence without one of its points."""
    return _with_tracks(sequence, np.delete(_tracks(sequence), point, axis=2))


def cut_track(sequence: Sequence, point: int, frame: int) -> Sequence:
    """Return a sequence with a track cut in two: what it shows from a frame on is another point, the last."""
    tracks = _tracks(sequence)
    seen = np.isfinite(tracks[:, 0, point])
    if not seen[:frame].any() or not seen[frame:].any():
        first, *_, last = np.flatnonzero(seen) + 1
        raise InputError(f"the track is seen in frames {first} to {last}; it cannot be cut at {frame + 1}")
    later = np.where(np.arange(len(tracks))[:, None] >= frame, tracks[:, :, point], np.nan)
    tracks[frame:, :, point] = np.nan
    return _with_tracks(sequence, np.concatenate([tracks, later[:, :, None]], axis=2))


def replace_track(sequence: Sequence, point: int, frame: int, places: npt.ArrayLike) -> Sequence:
    """Return a sequence with one track replaced from a frame on.

    `places`: (F - frame, 2) px, NaN where the point is not seen.
    """
    tracks, new = _tracks(sequence), np.asarray(places, dtype=np.float64)
    if new.shape != tracks[frame:, :, point].shape:
        raise InputError(f"places have shape {new.shape}; accepted is ({len(tracks) - frame}, 2)")
    tracks[frame:, :, point] = new
    return _with_tracks(sequence, tracks)


def _tracks(sequence: Sequence) -> Floats:
    """Return a copy of the tracks, NaN where they are hidden."""
    return np.where(sequence.visible[:, None], sequence.tracks, np.nan)


def _with_tracks(sequence: Sequence, tracks: Floats) -> Sequence:
    visible = np.isfinite(tracks[:, 0])
    return replace(
        sequence,
        tracks=tracks,
        visible=visible,
        faces=triangulate_tracks(tracks, visible),
        digest=hashlib.sha256(np.ascontiguousarray(tracks).data).hexdigest(),
    )


# -- coverage ------------------------------------------------------------------------------------------------

EVEN_SHARE = 0.2  # of the kept tracks, that a frame has where so many are followed in it
MOST_RANGES = 4  # of frames, or cuts, that a sentence names
# Tracks are of a background where one homography moves them, from one frame to another so many frames later.
SPAN, STRIDE = 10, 5  # frames between the two, and between one such pair and the next
FEWEST = 12  # tracks that are seen in both
WITHIN = 0.0025  # of the longer side of the picture, between a place and where the homography has it
OFTEN, RARELY = 0.8, 0.2  # shares of the pairs in which a track follows it: a background, or something else
# It is sure where most tracks are of the background, some are of something else, and hardly any are between.
LEAST_BACKGROUND, LEAST_OTHER, MOST_BETWEEN = 0.5, 0.05, 0.1


def chosen_tracks(seen: Bools, most: int) -> Ints:
    """Return at most so many tracks, ascending: the longest, but none of the frames is left with few.

    `seen`: (F, N) whether a track has a place in a frame.

    Those come first that are seen in most of the frames that do not have `EVEN_SHARE` of the tracks yet.
    """
    frames, count = seen.shape
    lengths = seen.sum(axis=0)
    if count <= most:
        return np.arange(count)
    first, end = seen.argmax(axis=0), frames - seen[::-1].argmax(axis=0)
    wanted = np.full(frames, max(MIN_POINTS, round(EVEN_SHARE * most)))
    left = np.ones(count, dtype=bool)
    chosen: list[int] = []
    while len(chosen) < most:
        before = np.concatenate([[0], np.cumsum(wanted > 0)])
        gains = np.where(left, before[end] - before[first], 0)
        if not gains.any():
            break
        best = int(np.lexsort((lengths, gains))[-1])
        chosen.append(best)
        left[best] = False
        wanted -= seen[:, best]
    others = np.flatnonzero(left)
    others = others[np.argsort(-lengths[others], kind="stable")[: most - len(chosen)]]
    return np.sort(np.concatenate([np.array(chosen, dtype=np.int64), others]))


def coverage_remarks(sequence: Sequence, pictures: Items[int]) -> tuple[str, ...]:
    """Return sentences about frames that a sequence does not have or that share no points, and a background.

    `pictures`: 0-based numbers of the frames of the video that were followed.
    """
    frames = np.arange(sequence.frame_count) if sequence.video_frames is None else sequence.video_frames
    remarks = []
    absent = np.setdiff1d(pictures, frames)
    if absent.size:
        parts = np.split(absent, np.flatnonzero(np.diff(np.searchsorted(pictures, absent)) > 1) + 1)
        remarks.append(
            f"{len(absent)} of {len(pictures)} frames of the video have fewer than {MIN_POINTS} tracks and "
            f"are left out: {_listed([_range(part) for part in parts])}"
        )
    visible = sequence.visible
    cuts = np.flatnonzero((visible[:-1] & visible[1:]).sum(axis=1) < MIN_POINTS) + 1
    if cuts.size:
        remarks.append(
            f"fewer than {MIN_POINTS} tracks go on, as at a cut, into frame "
            f"{_listed([str(frames[cut] + 1) for cut in cuts])} of the video; its parts can be tracked one "
            "by one, each from its first frame to its last"
        )
    background = _background(sequence)
    if background:
        remarks.append(
            f"{background} of {sequence.point_count} tracks move as one flat background; where the object is "
            "elsewhere, begin in a region around it"
        )
    return tuple(remarks)


def _background(sequence: Sequence) -> int:
    """Return how many tracks are of a flat background before which others move, 0 where that is not sure."""
    if sequence.image_size is None:
        return 0
    cv2, tracks, visible = load_opencv(), sequence.tracks, sequence.visible
    tried, fitted = np.zeros(sequence.point_count), np.zeros(sequence.point_count)
    for first in range(0, sequence.frame_count - SPAN, STRIDE):
        before, after = tracks[first], tracks[first + SPAN]
        both = np.flatnonzero(visible[first] & visible[first + SPAN])
        if len(both) < FEWEST:
            continue
        _, inside = cv2.findHomography(
            before[:, both].T, after[:, both].T, cv2.RANSAC, WITHIN * max(sequence.image_size)
        )
        if inside is not None:
            tried[both] += 1
            fitted[both] += inside.ravel()
    shares = fitted[tried > 0] / tried[tried > 0]
    background, others = int((shares > OFTEN).sum()), int((shares < RARELY).sum())
    count = sequence.point_count  # also of those that are in no pair, of which nothing is known
    sure = background >= LEAST_BACKGROUND * count and others > LEAST_OTHER * count
    return background if sure and len(shares) - background - others <= MOST_BETWEEN * len(shares) else 0


def _range(pictures: npt.NDArray[np.int64]) -> str:
    first, last = pictures[0] + 1, pictures[-1] + 1
    return str(first) if first == last else f"{first} to {last}"


def _listed(parts: list[str]) -> str:
    more = f" and {len(parts) - MOST_RANGES} more" if len(parts) > MOST_RANGES else ""
    return ", ".join(parts[:MOST_RANGES]) + more
