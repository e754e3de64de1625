"""Which variables of a `.mat` or `.npz` are the tracks: the table of layouts, and the choice among them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...data.sequence import CameraModel
from ...foundation.exceptions import InputError
from . import known_layouts as known
from .array_shapes import SHAPES
from .variables import Parts, describe, intrinsics_of, is_array, numbers, size_of
from .visibility import could_be_tracks, split_mask, with_visibility

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .reading_options import ReadingOptions
    from .variables import LoadedFile, Variables


@dataclass(frozen=True)
class Layout:
    """A layout that is recognized by the names of its variables."""

    summary: str
    matches: Callable[[Variables], bool]
    read: Callable[[Variables, Path, ReadingOptions], Parts]


def _has_mask(variables: Variables) -> bool:
    mask = variables.get("W")
    named = any(is_array(variables.get(name), 2) for name in ("M", "X"))
    return named and is_array(mask, 2) and bool(np.isin(np.asarray(mask), (0, 1)).all())


def _has_estimate(variables: Variables) -> bool:
    tracks, shapes = variables.get("M"), variables.get("X_gt")
    return is_array(tracks, 2) and is_array(shapes, 2) and 3 * len(tracks) == 2 * len(shapes)


LAYOUTS: dict[str, Layout] = {
    "mocap": Layout(
        "W 2F x P and S 3F x P, with Rs 2F x 3 and list E x 2 or without",
        lambda v: is_array(v.get("W"), 2) and is_array(v.get("S"), 2),
        known.read_mocap,
    ),
    "blocked-shape": Layout("P3_gt 3F x P", lambda v: "P3_gt" in v, known.read_blocked_shape),
    "masked": Layout(
        "X or M 2F x P and a mask W of 0 and 1, with K or without", _has_mask, known.read_masked
    ),
    "back": Layout(
        "L_tracks 2 x P x F and track3D 3 x P x F",
        lambda v: {"L_tracks", "track3D"} <= v.keys(),
        known.read_back,
    ),
    "kinect": Layout(
        "res.Pg or Pgth, cells of 3 x P, with K or mdh_camcalib.mat",
        lambda v: "Pgth" in v or (isinstance(v.get("res"), dict) and "Pg" in v["res"]),
        known.read_kinect,
    ),
    "views": Layout(
        "a struct of pointnr, points, index, with P and U or without",
        lambda v: any(isinstance(x, dict) and {"pointnr", "points", "index"} <= x.keys() for x in v.values()),
        known.read_views,
    ),
    "estimated": Layout(
        "M 2F x P and X_gt 3F x P",
        _has_estimate,
        known.read_estimated,
    ),
}


def parts_of(file: LoadedFile, options: ReadingOptions, *, default: str = "") -> Parts:
    """Return the tracks that a file's variables hold, and what else they give.

    Parameters
    ----------
    file
        with variables by name.
    options
        of which `layout` is a key of `LAYOUTS`, or of `SHAPES`, with ":" and the name of the array where
        several fit, and after another ":" the visibility, as `with_visibility` takes it.
    default
        the layout where none is asked for; "" for what the names and shapes decide.

    Returns
    -------
    Parts
        with the visibility.

    Raises
    ------
    InputError
        where the variables fit no layout, or two, or break the one that they fit, and where it is not clear
        whether or how one of them is the visibility.
    """
    layout, _, rest = (options.layout or default).partition(":")
    variable, _, mask = rest.partition(":")
    if mask and options.visible:
        raise InputError(
            f"layout names the visibility {mask!r}, visible names {options.visible!r}; accepted is one"
        )
    visible, threshold = split_mask(mask) if mask else (options.visible or "", options.threshold)
    # Numbers near the limit of the format overflow in checks, which then refuse them.
    with np.errstate(over="ignore", invalid="ignore"):
        if layout:
            parts = _read_named(file, options, layout, options.tracks or variable)
        elif options.tracks or options.order:
            parts = _read_shape_of(file.variables, options)
        else:
            parts = _read_found(file, options)
        if options.xy == "yx":
            parts = replace(parts, tracks=parts.tracks[:, ::-1])
        return with_visibility(file.variables, parts, visible, threshold)


def _read_shape_of(variables: Variables, options: ReadingOptions) -> Parts:
    """Read the array that is named, or the only one that could be tracks, by its shape and order of axes."""
    if options.tracks and options.tracks not in variables:
        raise InputError(f"{options.tracks} is absent; there are {describe(variables)}")
    pairs = [
        (shape, name)
        for shape, name in _fitting_shapes(variables, options.order)
        if name == options.tracks or (not options.tracks and could_be_tracks(name, variables[name]))
    ]
    if len(pairs) != 1:
        name = options.tracks or "no array"
        found = (
            f"{name} ({size_of(variables.get(name))})" if options.tracks else f"one of {describe(variables)}"
        )
        fitting = ", ".join(f"{shape}:{name}" for shape, name in pairs) or "no layout"
        raise InputError(f"the tracks are {found}, which fits {fitting}; name one by --layout (layout=)")
    return _read_shape(variables, *pairs[0])


def _fitting_shapes(variables: Variables, order: str | None = None) -> list[tuple[str, str]]:
    """Return the shapes that arrays have, without the rarer one of two that no shape tells apart."""
    pairs = []
    for name, value in sorted(variables.items()):
        for key, shape in SHAPES.items():
            rarer = "interleaved" if name == "W2D" else "blocked"
            wrong = "points-frames-xy" if order != "ntxy" else "frames-points-xy"
            if key not in (rarer, wrong) and shape.fits(value):
                pairs.append((key, name))
    return pairs


def _read_found(file: LoadedFile, options: ReadingOptions) -> Parts:
    """Read the only layout that the variables fit."""
    variables = file.variables
    fitting = [name for name, layout in LAYOUTS.items() if layout.matches(variables)]
    if len(fitting) == 1:
        return _read_layout(file, options, fitting[0])
    if not fitting:
        pairs = [
            (s, name) for s, name in _fitting_shapes(variables) if could_be_tracks(name, variables[name])
        ]
        if len(pairs) == 1:
            return _read_shape(variables, *pairs[0])
        fitting = [f"{shape}:{name}" for shape, name in pairs]
    what = f"fits several layouts ({', '.join(fitting)})" if fitting else "fits no layout that is known"
    raise InputError(f"{what}; it holds {describe(variables)}; name one by --layout (layout=): {_known()}")


def _read_named(file: LoadedFile, options: ReadingOptions, name: str, variable: str) -> Parts:
    """Read the layout that was asked for."""
    variables = file.variables
    if name in LAYOUTS and not variable:
        if not LAYOUTS[name].matches(variables):
            raise InputError(
                f"layout {name} needs {LAYOUTS[name].summary}; the file holds {describe(variables)}"
            )
        return _read_layout(file, options, name)
    if name not in SHAPES:
        asked = f"{name}:{variable}" if variable else name
        raise InputError(f"there is no layout {asked!r}; accepted are {_known()}")
    fitting = [
        key
        for key, value in sorted(variables.items())
        if SHAPES[name].fits(value) and could_be_tracks(key, value)
    ]
    if not variable and len(fitting) != 1:
        which = ", ".join(f"{name}:{key}" for key in fitting) or "none"
        raise InputError(
            f"layout {name} ({SHAPES[name].summary}) fits {which}; it holds {describe(variables)}; "
            f"accepted is {name}:VARIABLE"
        )
    return _read_shape(variables, name, variable or fitting[0])


def _read_layout(file: LoadedFile, options: ReadingOptions, name: str) -> Parts:
    return replace(LAYOUTS[name].read(file.variables, file.path, options), layout=f"{name}:")


def _read_shape(variables: Variables, shape: str, name: str) -> Parts:
    """Read one array by its shape, with K where the file has one."""
    array = numbers(variables, name, dimensions=SHAPES[shape].dimensions, missing=True)
    if SHAPES[shape].dimensions == 3 and SHAPES[shape].frames_and_points(array.shape) is None:
        sizes = " x ".join(map(str, array.shape))
        raise InputError(f"{name} is {sizes}; layout {shape} accepts {SHAPES[shape].summary}")
    intrinsics = intrinsics_of(variables)
    return Parts(
        SHAPES[shape].arrange(array, name),
        CameraModel.ORTHOGONAL if intrinsics is None else CameraModel.PERSPECTIVE,
        camera_assumed=True,
        intrinsics=intrinsics,
        units="units",
        provenance=f"tracks are {name} of the file, read as {SHAPES[shape].summary}",
        layout=f"{shape}:{name}",
        shape=shape,
        roles={name: "tracks"},
    )


def _known() -> str:
    table = [f"{name} ({layout.summary})" for name, layout in LAYOUTS.items()]
    table += [f"{name}:VARIABLE ({shape.summary})" for name, shape in SHAPES.items()]
    return f"{'; '.join(table)}; with :MASK appended, the visibility"
