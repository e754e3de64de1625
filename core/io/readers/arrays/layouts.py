"""Which variables of a `.mat` or `.npz` are the tracks: the table of layouts, and the choice among them."""

from __future__ import annotations

from dataclasses import replace
from shlex import quote
from typing import Any

import numpy as np

from ....data.sequence import MIN_FRAMES, MIN_POINTS, CameraModel
from ....foundation.exceptions import InputError
from ...files.reading_options import NO_MASK, ReadingOptions
from ...files.variables import (
    PYTHON_OBJECTS,
    Layout,
    LoadedFile,
    Parts,
    Unread,
    Variables,
    describe,
    intrinsics_name,
    intrinsics_of,
    is_array,
    shortened,
    size_of,
    times_size,
    without_batch,
)
from ..keypoints import sleap
from .array_shapes import RARER, SHAPES, read_array, smooth_axis
from .known_layouts import KNOWN_LAYOUTS
from .trackers import TRACKER_LAYOUTS, TRACKERS, picture_size
from .visibility import could_be_tracks, with_visibility

MOST_LISTED = 2  # layouts in a sentence
LIKELY = ("tracks", "pred_tracks", "points", "coords", "trajectories", "xy", "W", "M", "X")
OUTSIDE = 1.5  # of the longer side of a picture, up to which tracks may leave it


LAYOUTS: dict[str, Layout] = TRACKER_LAYOUTS | KNOWN_LAYOUTS | {"sleap": sleap.LAYOUT}


def parts_of(file: LoadedFile, options: ReadingOptions) -> Parts:
    """Return the tracks that a file's variables hold, and what else they give."""
    variables, visible = file.variables, options.visible or ""
    # Numbers near the limit of the format overflow in checks, which then refuse them.
    with np.errstate(over="ignore", invalid="ignore"):
        parts = _read(file, options)
        if options.xy == "yx":
            parts = replace(parts, tracks=parts.tracks[:, ::-1])
        if (matrix := intrinsics_name(variables)) is not None and parts.intrinsics is not None:
            parts = replace(parts, roles={**parts.roles, matrix: "intrinsics"})
        if visible and visible == parts.reading.get("visible"):
            visible = NO_MASK  # the layout has read it
        parts = with_visibility(variables, parts, visible, options.threshold)
        parts = _with_size(parts, variables, options)
    layout, shape = options.layout or parts.reading.get("layout"), SHAPES[parts.shape]
    reading = {"tracks": parts.tracks_name, "xy": options.xy or "xy"} | ({"layout": layout} if layout else {})
    if layout in (None, *TRACKERS):
        if options.order or shape.dimensions == 3:
            reading["order"] = "ntxy" if shape.points_first else "tnxy"
    elif options.order:
        raise InputError(f"order is {options.order!r}; layout {layout} has only one and accepts none")
    left_out = tuple(
        f"{shortened(name)} is {size_of(value)}"
        for name, value in variables.items()
        if isinstance(value, Unread) and value is not PYTHON_OBJECTS
    )
    return replace(parts, reading={**parts.reading, **reading}, left_out=(*parts.left_out, *left_out))


def _with_size(parts: Parts, variables: Variables, options: ReadingOptions) -> Parts:
    """Return parts with the size of the picture, and tracks that are relative to it in its pixels."""
    seen = parts.tracks[np.isfinite(parts.tracks)]
    relative = seen.size > 0 and seen.min() >= 0 and seen.max() <= 1 and parts.camera_assumed
    if relative and options.image_size is not None and parts.image_size is None:
        return times_size(parts, options.image_size)
    if relative and parts.intrinsics is None and parts.image_size is None:
        guess = (
            f"all coordinates of {parts.tracks_name} are between 0 and 1; where they are relative to the "
            "picture, give its size (--size WIDTHxHEIGHT)"
        )
        return replace(parts, guesses=(*parts.guesses, guess))
    found = options.image_size or parts.image_size or picture_size(variables)
    inside = found is not None and seen.size > 0 and bool(seen.max() <= OUTSIDE * max(found))
    return replace(parts, image_size=found if inside or options.image_size else None)


def _fitting_shapes(variables: Variables, options: ReadingOptions) -> list[tuple[str, str]]:
    """Return the shapes that arrays have which could be the tracks, and which of these arrays they are.

    Where no shape tells two orders apart, the rarer one is left out. An array as large as a mask of tracks
    that have an axis of x and y is a mask of them, not tracks of half as many frames.
    """
    named, tracks, order = options.layout, options.tracks, options.order
    if named and tracks:
        return [(named, tracks)]
    rarer = RARER if order == "ntxy" else RARER.values()
    likely = [key for key, s in SHAPES.items() if order is None or s.points_first == (order == "ntxy")]
    pairs = [
        (key, name)
        for name, value in sorted(variables.items())
        if (name == tracks if tracks else could_be_tracks(name, value))
        for key in ([named] if named else [key for key in likely if key not in rarer])
        if SHAPES[key].fits(value)
        and (named or SHAPES[key].dimensions == 3 or SHAPES[key].blocked == _is_blocked(name, value, order))
    ]
    with_axis = [(key, name) for key, name in pairs if SHAPES[key].dimensions == 3]
    masks = [SHAPES[key].frames_and_points(np.shape(without_batch(variables[n]))) for key, n in with_axis]
    return with_axis + [
        (key, name)
        for key, name in pairs
        if SHAPES[key].dimensions == 2
        and not any(np.shape(variables[name]) in (size, (size or ())[::-1]) for size in masks)
    ]


def _is_blocked(name: str, value: Any, order: str | None) -> bool:
    """Return whether a matrix is taken for one of x in the upper half of its rows and y in the lower one.

    Where the points are first, x differ less among each other, and so do y, in the order that is right.
    """
    if order != "ntxy" or not is_array(value, 2) or len(value) % 2:
        return name == "W2D"
    columns = value.shape[1]
    interleaved = np.nanstd(value.reshape(-1, 2, columns), axis=(0, 2)).sum()
    return bool(np.nanstd(value.reshape(2, -1, columns), axis=(1, 2)).sum() < interleaved)


def _read(file: LoadedFile, options: ReadingOptions) -> Parts:
    """Read the layout that is asked for, or the only one that the variables fit."""
    variables, named, tracks = file.variables, options.layout, options.tracks
    if named and named not in (*LAYOUTS, *SHAPES):
        raise InputError(
            f"there is no layout {shortened(named)!r}; accepted are {', '.join(LAYOUTS)}, or a shape with "
            "--tracks, like interleaved (`nrsfm formats` lists them)"
        )
    if tracks is not None and tracks not in variables:
        raise InputError(f"{shortened(tracks)} is absent; there are {describe(variables)}")
    fitting = [
        name for name, layout in LAYOUTS.items() if named in (None, name) and layout.matches(variables)
    ]
    if named in LAYOUTS and not fitting:
        raise InputError(
            f"layout {named} needs {LAYOUTS[named].summary}; the file holds {describe(variables)}"
        )
    if len(fitting) == 1:
        parts = LAYOUTS[fitting[0]].read(variables, file.path, options)
        if tracks in (None, parts.tracks_name):
            known = {} if fitting[0] in TRACKERS else {"layout": fitting[0]}
            return replace(parts, reading={**parts.reading, **known})
        if named:
            raise InputError(f"tracks is {tracks!r}; those of layout {named} are {parts.tracks_name}")
    ways = {name: name for name in fitting}
    if len(fitting) <= 1:
        pairs = _fitting_shapes(variables, options)
        if len(pairs) == 1:
            return _read_shape(variables, *pairs[0], guess=not (named or options.order))
        if not pairs:
            raise InputError(_no_tracks(variables, options))
        ways = {f"{shape} of {shortened(name)}": f"{shape} --tracks {quote(name)}" for shape, name in pairs}
        fitting = list(ways)
    likely = min(fitting, key=lambda each: each.rpartition(" ")[2] not in LIKELY)
    listed = ", ".join(fitting[:MOST_LISTED])
    more = f" and {len(fitting) - MOST_LISTED} more" if len(fitting) > MOST_LISTED else ""
    raise InputError(
        f"fits several layouts ({listed}{more}); it holds {describe(variables)}; name one by "
        f"--layout {ways[likely]}"
    )


def _no_tracks(variables: Variables, options: ReadingOptions) -> str:
    """Return the sentence that refuses a file without tracks, with what it probably is."""
    if {"cam_c2w", "depths"} <= variables.keys():
        return (
            "holds cameras and depths as MegaSaM writes them, and no tracks; track points in its video, and "
            "give the camera matrix by --intrinsics"
        )
    if options.layout is not None:
        return (
            f"holds no array for layout {options.layout} ({SHAPES[options.layout].summary}); it holds "
            f"{describe(variables)}; name the array by --tracks"
        )
    order = f" in the order {options.order}" if options.order else ""
    if options.tracks is not None:
        name = shortened(options.tracks)
        return (
            f"{name} is {size_of(variables[options.tracks])}; accepted are tracks{order}: frames x "
            f"points x 2, points x frames x 2, 2F x P, ..., of at least {MIN_FRAMES} x {MIN_POINTS}"
        )
    for name, value in sorted(variables.items()):
        if is_array(value, 3) and 3 in value.shape and 2 not in value.shape:
            return (
                f"{name} ({size_of(value)}) may be shapes in 3-D, and there are no image points of them; "
                "accepted are tracks, with their shapes or without (`nrsfm formats` lists the layouts)"
            )
    return (
        f"fits no layout that is known; it holds {describe(variables)}; accepted is an array of "
        f"tracks{order}: frames x points x 2, points x frames x 2 (--order ntxy), 2F x P, ...; name it by "
        "--tracks or --layout (`nrsfm formats` lists all)"
    )


def _read_shape(variables: Variables, shape: str, name: str, *, guess: bool = False) -> Parts:
    """Read one array by its shape, with K where the file has one; `guess`: whether nobody named the shape."""
    tracks = read_array(variables, name, shape, missing=True)
    guesses: tuple[str, ...] = ()
    found = f"{name} ({size_of(variables[name])})"
    if guess and shape in RARER:
        smooth = smooth_axis(tracks.transpose(0, 2, 1))
        if smooth == 1:
            raise InputError(
                f"{found} is smooth along the axis of its points, so that these are "
                "probably first: give --order ntxy (order=), or --order tnxy where the frames are"
            )
        if shape == "frames-points-xy" and smooth is None:
            guesses = (f"the first axis of {found} is taken for the frames (--order)",)
    intrinsics = intrinsics_of(variables)
    return Parts(
        tracks,
        CameraModel.ORTHOGONAL if intrinsics is None else CameraModel.PERSPECTIVE,
        camera_assumed=True,
        intrinsics=intrinsics,
        units="units",
        provenance=f"tracks are {name} of the file, read as {SHAPES[shape].summary}",
        shape=shape,
        guesses=guesses,
        roles={name: "tracks"},
    )
