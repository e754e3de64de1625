"""Models of structure from motion: the file of Bundler, the text folder of COLMAP; tracks and K are read.

Bundler (`bundle.out`), after a line of comment: numbers of cameras and points; per camera f k1 k2, R (3 x 3)
and t; per point position, color and the number of its views, each camera, key, x, y. There x and y are from
the middle of the picture and y points up, so that the tracks are (x, -y) and K = diag(f, f, 1).

COLMAP: `cameras.txt` has CAMERA_ID MODEL WIDTH HEIGHT and parameters in a line, the focal lengths and the
principal point first; `images.txt` two lines per picture, IMAGE_ID QW QX QY QZ TX TY TZ CAMERA_ID NAME and
X Y POINT3D_ID of each keypoint, -1 where it is of no point. Frames are ordered by the names of the pictures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ....data.sequence import CameraModel
from ....foundation.exceptions import InputError
from ...files.allowance import Allowance
from ...files.contents import check_text, naming, read_bytes, reason
from ...files.variables import LoadedFile, Parts, in_one_camera

if TYPE_CHECKING:
    from pathlib import Path

    from ....foundation.types import Floats
    from ...files.reading_options import ReadingOptions

_MAGIC = b"# Bundle file"
_ONE_FOCAL = ("SIMPLE_PINHOLE", "SIMPLE_RADIAL", "RADIAL", "SIMPLE_RADIAL_FISHEYE", "RADIAL_FISHEYE")
_WITHOUT_DISTORTION = ("SIMPLE_PINHOLE", "PINHOLE")
_SUFFIXES = (".txt", ".bin")
NOT_READ = "the cameras and 3-D points of the model are not read"


def is_bundle(content: bytes) -> bool:
    """Return whether bytes begin as a file of Bundler does."""
    return content.startswith(_MAGIC)


def is_colmap_folder(path: Path) -> bool:
    """Return whether a folder holds a model of COLMAP, as text or binary."""
    return any(
        (path / f"images{suffix}").is_file() and (path / f"cameras{suffix}").is_file() for suffix in _SUFFIXES
    )


def load_scene(path: Path, content: bytes) -> LoadedFile:
    """Return tracks (F, P, 2), NaN where a point is not seen, and K of a model.

    Raises InputError where the file, or a file of the folder, is not what it should be.
    """
    if path.is_dir():
        tracks, intrinsics, size, notes = _load_colmap(path)
    else:
        tracks, intrinsics, notes = _load_bundle(content)
        size = None
    variables = {"tracks": tracks, "K": intrinsics, "notes": np.array(notes)}
    return LoadedFile(path, content, variables | ({} if size is None else {"size": np.array(size)}))


def _empty(frames: int, points: int, stored: int) -> Floats:
    Allowance(stored).use_array((frames, points, 2), 8)
    return np.full((frames, points, 2), np.nan)


def _load_bundle(content: bytes) -> tuple[Floats, Floats, list[str]]:
    """Return tracks, K and the remarks of a file of Bundler."""
    check_text(content)
    lines = [line for line in content.decode("latin-1").splitlines() if line.strip() and line[0] != "#"]
    try:
        frames, points = (int(number) for number in lines[0].split())
        cameras = np.array(
            [[float(number) for number in line.split()] for line in lines[1 : 1 + 5 * frames : 5]]
        )
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
                    raise ValueError(
                        f"point {point} is seen by camera {camera:g} of {frames}, counted from 0"
                    )
                tracks[int(camera), point] = x, -y
        focal, distortion = cameras[:, 0], cameras[:, 1:]
    except (ValueError, IndexError, OverflowError) as error:
        raise InputError(f"is no file of Bundler that can be read ({reason(error)})") from None
    notes = [f"K is diag(f, f, 1) with the median f of the {frames} cameras"]
    if np.ptp(focal) > 0.01 * np.median(focal):
        notes.append(f"f is from {focal.min():g} to {focal.max():g} there")
    if distortion.any():
        notes.append("its radial distortion is not removed")
    return tracks, np.diag([np.median(focal), np.median(focal), 1.0]), notes


def _load_colmap(folder: Path) -> tuple[Floats, Floats, tuple[int, int], list[str]]:
    """Return tracks, K, size of the picture and remarks of a folder of COLMAP."""
    if not (folder / "images.txt").is_file():
        raise InputError(
            "holds a binary model of COLMAP; accepted is text: colmap model_converter --input_path A "
            "--output_path B --output_type TXT"
        )
    cameras, images = (_lines(folder / name) for name in ("cameras.txt", "images.txt"))
    try:
        models = {line.split()[0]: line.split()[1:] for line in cameras if line.strip()}
        pairs = sorted(zip(images[0::2], images[1::2], strict=True), key=lambda pair: pair[0].split()[9])
        used = [models[image.split()[8]] for image, _ in pairs]
        matrices = np.array([_matrix(model[0], [float(each) for each in model[3:]]) for model in used])
        size = int(used[0][1]), int(used[0][2])
        keys = [np.array(points.split(), dtype=np.float64).reshape(-1, 3) for _, points in pairs]
    except (ValueError, IndexError, KeyError, OverflowError) as error:
        raise InputError(f"is no text model of COLMAP that can be read ({reason(error)})") from None
    labels = np.unique(np.concatenate([key[:, 2] for key in keys]))
    labels = labels[labels >= 0]
    tracks = _empty(len(keys), len(labels), sum(map(len, images)))
    for frame, key in enumerate(keys):
        of_point = key[key[:, 2] >= 0]
        tracks[frame, np.searchsorted(labels, of_point[:, 2])] = of_point[:, :2]
    moved, intrinsics, note = in_one_camera(tracks.transpose(0, 2, 1), matrices)
    bent = sorted({model[0] for model in used} - set(_WITHOUT_DISTORTION))
    notes = [note, *(f"the distortion of its {model} camera is not removed" for model in bent)]
    return moved.transpose(0, 2, 1), intrinsics, size, list(filter(None, notes))


def _matrix(model: str, values: list[float]) -> Floats:
    """Return K (3, 3) of a camera of COLMAP."""
    fx, fy, cx, cy = (values[0], *values[:3]) if model in _ONE_FOCAL else values[:4]
    return np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]])


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
    size = found.get("size")
    return Parts(
        found["tracks"].transpose(0, 2, 1),
        CameraModel.PERSPECTIVE,
        intrinsics=found["K"],
        image_size=None if size is None else (int(size[0]), int(size[1])),
        producer="Bundler" if file.content else "COLMAP",
        provenance="; ".join([*found["notes"].tolist(), NOT_READ]),
        roles={"tracks": "tracks", "K": "intrinsics"},
    )
