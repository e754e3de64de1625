"""The layouts of `.mat` and `.npz` files that are known by the names of their variables, one reader each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ....data.sequence import CameraModel, check_rotations
from ....foundation.exceptions import InputError
from ....foundation.linalg import rq
from ....foundation.types import Bools, Floats, Ints
from ...files.allowance import Allowance
from ...files.contents import check_file, read_bytes, refusing_damage
from ...files.reading_options import ReadingOptions
from ...files.variables import (
    Layout,
    Parts,
    Variables,
    cells,
    check_same_points,
    in_one_camera,
    intrinsics_of,
    is_array,
    joined,
    numbers,
    pixels,
    real_numbers,
    size_of,
    whole_numbers,
)
from .array_shapes import read_array
from .mat import load_variables

NORMALIZED = 10.0  # image points below it are normalized by K; in pixels they are hundreds
SAME = 1e-6  # of the extent of the tracks: largest difference of what R S and W show alike
CAMERA_FILE = "mdh_camcalib.mat"  # KK of the Kinect sequences in its folder
PERSPECTIVE, ORTHOGONAL = CameraModel.PERSPECTIVE, CameraModel.ORTHOGONAL


def _tracks_and_truth(
    variables: Variables, tracks: str, truth: str, shape: str = "interleaved"
) -> tuple[Floats, Floats]:
    """Return tracks (F, 2, P) and true shapes (F, 3, P), of arrays of one shape."""
    found = read_array(variables, tracks, shape), read_array(variables, truth, shape, 3)
    check_same_points(*found, (tracks, truth))
    return found


def _with_truth(tracks: Floats, shapes: Floats | None, **known: Any) -> Parts:
    """Return the tracks of an orthogonal camera, in the units of their true shapes."""
    return Parts(tracks, ORTHOGONAL, shapes=shapes, units="units", truth_units="units", **known)


def _cameras(tracks: Floats, shapes: Floats, rows: Floats, name: str) -> tuple[Floats, Floats, float]:
    """Return R (F, 3, 3), t (F, 3) and how far tracks differ from R S + t, of the first two rows of each R.

    The third row is the cross product of the others.
    """
    if rows.shape != (len(tracks), 2, 3):
        found = f"{len(rows)} frames of {rows.shape[1]} x {rows.shape[2]}"
        raise InputError(f"{name} has {found}; accepted are {len(tracks)} of 2 x 3")
    rotations = np.concatenate([rows, np.cross(rows[:, 0], rows[:, 1])[:, None]], axis=1)
    check_rotations(rotations, name)
    offset = tracks - rows @ shapes
    translations = offset.mean(axis=2)
    apart = np.abs(offset - translations[:, :, None]).max()
    return rotations, np.pad(translations, ((0, 0), (0, 1))), float(apart)


def read_mocap(variables: Variables, path: Path, options: ReadingOptions) -> Parts:
    """Motion capture of Akhter et al.: W = Rs S per frame, rows interleaved; `list` counts from 1."""
    tracks, shapes = _tracks_and_truth(variables, "W", "S")
    rotations = translations = None
    if "Rs" in variables:
        rotations, translations, _ = _cameras(tracks, shapes, read_array(variables, "Rs"), "Rs")
    return _with_truth(
        tracks,
        shapes,
        rotations=rotations,
        translations=translations,
        edges=_edges(variables, tracks.shape[2]),
        roles={"W": "tracks", "S": "truth", "Rs": "cameras", "list": "edges"},
    )


def _edges(variables: Variables, points: int) -> Ints | None:
    """Return the skeleton that `list` holds, counted from 0."""
    if "list" not in variables:
        return None
    pairs = numbers(variables, "list")
    if not pairs.size:
        return None
    if pairs.shape[1] != 2 or (pairs != np.floor(pairs)).any() or pairs.min() < 1 or pairs.max() > points:
        raise InputError(f"list must hold two point numbers per row, from 1 to {points}")
    return pairs.astype(np.int64) - 1


def read_factors(variables: Variables, path: Path, options: ReadingOptions) -> Parts:
    """Tracks W 2 x P x F of shapes S 3 x P x F and rotations R 3 x 3 x F, as in Rabaud's toolbox: W = R S."""
    tracks, shapes = _tracks_and_truth(variables, "W", "S", "xy-points-frames")
    rows = numbers(variables, "R", dimensions=3).transpose(2, 0, 1)[:, :2]
    rotations, translations, apart = _cameras(tracks, shapes, rows, "R")
    known: dict[str, Any] = {"shapes": shapes, "rotations": rotations, "translations": translations}
    role = {"S": "truth", "R": "cameras"}
    if not apart <= SAME * float(np.ptp(tracks)):
        note = f"R S differs from W by up to {apart:.2g}, and neither is read"
        known, role = {"shapes": None, "provenance": note}, {"S": "not read", "R": "not read"}
    return _with_truth(tracks, shape="xy-points-frames", roles={"W": "tracks"} | role, **known)


def read_blocked_shape(variables: Variables, path: Path, options: ReadingOptions) -> Parts:
    """Shapes of Torresani et al.: P3_gt, all rows x, then y, then z; the tracks are its x and y."""
    shapes = read_array(variables, "P3_gt", "blocked", 3)
    return _with_truth(
        shapes[:, :2],
        shapes,
        provenance="tracks are x and y of the 3-D shapes in the file (orthogonal projection)",
        shape="blocked",
        roles={"P3_gt": "tracks"},
    )


def read_masked(variables: Variables, path: Path, options: ReadingOptions) -> Parts:
    """Tracks X or M with a mask W of the same size, rows interleaved; K where the camera is calibrated."""
    name = "M" if "M" in variables else "X"
    tracks, mask = read_array(variables, name, missing=True), read_array(variables, "W")
    check_same_points(tracks, mask, (name, "W"))
    intrinsics = intrinsics_of(variables)
    return Parts(
        tracks,
        ORTHOGONAL if intrinsics is None else PERSPECTIVE,
        camera_assumed=True,
        visible=(mask != 0).all(axis=1),
        intrinsics=intrinsics,
        units="units" if intrinsics is None else "px",
        roles={name: "tracks", "W": "visibility"},
    )


def read_back(variables: Variables, path: Path, options: ReadingOptions) -> Parts:
    """Back: L_tracks 2 x P x F in pixels, track3D 3 x P x F in millimeters, a missing point all zero."""
    tracks, shapes = _tracks_and_truth(variables, "L_tracks", "track3D", "xy-points-frames")
    absent = (shapes == 0).all(axis=1, keepdims=True)
    return Parts(
        tracks,
        PERSPECTIVE,
        shapes=np.where(absent, np.nan, shapes),
        shape="xy-points-frames",
        roles={"L_tracks": "tracks", "track3D": "truth"},
    )


def read_kinect(variables: Variables, path: Path, options: ReadingOptions) -> Parts:
    """Kinect sequences: cells 3 x P in camera coordinates (res.Pg or Pgth), projected here.

    K is in the file, or is KK of `CAMERA_FILE` in its folder. Asked for an orthogonal camera, x and y of the
    shapes are the tracks and no K is needed.
    """
    given, name = (variables["Pgth"], "Pgth") if "Pgth" in variables else (variables["res"]["Pg"], "res.Pg")
    shapes, roles = cells(given, name, 3), {name.partition(".")[0]: "tracks"}
    if options.camera_model is ORTHOGONAL:
        note = f"tracks are x and y of the 3-D points {name} of the file (orthogonal projection)"
        return Parts(shapes[:, :2], ORTHOGONAL, shapes=shapes, units="mm", provenance=note, roles=roles)
    intrinsics, origin = intrinsics_of(variables), "K of the file"
    camera_file = path.parent / CAMERA_FILE
    if intrinsics is None and camera_file.is_file():
        with refusing_damage(camera_file):
            intrinsics = intrinsics_of(load_variables(read_bytes(camera_file)))
        origin = f"KK of {CAMERA_FILE}"
    if intrinsics is None:
        raise InputError(
            f"{name} must be projected to give tracks, and there is no K in the file and no KK in "
            f"{CAMERA_FILE} in its folder"
        )
    return Parts(
        pixels(shapes, intrinsics, name),
        PERSPECTIVE,
        intrinsics=intrinsics,
        shapes=shapes,
        provenance=f"tracks are projected from the 3-D points {name} with {origin}, without noise",
        roles=roles,
    )


def read_leap(variables: Variables, path: Path, options: ReadingOptions) -> Parts:
    """Labels of LEAP: positions P x 2 x F in pixels, NaN where a joint is not labelled, and a skeleton."""
    tracks = read_array(variables, "positions", "points-xy-frames", missing=True)
    skeleton = variables["skeleton"]
    edges = skeleton.get("edges") if isinstance(skeleton, dict) else None
    joined = is_array(edges, 2) and edges.shape[1] == 2 and edges.size > 0
    roles = {"positions": "tracks", "initialization": "not read"}
    return Parts(
        tracks,
        PERSPECTIVE,
        camera_assumed=True,
        edges=whole_numbers(edges, "skeleton.edges") - 1 if joined else None,
        producer="LEAP",
        shape="points-xy-frames",
        roles=roles | ({"skeleton": "edges"} if joined else {}),
    )


def read_cameras_of_scene(variables: Variables, path: Path, options: ReadingOptions) -> Parts:
    """Read views of a rigid scene: W 2F x P, points Xgt 3 x P, and structs P(i).P 3 x 4 with x ~ P X."""
    tracks = read_array(variables, "W", missing=True)
    roles = {"W": "tracks", "Xgt": "truth", "P": "cameras", "KK": "intrinsics"}
    return _of_rigid_scene(tracks, variables, "Xgt", 3, _fields(variables["P"], "P"), roles)


def read_views(variables: Variables, path: Path, options: ReadingOptions) -> Parts:
    """Read Door's views of a rigid scene: a struct {pointnr, points, index from 1}, cameras P, points U."""
    name = _views_of(variables) or ""
    views = variables[name]
    positions, columns = views["points"], views["index"]
    pointnr = whole_numbers(views["pointnr"], f"{name}.pointnr")
    if pointnr.size != 1 or pointnr.item() < 0:
        found = f"{pointnr.item():g}" if pointnr.size == 1 else f"{pointnr.size} numbers"
        raise InputError(f"{name}.pointnr is {found}; accepted is the number of the points")
    count = int(pointnr.item())
    if not isinstance(positions, list) or not isinstance(columns, list) or len(positions) != len(columns):
        raise InputError(f"{name}.points and {name}.index must have one cell per view each")
    Allowance(check_file(path)).use_array((len(positions), 2, count), 8)
    tracks = np.full((len(positions), 2, count), np.nan)
    for view, (places, index) in enumerate(zip(positions, columns, strict=True)):
        where = f"view {view + 1} of {name}"
        points = real_numbers(places, f"{where}: points")
        if points.ndim != 2 or points.shape[0] not in (2, 3) or np.size(index) != points.shape[1]:
            raise InputError(f"{where}: points must be 2 x n or 3 x n, with n entries in index")
        column = np.ravel(whole_numbers(index, f"{where}: index")) - 1
        if column.size and (column.min() < 0 or column.max() >= count):
            raise InputError(f"{where}: index runs to {column.max() + 1}; accepted is 1 to pointnr = {count}")
        if len(np.unique(column)) < len(column):
            raise InputError(f"{where}: index names a point twice")
        tracks[view][:, column] = points[:2] / points[2] if len(points) == 3 else points
    roles = {name: "tracks", "P": "cameras", "U": "truth"}
    return _of_rigid_scene(tracks, variables, "U", 4, variables.get("P"), roles)


def _views_of(variables: Variables) -> str | None:
    """Return the name of the struct of Door's views."""
    for name, value in variables.items():
        if isinstance(value, dict) and {"pointnr", "points", "index"} <= value.keys():
            return name
    return None


def _of_rigid_scene(
    tracks: Floats, variables: Variables, name: str, rows: int, given: object, roles: dict[str, str]
) -> Parts:
    """Return tracks in one camera K, with R and t of cells P = K [R t] where these are given.

    `name`: the variable of the points, 3 x P or homogeneous 4 x P as `rows` tells, which may be absent.
    """
    frames, count = len(tracks), tracks.shape[2]
    parts = Parts(
        tracks,
        PERSPECTIVE,
        truth_units="units",
        provenance="a rigid scene: one 3-D shape for all views",
        roles=roles,
    )
    if name in variables:
        scene = numbers(variables, name)
        if scene.shape != (rows, count):
            raise InputError(f"{name} is {size_of(scene)}; accepted is {rows} x {count}")
        places = scene[:3] / scene[3:] if rows == 4 else scene
        parts = replace(parts, shapes=np.broadcast_to(places, (frames, 3, count)))
    if given is None:
        return parts
    cameras = cells(given, "P", 3)
    if cameras.shape != (frames, 3, 4):
        raise InputError(
            f"P has {len(cameras)} cells of 3 x {cameras.shape[2]}; accepted are {frames} of 3 x 4"
        )
    ranks = np.linalg.matrix_rank(cameras[:, :, :3])
    if (ranks < 3).any():
        camera = int(ranks.argmin()) + 1
        raise InputError(f"P{{{camera}}} has columns 1 to 3 that are singular; accepted are cameras K [R t]")
    mirrored = ""
    if parts.shapes is not None:
        depths = (cameras @ np.insert(parts.shapes, 3, 1.0, axis=1))[:, 2]
        if (depths * np.linalg.det(cameras[:, :, :3])[:, None] < 0).mean() > 0.5:  # behind turned cameras
            cameras = cameras * [-1.0, -1.0, -1.0, 1.0]
            mirrored = f"{name} is in left-handed axes, and is mirrored"
            parts = replace(parts, shapes=-parts.shapes)
    matrices, rotations, translations = zip(*map(_factor_camera, cameras), strict=True)
    tracks, intrinsics, moved = in_one_camera(tracks, np.stack(matrices))
    return replace(
        parts,
        tracks=tracks,
        intrinsics=intrinsics,
        rotations=np.stack(rotations),
        translations=np.stack(translations),
        provenance=joined(parts.provenance, mirrored, moved),
    )


def _factor_camera(camera: Floats) -> tuple[Floats, Floats, Floats]:
    """Return K with positive diagonal and K[2, 2] = 1, a rotation R and t, of a 3 x 4 camera up to scale."""
    camera = camera * np.sign(np.linalg.det(camera[:, :3]))
    intrinsics, rotation = rq(camera[:, :3])
    translation: Floats = np.asarray(np.linalg.solve(intrinsics, camera[:, 3]), dtype=np.float64)
    return intrinsics / intrinsics[2, 2], rotation, translation


def read_estimated(variables: Variables, path: Path, options: ReadingOptions) -> Parts:
    """Pyproximal's copy of pickup: M and X_gt interleaved. Its R is an estimate, so it is no true camera."""
    tracks, shapes = _tracks_and_truth(variables, "M", "X_gt")
    note = "R of the file is an estimate and is not used as the true camera" if "R" in variables else ""
    roles = {"M": "tracks", "X_gt": "truth", "R": "not read"}
    return _with_truth(tracks, shapes, provenance=note, roles=roles)


def _frames_of(variables: Variables) -> tuple[str, Variables] | None:
    """Return the struct array of the image points and where the others are, None where there is none."""
    scene = variables.get("scene")
    for inside, name in ((scene, "m"), (variables, "p")):
        if isinstance(inside, dict) and _fields(inside.get(name), "p") is not None:
            return name, inside
    return None


def _fields(structs: object, name: str) -> list[object] | None:
    """Return one field of all elements of a struct array, which HDF5 stores field by field."""
    if isinstance(structs, dict):
        values = structs.get(name)
        return values if isinstance(values, list) else None if values is None else [values]
    if not isinstance(structs, list) or not structs:
        return None
    if not all(isinstance(each, dict) and name in each for each in structs):
        return None
    return [each[name] for each in structs]


def read_isometric(variables: Variables, path: Path, options: ReadingOptions) -> Parts:
    """Isometric NRSfM (Parashar et al.): structs p(i).p and Pgth(i).P, or scene.m, scene.Pgth.

    Image points are 2 x P, or 3 x P and homogeneous; in pixels, or normalized by K, which makes them smaller
    than a few units. A missing point is 0 or NaN, or has 0 in v (F x P), which ToTeM writes.
    """
    found = _frames_of(variables)
    assert found is not None  # it was recognized by it
    name, inside = found
    in_scene = inside is not variables
    where = "scene.m.p" if in_scene else "p.p"
    given = _fields(inside[name], "p")
    rows = {each.shape[0] for each in given or [] if is_array(each, 2)}
    if rows not in ({2}, {3}):
        raise InputError(f"{where} is {size_of(given)}; accepted is 2 x P or 3 x P in every frame")
    points = cells(given, where, *rows, missing=True)
    tracks = points[:, :2] / points[:, 2:] if rows == {3} else points
    shapes = _fields(inside.get("Pgth"), "P")
    truth = None
    if shapes is not None:
        truth = cells(shapes, "Pgth.P", 3, missing=True)
        check_same_points(tracks, truth, (where, "Pgth.P"))
        truth = np.where((truth == 0).all(axis=1, keepdims=True), np.nan, truth)
    absent: Bools = np.asarray((points[:, :2] == 0).all(axis=1) | ~np.isfinite(tracks).all(axis=1))
    mask, known = variables.get("v"), {}
    if is_array(mask, 2) and mask.shape == absent.shape and np.isin(mask, (0, 1)).all():
        absent, known = absent | (mask == 0), {"v": "visibility"}
    intrinsics, note = intrinsics_of(inside if in_scene else variables), ""
    seen = np.abs(tracks[np.broadcast_to(~absent[:, None], tracks.shape)])
    if intrinsics is not None and seen.size and seen.max() < NORMALIZED:
        tracks = intrinsics[:2, :2] @ tracks + intrinsics[:2, 2:]
        note = f"the image points {where} are normalized, and are put into pixels by K of the file"
    owner = "scene" if in_scene else name
    return Parts(
        np.where(absent[:, None], np.nan, tracks),
        PERSPECTIVE,
        camera_assumed=intrinsics is None,
        intrinsics=intrinsics,
        shapes=truth,
        producer="isometric NRSfM",
        provenance=note,
        roles={owner: "tracks"} | ({} if in_scene or truth is None else {"Pgth": "truth"}) | known,
        reading={"visible": "v"} if known else {},
    )


# -- as layouts ----------------------------------------------------------------------------------------------


def _arrays(dimensions: int, *names: str) -> Callable[[Variables], bool]:
    return lambda variables: all(is_array(variables.get(name), dimensions) for name in names)


def _named(*names: str) -> Callable[[Variables], bool]:
    return lambda variables: set(names) <= variables.keys()


def _has_mask(variables: Variables) -> bool:
    mask = variables.get("W")
    named = any(is_array(variables.get(name), 2) for name in ("M", "X"))
    return named and is_array(mask, 2) and bool(np.isin(np.asarray(mask), (0, 1)).all())


def _has_estimate(variables: Variables) -> bool:
    tracks, shapes = variables.get("M"), variables.get("X_gt")
    return is_array(tracks, 2) and is_array(shapes, 2) and 3 * len(tracks) == 2 * len(shapes)


def _has_shapes_alone(variables: Variables) -> bool:
    inside = variables.get("res")
    found = "Pgth" in variables or (isinstance(inside, dict) and "Pg" in inside)
    return found and _frames_of(variables) is None


KNOWN_LAYOUTS: dict[str, Layout] = {
    "mocap": Layout(
        "W 2F x P and S 3F x P, with Rs 2F x 3 and list E x 2 or without", _arrays(2, "W", "S"), read_mocap,
    ),
    "factors": Layout("W 2 x P x F, S 3 x P x F and R 3 x 3 x F", _arrays(3, "W", "S", "R"), read_factors),
    "scene": Layout(
        "W 2F x P of a rigid scene Xgt 3 x P, with structs P(i).P 3 x 4", _named("W", "Xgt", "P"),
        read_cameras_of_scene,
    ),
    "leap": Layout(
        "positions P x 2 x F with skeleton, of LEAP",
        lambda v: is_array(v.get("positions"), 3) and "skeleton" in v, read_leap,
    ),
    "blocked-shape": Layout("P3_gt 3F x P", _named("P3_gt"), read_blocked_shape),
    "masked": Layout("X or M 2F x P and a mask W of 0 and 1, with K or without", _has_mask, read_masked),
    "back": Layout("L_tracks 2 x P x F and track3D 3 x P x F", _named("L_tracks", "track3D"), read_back),
    "kinect": Layout(
        "res.Pg or Pgth, cells of 3 x P, with K or mdh_camcalib.mat", _has_shapes_alone, read_kinect,
    ),
    "isometric": Layout(
        "structs p(i).p 2 x P or 3 x P, Pgth(i).P 3 x P, with KK, or scene.m(i).p, scene.Pgth(i).P, scene.K",
        _frames_of, read_isometric,
    ),
    "views": Layout("a struct of pointnr, points, index, with P and U or without", _views_of, read_views),
    "estimated": Layout("M 2F x P and X_gt 3F x P", _has_estimate, read_estimated),
}  # fmt: skip
