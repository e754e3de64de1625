"""Simulated tracks of a deforming object along a camera path, with the points that its surface hides.

They are written as `core.io.readers.challenge` describes it.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..data.sequence import MIN_FRAMES, CameraModel, GroundTruth, Observations, Sequence
from ..foundation import Bools, Floats, InputError, Ints, check_replaceable, make_folder, replacing
from ..foundation.parameters import Parameter, chosen_of
from ..io.files.contents import read_bytes
from ..io.readers.challenge import EDGES, FACES, PATHS, ChallengeFile, truth_file
from .objects import KINDS

DISTANCE = 450.0  # mm from the object, on average
FOCAL = 1400.0  # px
CENTER = (640.0, 480.0)  # px, of a 1280 x 960 image
INTRINSICS = np.array([[FOCAL, 0.0, CENTER[0]], [0.0, FOCAL, CENTER[1]], [0.0, 0.0, 1.0]])
MOST_OBSERVATIONS = 10_000_000  # which need about 2 GB
MIN_POINTS = 15  # below which a link of the arm, or a sheet, is no surface


def simulate(
    kind: str,
    *,
    path: str = "circle",
    camera: CameraModel | str = CameraModel.PERSPECTIVE,
    frames: int = 60,
    points: int = 120,
    noise: float = 0.3,
    occlusion: float = 0.5,
    seed: int = 0,
) -> Sequence:
    """Return a sequence of a deforming object with its exact truth.

    A perspective sequence has the true intrinsics, and the orthogonal tracks of the same frames as its
    companion. The same arguments give the same sequence.

    Parameters
    ----------
    kind
        "articulated", "balloon", "paper", "stretch" or "tearing".
    path
        "circle", "flyby", "line", "semi_circle", "tricky" or "zigzag".
    camera
        "perspective": tracks in pixels of a 1280 x 960 image; "orthogonal": in millimeters; or the model.
    frames, points
        F and P.
    noise
        standard deviation of each coordinate in pixels; orthogonal tracks get what that is in millimeters at
        the average distance.
    occlusion
        share of the observations that the object itself hides which is missing: 0 none, 1 all of them.
    seed
        of the noise and of the choice of missing observations.

    Returns
    -------
    Sequence
        with its true shapes, rotations and translations, in millimeters.

    Raises
    ------
    InputError
        where an argument is outside its range.

    Examples
    --------
    >>> import core
    >>> core.simulate("balloon", path="line", frames=10, points=30, seed=1)
    Sequence('balloon line', perspective, 10 frames, 30 points)
    """
    camera = chosen_of(CameraModel, "camera", camera)
    _check(kind, path, frames, points, noise, occlusion, seed)
    frames, points, seed = int(frames), int(points), int(seed)
    body = KINDS[kind](frames, points)
    rotations, translations = cameras(path, frames)
    seen = rotations @ body.shapes + translations[:, :, None]
    # One stream each, so that the companion is the orthogonal sequence of the same seed.
    perspective, amounts = camera is CameraModel.PERSPECTIVE, (noise, occlusion)
    own = orthogonal = _observe(
        seen, body.occluders, CameraModel.ORTHOGONAL, amounts, np.random.default_rng([seed, 0])
    )
    if perspective:
        own = _observe(seen, body.occluders, camera, amounts, np.random.default_rng([seed, 1]))
    return Sequence(
        own.tracks,
        own.visible,
        camera,
        f"{kind} {path}",
        intrinsics=INTRINSICS if perspective else None,
        truth=GroundTruth(np.arange(frames), body.shapes, frames // 2),
        rotations=rotations,
        translations=translations,
        companion=orthogonal if perspective else None,
        edges=body.edges,
        faces=body.faces,
        units="px" if perspective else "mm",
        digest=hashlib.sha256(own.tracks.data).hexdigest(),
        provenance=f"simulated: noise {noise:g} px, occlusion {occlusion:g}, seed {seed}",
    )


def _observe(
    seen: Floats, occluders: Ints, model: CameraModel, amounts: tuple[float, float], rng: np.random.Generator
) -> Observations:
    """Return the noisy tracks of points (F, 3, P) in camera coordinates, and which of them are seen."""
    noise, occlusion = amounts
    perspective = model is CameraModel.PERSPECTIVE
    if perspective:
        image = INTRINSICS @ seen
        exact, spread = image[:, :2] / image[:, 2:], noise
    else:
        exact, spread = seen[:, :2], noise * DISTANCE / FOCAL
    behind = hidden(exact, seen[:, 2], occluders, perspective=perspective)
    tracks = exact + spread * rng.standard_normal(exact.shape)
    return Observations(tracks, ~(behind & (rng.random(behind.shape) < occlusion)))


def _check(kind: str, path: str, frames: int, points: int, noise: float, occlusion: float, seed: int) -> None:
    for name, value, accepted in (("object", kind, tuple(KINDS)), ("path", path, PATHS)):
        if value not in accepted:
            raise InputError(f"{name} is {value!r}; accepted are {', '.join(accepted)}")
    for name, n, least in (("frames", frames, MIN_FRAMES), ("points", points, MIN_POINTS), ("seed", seed, 0)):
        Parameter(name, "", least=least, integer=True).checked(n)
    Parameter("noise", "").checked(noise)
    Parameter("occlusion", "", most=1.0).checked(occlusion)
    if frames * points > MOST_OBSERVATIONS:
        raise InputError(
            f"frames x points is {frames} x {points}; accepted are up to {MOST_OBSERVATIONS:,} observations"
        )


# -- paths of the camera -------------------------------------------------------------------------------------


def cameras(path: str, frames: int) -> tuple[Floats, Floats]:
    """Return world-to-camera rotations (F, 3, 3) and translations (F, 3) in mm along a path of `PATHS`.

    The camera's y points down and its z forward, as the world's do for a camera in front of the object.
    The target drifts by a few millimeters, so that the object does not stay in the middle of the image.
    """
    assert path in PATHS
    s = np.linspace(0, 1, frames)
    positions, roll = _positions(path, s)
    target = np.stack([8 * np.sin(5 * s), 5 * np.cos(4 * s), np.zeros(frames)], axis=1)
    return look_at(positions, target, roll)


def look_at(positions: Floats, target: Floats, roll: Floats) -> tuple[Floats, Floats]:
    """Return world-to-camera rotations (F, 3, 3) and translations (F, 3) of cameras that point at a target.

    `roll`: (F,) radians about the viewing direction.
    """
    forward = _unit(target - positions)
    right = _unit(np.cross([0.0, 1.0, 0.0], forward))
    down = np.cross(forward, right)
    cos, sin = np.cos(roll)[:, None], np.sin(roll)[:, None]
    rotations = np.stack([cos * right + sin * down, cos * down - sin * right, forward], axis=1)
    return rotations, -np.einsum("fab,fb->fa", rotations, positions)


def _positions(path: str, s: Floats) -> tuple[Floats, Floats]:
    """Return camera positions (F, 3) in mm and rolls (F,) in radians at times s (F,)."""
    roll, flat = np.zeros_like(s), np.ones_like(s)
    if path == "line":
        return DISTANCE * np.stack([2.2 * s - 1.1, -0.15 * flat, -0.85 * flat], axis=1), roll
    if path == "flyby":
        return DISTANCE * np.stack([3.0 * s - 1.5, 0.3 * s - 0.5, -1.0 + 0.4 * s], axis=1), roll
    distance = DISTANCE * flat
    if path == "circle":
        # The last frame is one step short of the first, as of a turntable.
        azimuth, elevation = 2 * np.pi * s * (len(s) - 1) / len(s), 0.25 * flat
    elif path == "semi_circle":
        azimuth, elevation = np.pi * (s - 0.5), 0.2 * flat
    elif path == "zigzag":
        azimuth, elevation = 0.9 * (2 * np.abs(2 * ((3 * s) % 1.0) - 1) - 1), 0.5 * (2 * s - 1)
    else:
        azimuth = 1.3 * np.sin(2 * np.pi * s) + 0.4 * np.sin(6 * np.pi * s + 1)
        elevation = 0.6 * np.sin(4 * np.pi * s + 0.5)
        distance = DISTANCE * (1 + 0.2 * np.sin(4 * np.pi * s))
        roll = 0.5 * np.sin(2 * np.pi * s + 2)
    level = np.cos(elevation)
    outward = np.stack([np.sin(azimuth) * level, -np.sin(elevation), -np.cos(azimuth) * level], axis=1)
    return distance[:, None] * outward, roll


def _unit(vectors: Floats) -> Floats:
    unit: Floats = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


# -- points that another part of the surface hides -----------------------------------------------------------

MARGIN = 1.0  # mm that a triangle must be nearer than a point to hide it
MOST_PAIRS = 200_000  # of a triangle and a point, compared at once: as many as stay in the cache


def hidden(image: Floats, depths: Floats, triangles: Ints, *, perspective: bool) -> Bools:
    """Return (F, P) whether a triangle lies between a point and the camera.

    `image`: (F, 2, P) positions in the image; `triangles`: (T, 3) point indices.
    """
    nearness = 1 / depths if perspective else -depths
    limit = 1 / (depths - MARGIN) if perspective else MARGIN - depths
    found = np.zeros(depths.shape, dtype=bool)
    for frame, places in enumerate(image):
        for triangle, point in overlapping(places, triangles):
            corners = triangles[triangle]  # (N, 3), one row per pair
            a, b, c = (places[:, corners[:, corner]] for corner in range(3))  # (2, N) each
            area = cross(b - a, c - a)
            area[np.abs(area) < 1e-12] = np.inf  # seen edge-on: covers nothing
            place = places[:, point]
            weight_b = cross(place - a, c - a) / area
            weight_c = cross(b - a, place - a) / area
            weight_a = 1 - weight_b - weight_c
            # A point's own triangles have it in a corner, where two weights are 0: they do not cover it.
            covers = np.minimum(np.minimum(weight_a, weight_b), weight_c) > 1e-9
            key = nearness[frame, corners]
            depth = weight_a * key[:, 0] + weight_b * key[:, 1] + weight_c * key[:, 2]
            found[frame, point[covers & (depth > limit[frame, point])]] = True
    return found


def overlapping(image: Floats, triangles: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield the pairs of a triangle and a point that lies in its bounding box: two index arrays (N,).

    They are those of some triangles at a time, which together have about `MOST_PAIRS` points in their strips
    of the image.
    """
    order = np.argsort(image[0])
    low, high = image[:, triangles].min(axis=2), image[:, triangles].max(axis=2)
    first = np.searchsorted(image[0], low[0], side="left", sorter=order)
    counts = np.searchsorted(image[0], high[0], side="right", sorter=order) - first
    group = np.cumsum(counts) // MOST_PAIRS
    for some in np.split(np.arange(len(triangles)), np.flatnonzero(np.diff(group)) + 1):
        triangle = np.repeat(some, counts[some])
        # Within each triangle's run of pairs, count on from its first point in the order of x.
        start = np.repeat(first[some] - np.cumsum(counts[some]) + counts[some], counts[some])
        point = order[start + np.arange(len(triangle))]
        inside = (image[1, point] >= low[1, triangle]) & (image[1, point] <= high[1, triangle])
        yield triangle[inside], point[inside]


def cross(first: Floats, second: Floats) -> Floats:
    """Return the z component of the cross product of vectors in the plane, (2, N)."""
    product: Floats = first[0] * second[1] - first[1] * second[0]
    return product


# -- files ---------------------------------------------------------------------------------------------------


def write_challenge(
    folder: str | os.PathLike[str],
    kind: str,
    *,
    paths: Iterable[str] = PATHS,
    camera_models: Iterable[CameraModel | str] = tuple(CameraModel),
    frames: int = 60,
    points: int = 120,
    noise: float = 0.3,
    occlusion: float = 0.5,
    seed: int = 0,
    decimals: int = 6,
) -> Path:
    """Write sequences of one object and return its folder, `<folder>/<kind>`.

    Parameters
    ----------
    folder
        where to put the object's folder; made where it is absent.
    kind, frames, points, noise, occlusion, seed
        as in `simulate`.
    paths, camera_models
        which sequences to write: names of paths, or one; models, or their names.
    decimals
        digits after the point of the tracks (px or mm).

    Returns
    -------
    Path
        the folder of the object.

    Raises
    ------
    InputError
        where an argument is outside its range, the folder cannot be written, or it holds another object of
        that name.

    Examples
    --------
    >>> import tempfile, core
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     core.list_sequences(core.write_challenge(folder, "paper", paths=["line"], frames=5))[0].points
    120
    """
    root = Path(folder) / kind
    models = [chosen_of(CameraModel, "camera", each) for each in camera_models]
    named = [paths] if isinstance(paths, str) else paths
    items = [ChallengeFile(root, model, path) for path, model in itertools.product(named, models)]
    for item in items:
        check_replaceable((item.file, item.visibility, item.truth))
    for item in items:
        sequence = simulate(
            kind,
            path=item.path_name,
            camera=item.camera,
            frames=frames,
            points=points,
            noise=noise,
            occlusion=occlusion,
            seed=seed,
        )
        _write_object(root, sequence)
        _write(item.file, _text(sequence.tracks.reshape(-1, points), f"%.{decimals}f"))
        _write(item.visibility, _text(np.repeat(sequence.visible, 2, axis=0), "%d"))
        _write(item.truth, _truth(sequence))
    return root


def _write_object(root: Path, sequence: Sequence) -> None:
    """Write the files that all sequences of an object share, unless they exist already."""
    assert sequence.truth is not None
    reference = sequence.truth.reference
    shape = _text(sequence.truth.at(reference), "%.6f")  # type: ignore[arg-type]
    file = root / f"gt_frame_{reference + 1}.txt"
    present = truth_file(root) if root.is_dir() else None
    if present is not None:
        if present[0].name != file.name or read_bytes(present[0]) != shape:
            raise InputError(
                f"{root}: holds another object ({present[0].name} differs); accepted is a new folder, or the "
                "same frames and points"
            )
        return
    check_replaceable((root / EDGES, root / FACES))
    _write(file, shape)
    for name, indices in ((EDGES, sequence.edges), (FACES, sequence.faces)):
        if indices is not None:
            _write(root / name, _text(indices, "%d"))


def _truth(sequence: Sequence) -> bytes:
    """Return the true shapes in single precision, which is 1e-5 mm, and the true cameras."""
    assert sequence.truth is not None
    assert sequence.rotations is not None and sequence.translations is not None
    stream = io.BytesIO()
    shapes, R, t = sequence.truth.points.astype(np.float32), sequence.rotations, sequence.translations
    np.savez_compressed(stream, allow_pickle=False, S=shapes, R=R, t=t, K=INTRINSICS)
    return stream.getvalue()


def _text(matrix: npt.NDArray[np.generic], number: str) -> bytes:
    stream = io.BytesIO()
    np.savetxt(stream, matrix, fmt=number)
    return stream.getvalue()


def _write(file: Path, content: bytes) -> None:
    make_folder(file.parent)
    with replacing(file) as temporary:
        temporary.write_bytes(content)
