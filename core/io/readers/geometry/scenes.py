"""Models of structure from motion: the file of Bundler, the text folder of COLMAP; tracks and K are read.

Bundler (`bundle.out`), after a line of comment: numbers of cameras and points; per camera f k1 k2, R (3 x 3)
and t; per point position, color and the number of its views, each camera, key, x, y. There x and y are from
the middle of the picture and y points up, so that the tracks are (x, -y) and K = diag(f, f, 1). A camera that
is not registered has f = 0.

COLMAP: `cameras.txt` has CAMERA_ID MODEL WIDTH HEIGHT and parameters in a line, the focal lengths and the
principal point first; `images.txt` two lines per picture, IMAGE_ID QW QX QY QZ TX TY TZ CAMERA_ID NAME and
X Y POINT3D_ID of each keypoint, -1 where it is of no point. Frames are ordered by the names of the pictures.

A point x, y at depth 1 is seen at K (D(x, y), 1). With r2 = x x + y y, and g = r2 here,

    D(x, y) = (x, y) (1 + k1 g + k2 g^2 + k3 g^3) / (1 + k4 g + k5 g^2 + k6 g^3)
              + (2 p1 x y + p2 (r2 + 2 x x), p1 (r2 + 2 y y) + 2 p2 x y),

and for a fisheye, with a = atan(r) and g = a a,

    D(x, y) = (x, y) (a / r) (1 + k1 g + k2 g^2 + k3 g^3 + k4 g^4).

Bundler has the first with k1 and k2. The tracks are D undone by Newton's method, begun at D(x, y); its
Jacobian is the imaginary part of D at (x + i h, y) and (x, y + i h), over h.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from ....data.sequence import CameraModel
from ....foundation.exceptions import InputError
from ....foundation.types import Floats
from ...files.allowance import Allowance
from ...files.contents import check_text, naming, read_bytes
from ...files.reading_options import ReadingOptions
from ...files.variables import LoadedFile, Parts, Variables, in_one_camera

_Complex = npt.NDArray[np.complex128]

_ONE_FOCAL = ("SIMPLE_PINHOLE", "SIMPLE_RADIAL", "RADIAL", "SIMPLE_RADIAL_FISHEYE", "RADIAL_FISHEYE")
_DISTORTION: dict[str, tuple[str, ...]] = {  # the names of the parameters after those of K
    "SIMPLE_PINHOLE": (),
    "PINHOLE": (),
    "SIMPLE_RADIAL": ("k1",),
    "RADIAL": ("k1", "k2"),
    "OPENCV": ("k1", "k2", "p1", "p2"),
    "FULL_OPENCV": ("k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6"),
    "SIMPLE_RADIAL_FISHEYE": ("k1",),
    "RADIAL_FISHEYE": ("k1", "k2"),
    "OPENCV_FISHEYE": ("k1", "k2", "k3", "k4"),
}
_STEP = 1e-20  # h of the Jacobian; nothing is subtracted, so that it may be as small
_NEWTON_STEPS = 30
_UNDONE = 1e-9  # of the focal length: largest difference of D at the result and the point
_SUFFIXES = (".txt", ".bin")
NOT_READ = "the cameras and 3-D points of the model are not read"


def is_colmap_folder(path: Path) -> bool:
    """Return whether a folder holds a model of COLMAP, as text or binary."""
    return any(
        (path / f"images{suffix}").is_file() and (path / f"cameras{suffix}").is_file() for suffix in _SUFFIXES
    )


def load_scene(path: Path, content: bytes) -> LoadedFile:
    """Return tracks (F, P, 2), NaN where a point is not seen, and K of a model."""
    return LoadedFile(path, content, _load_colmap(path) if path.is_dir() else _load_bundle(content))


def _in_one_camera(tracks: Floats, straight: Floats, matrices: Floats, notes: list[str]) -> Variables:
    """Return tracks in one camera, and the remarks on them, in `straight` with their distortion undone."""
    moved, intrinsics, note = in_one_camera(straight.transpose(0, 2, 1), matrices)
    notes = [*notes, note] if note else notes
    if not np.array_equal(straight, tracks, equal_nan=True):
        shift = np.hypot(*np.moveaxis(tracks - straight, -1, 0))
        notes += [f"the distortion of the cameras is undone, by up to {np.nanmax(shift, initial=0):.3g} px"]
        if lost := int(np.count_nonzero(np.isfinite(tracks[..., 0]) & np.isnan(shift))):
            notes += [f"{lost} observations that it cannot be undone for are taken as not seen"]
    return {"tracks": moved.transpose(0, 2, 1), "K": intrinsics, "notes": np.array(notes)}


def _empty(frames: int, points: int, stored: int) -> Floats:
    Allowance(stored).use_array((frames, points, 2), 8)
    return np.full((frames, points, 2), np.nan)


def _load_bundle(content: bytes) -> Variables:
    check_text(content)
    lines = [line for line in content.decode("latin-1").splitlines() if line.strip() and line[0] != "#"]
    frames, points = (int(number) for number in lines[0].split())
    cameras = np.array([[float(number) for number in line.split()] for line in lines[1 : 1 + 5 * frames : 5]])
    tracks = _empty(max(frames, 0), max(points, 0), len(content))
    first = 1 + 5 * frames
    if frames < 1 or points < 1 or len(lines) < first + 3 * points:
        raise ValueError(f"it has {len(lines)} lines for {frames} cameras and {points} points")
    for point, line in enumerate(lines[first + 2 : first + 3 * points : 3]):
        count, *views = (float(number) for number in line.split())
        if len(views) != 4 * count:
            raise ValueError(f"point {point} has {len(views)} numbers for {count:g} views")
        for camera, _, x, y in np.reshape(views, (-1, 4)):
            if not 0 <= camera < frames:
                raise ValueError(f"point {point} is seen by camera {camera:g} of {frames}, counted from 0")
            tracks[int(camera), point] = x, -y
    focal, distortion = cameras[:, 0], cameras[:, 1:3]
    if not (focal > 0).any():
        raise ValueError("no camera has a focal length")
    focal = np.where(focal > 0, focal, np.median(focal[focal > 0]))  # 0 is of a camera that sees nothing
    straight = np.array(
        [
            f * undistorted(seen / f, "RADIAL", bent) if bent.any() else seen
            for seen, f, bent in zip(tracks, focal, distortion, strict=True)
        ]
    )
    matrices = np.array([np.diag([f, f, 1.0]) for f in focal])
    return _in_one_camera(tracks, straight, matrices, ["K is diag(f, f, 1), from the middle of the picture"])


def _load_colmap(folder: Path) -> Variables:
    if not (folder / "images.txt").is_file():
        raise InputError(
            "holds a binary model of COLMAP; accepted is text: colmap model_converter --input_path A "
            "--output_path B --output_type TXT"
        )
    cameras, images = (_lines(folder / name) for name in ("cameras.txt", "images.txt"))
    models = {line.split()[0]: line.split()[1:] for line in cameras if line.strip()}
    pairs = sorted(zip(images[0::2], images[1::2], strict=True), key=lambda pair: pair[0].split()[9])
    used = [models[image.split()[8]] for image, _ in pairs]
    lenses = [[model[3], *model[3:6]] if model[0] in _ONE_FOCAL else model[3:7] for model in used]
    matrices = np.array([[[fx, 0, cx], [0, fy, cy], [0, 0, 1]] for fx, fy, cx, cy in lenses], np.float64)
    size = int(used[0][1]), int(used[0][2])
    keys = [np.array(points.split(), dtype=np.float64).reshape(-1, 3) for _, points in pairs]
    labels = np.unique(np.concatenate([key[:, 2] for key in keys]))
    labels = labels[labels >= 0]
    tracks = _empty(len(keys), len(labels), sum(map(len, images)))
    for frame, key in enumerate(keys):
        of_point = key[key[:, 2] >= 0]
        tracks[frame, np.searchsorted(labels, of_point[:, 2])] = of_point[:, :2]
    straight = tracks.copy()
    for frame, (matrix, (name, _, _, *values)) in enumerate(zip(matrices, used, strict=True)):
        bent = values[3 if name in _ONE_FOCAL else 4 :]
        if name in _DISTORTION and any(map(float, bent)):
            focal, middle = np.diag(matrix)[:2], matrix[:2, 2]
            ideal = undistorted((tracks[frame] - middle) / focal, name, np.array(bent, dtype=np.float64))
            straight[frame] = focal * ideal + middle
    unknown = sorted({model[0] for model in used} - set(_DISTORTION))
    notes = [f"the distortion of its {model} camera is not removed" for model in unknown]
    return _in_one_camera(tracks, straight, matrices, notes) | {"size": np.array(size)}


def undistorted(points: Floats, model: str, values: Floats) -> Floats:
    """Return where a camera without distortion sees (P, 2) points, both in focal lengths from its middle.

    `values`: the parameters of the model after those of K. NaN where D has no inverse there.
    """
    parameters = dict(zip(_DISTORTION[model], values.tolist(), strict=True))
    fisheye = model.endswith("FISHEYE")
    at = points.astype(np.complex128)
    with np.errstate(all="ignore"):  # of what does not converge, which becomes NaN
        for _ in range(_NEWTON_STEPS):
            by_x, by_y = (_distorted(at + 1j * _STEP * axis, fisheye, parameters) for axis in np.eye(2))
            rest = points - by_x.real
            (a, c), (b, d) = by_x.imag.T / _STEP, by_y.imag.T / _STEP
            determinant = a * d - b * c
            step = np.stack([d * rest[:, 0] - b * rest[:, 1], a * rest[:, 1] - c * rest[:, 0]], axis=1)
            at = at + step / determinant[:, None]
        found: Floats = at.real
        apart = np.abs(_distorted(at, fisheye, parameters).real - points).max(axis=1)
        found[~((apart <= _UNDONE) & (determinant > 0))] = np.nan
    return found


def _distorted(points: _Complex, fisheye: bool, parameters: dict[str, float]) -> _Complex:
    """Return D of (P, 2) points, which may be complex."""
    k1, k2, k3, k4, k5, k6, p1, p2 = (
        parameters.get(name, 0.0) for name in ("k1", "k2", "k3", "k4", "k5", "k6", "p1", "p2")
    )
    x, y = points.T
    square = x * x + y * y
    if fisheye:
        radius = np.sqrt(square + np.finfo(np.float64).tiny)
        angle = np.arctan(radius)
        g = angle * angle
        bent = angle / radius * (1 + g * (k1 + g * (k2 + g * (k3 + g * k4))))
        return np.asarray(points * bent[:, None], np.complex128)
    radial = (1 + square * (k1 + square * (k2 + square * k3))) / (
        1 + square * (k4 + square * (k5 + square * k6))
    )
    tangential = [2 * p1 * x * y + p2 * (square + 2 * x * x), p1 * (square + 2 * y * y) + 2 * p2 * x * y]
    return np.asarray(points * radial[:, None] + np.stack(tangential, axis=1), np.complex128)


def _lines(file: Path) -> list[str]:
    """Return the lines without comments; a picture without points has an empty one."""
    content = read_bytes(file)
    with naming(file):
        check_text(content)
    lines = content.decode("utf-8", "replace").splitlines()
    return [line for line in lines if not line.startswith("#")]


def read_scene(file: LoadedFile, options: ReadingOptions) -> Parts:
    """Return the tracks of a model with its K."""
    found = file.variables
    size, notes = found.get("size"), found["notes"].tolist()
    return Parts(
        found["tracks"].transpose(0, 2, 1),
        CameraModel.PERSPECTIVE,
        intrinsics=found["K"],
        image_size=None if size is None else (int(size[0]), int(size[1])),
        producer="Bundler" if file.content else "COLMAP",
        provenance="; ".join([*notes, NOT_READ]),
        left_out=tuple(notes),
        roles={"tracks": "tracks", "K": "intrinsics", "size": "picture size", "notes": "remarks"},
    )
