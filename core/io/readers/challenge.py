"""The folder layout of the NRSfM Challenge 2017 (Jensen et al.), in plain text.

    <object>/sequence/{orthogonal,perspective}/{circle,flyby,line,semi_circle,tricky,zigzag}.txt
                                              2F x P, rows x, y of frame 1, x, y of frame 2, ...
    <object>/visibility/<the same>            2F x P of 0 and 1; a point is seen where both rows are nonzero;
                                              absent: everything is seen
    <object>/gt_frame_N.txt                   3 x P or P x 3, the true shape of one frame, in millimeters

An object is often nested in a folder of the same name (`balloon/balloon/sequence/...`). Three additions of
this project are read where they are present:

    <object>/truth/<path>.npz                 S (F, 3, P) true shapes, R (F, 3, 3) and t (F, 3) true cameras
    <object>/edges.txt, <object>/faces.txt    E x 2 and T x 3 point indices from 0

The bundled sequences, in `assets/samples`, lie in these folders, too.

Intrinsics are never taken from there: the Challenge gives none, and they are estimated from the
ground-truth frame.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from ...data.sequence import CameraModel, GroundTruth, Observations, Sequence
from ...foundation.assets import asset_folder
from ...foundation.exceptions import InputError
from ...foundation.types import Floats, Ints
from ..files.contents import digest, load_arrays, naming, parse_mask, parse_matrix, read_bytes, record_files

# -- where the files lie -------------------------------------------------------------------------------------

PATHS = ("circle", "flyby", "line", "semi_circle", "tricky", "zigzag")
EDGES, FACES = "edges.txt", "faces.txt"
DEPTH = 3  # how far below a folder objects are looked for
_TRUTH_NAME = re.compile(r"gt_frame_(\d+)\.txt", re.IGNORECASE)


@dataclass(frozen=True)
class ChallengeFile:
    """One sequence file of an object and where its neighbors are."""

    root: Path  # the folder that holds sequence/
    camera: CameraModel
    path_name: str

    @property
    def file(self) -> Path:
        """The 2F x P text file of the tracks."""
        return self.root / "sequence" / self.camera.value / f"{self.path_name}.txt"

    @property
    def visibility(self) -> Path:
        """The file of zeros and ones, which may be absent."""
        return self.root / "visibility" / self.camera.value / f"{self.path_name}.txt"

    @property
    def truth(self) -> Path:
        """The npz with all true shapes and cameras, which may be absent."""
        return self.root / "truth" / f"{self.path_name}.npz"

    @cached_property
    def companion(self) -> ChallengeFile | None:
        """The same path under the orthogonal camera, for a perspective file that has one."""
        other = ChallengeFile(self.root, CameraModel.ORTHOGONAL, self.path_name)
        return other if self.camera is CameraModel.PERSPECTIVE and other.file.is_file() else None

    @property
    def name(self) -> str:
        """Object and path, as in "balloon circle"."""
        return f"{self.root.name} {self.path_name}"


def challenge_file(path: Path) -> ChallengeFile | None:
    """Return what a text file is in the Challenge's layout, or None where it does not lie in one."""
    path = path.absolute()
    cameras = {camera.value: camera for camera in CameraModel}
    if path.suffix != ".txt" or path.parent.parent.name != "sequence" or path.parent.name not in cameras:
        return None
    return ChallengeFile(path.parent.parent.parent, cameras[path.parent.name], path.stem)


def find(folder: Path) -> tuple[ChallengeFile, ...]:
    """Return the sequence files of every object in or below a folder, objects by name, paths in their order.

    `folder` may also be the `sequence` folder of an object, or one camera's folder in it.
    """
    folder = folder.absolute()
    if folder.parent.name == "sequence" and folder.name in {camera.value for camera in CameraModel}:
        return tuple(item for item in _files_of(folder.parent.parent) if item.camera.value == folder.name)
    if folder.name == "sequence":
        return _files_of(folder.parent)
    return tuple(item for root in _objects(folder, DEPTH) for item in _files_of(root))


def _objects(folder: Path, depth: int) -> list[Path]:
    if (folder / "sequence").is_dir():
        return [folder]
    if depth == 0:
        return []
    try:
        below = sorted(item for item in folder.iterdir() if item.is_dir() and not item.name.startswith("."))
    except OSError:
        return []  # a folder that may not be listed holds nothing that could be read
    return [root for item in below for root in _objects(item, depth - 1)]


def _files_of(root: Path) -> tuple[ChallengeFile, ...]:
    found = []
    for camera in (CameraModel.PERSPECTIVE, CameraModel.ORTHOGONAL):
        names = {item.stem for item in (root / "sequence" / camera.value).glob("[!.]*.txt")}
        known = [name for name in PATHS if name in names]
        found += [ChallengeFile(root, camera, name) for name in known + sorted(names - set(known))]
    return tuple(found)


def object_files(root: Path) -> tuple[Path, ...]:
    """Return all files of an object, with those that would be read if they were there."""
    found = [file for item in _files_of(root) for file in (item.file, item.visibility, item.truth)]
    one = truth_file(root)
    return (*dict.fromkeys(found), root / EDGES, root / FACES, *([] if one is None else [one[0]]))


def truth_file(root: Path) -> tuple[Path, int] | None:
    """Return the `gt_frame_N.txt` of an object and N; None where there is none."""
    folders = [root, root.parent] if root.parent.name == root.name else [root]
    for folder in folders:
        found = [
            (item, int(match[1]))
            for item in sorted(folder.iterdir())
            if (match := _TRUTH_NAME.fullmatch(item.name)) is not None
        ]
        if len(found) > 1:
            raise InputError(
                f"{folder}: holds {', '.join(item.name for item, _ in found)}; one ground truth is accepted"
            )
        if found:
            return found[0]
    return None


# -- the bundled sequences -----------------------------------------------------------------------------------

PREFIX = "sample:"


def sample_path(name: str) -> Path:
    """Return the file of a bundled sequence.

    Parameters
    ----------
    name
        "balloon/circle" for its perspective tracks, "balloon/circle/orthogonal" for the others; "balloon" for
        the first of an object, and "" for the first of all.

    Returns
    -------
    Path
        the text file of its tracks.

    Raises
    ------
    InputError
        where there is no such sample.

    Examples
    --------
    >>> import core
    >>> core.sample_path("balloon/circle").name
    'circle.txt'
    """
    files = bundled_files()
    for item in files:
        full = f"{item.root.name}/{item.path_name}/{item.camera.value}"
        if name == "" or f"{full}/".startswith(f"{name}/"):
            return item.file
    there = ", ".join(
        f"{item.root.name}/{item.path_name}" for item in files if item.camera is CameraModel.PERSPECTIVE
    )
    raise InputError(f"there is no sample {name!r}; there are {there or 'none installed'}")


def sample_name(path: Path) -> str | None:
    """Return "sample:NAME" for the file of a bundled sequence, which `resolve` turns back, or None."""
    for item in bundled_files():
        if item.file.resolve() == path.resolve():
            other = "" if item.camera is CameraModel.PERSPECTIVE else f"/{item.camera.value}"
            return f"{PREFIX}{item.root.name}/{item.path_name}{other}"
    return None


def resolve(path: Path) -> Path:
    """Return what "sample:NAME" is, or "sample:OBJECT", a folder, or a video; or the path as it is."""
    name = path.as_posix()
    if not name.startswith(PREFIX):
        return path
    places: dict[str, Path | None] = {item.root.name: item.root for item in bundled_files()}
    places |= bundled_videos() | {"": asset_folder("samples")}
    name = name.removeprefix(PREFIX)
    return places.get(name) or sample_path(name)


def bundled_files() -> tuple[ChallengeFile, ...]:
    """Return the bundled sequences, objects by name, perspective before orthogonal; none where none are."""
    folder = asset_folder("samples")
    return () if folder is None else find(folder)


def bundled_videos() -> dict[str, Path]:
    """Return the bundled videos by name: short ones of a sheet that deforms, drawn by this project.

    `tests/rendering.py` has what `sheet.mp4` was drawn from: its true shapes and cameras.
    """
    folder = asset_folder("videos")
    return {} if folder is None else {path.stem: path for path in sorted(folder.glob("*.mp4"))}


# -- what is in the files ------------------------------------------------------------------------------------


def read(item: ChallengeFile, frame_base: int) -> Sequence:
    """Return one sequence with its companion, ground truth and cameras."""
    record_files(*object_files(item.root))
    content = read_bytes(item.file)
    observations = _observations(item, content)
    frames, points = observations.visible.shape
    companion = None
    if item.companion is not None:
        companion = _observations(item.companion, read_bytes(item.companion.file))
        if companion.visible.shape != (frames, points):
            raise InputError(
                f"{item.companion.file}: has (frames, points) {companion.visible.shape}; "
                f"the perspective tracks of the same path have {(frames, points)}"
            )
    truth, rotations, translations = _truth(item, frames, points, frame_base)
    with naming(item.file):
        return Sequence(
            observations.tracks,
            observations.visible,
            item.camera,
            item.name,
            truth=truth,
            rotations=rotations,
            translations=translations,
            companion=companion,
            edges=_indices(item.root / EDGES, 2, points),
            faces=_indices(item.root / FACES, 3, points),
            units="px" if item.camera is CameraModel.PERSPECTIVE else "mm",
            source=item.file,
            digest=digest(content),
        )


def _observations(item: ChallengeFile, content: bytes) -> Observations:
    matrix = parse_matrix(content, item.file)
    rows, points = matrix.shape
    if rows % 2:
        raise InputError(f"{item.file}: has {rows} rows; accepted is an even number, x and y of every frame")
    tracks = matrix.reshape(-1, 2, points)
    visible = np.ones((rows // 2, points), dtype=bool)
    if item.visibility.is_file():
        mask = parse_mask(read_bytes(item.visibility), item.visibility)
        if mask.shape != matrix.shape:
            raise InputError(
                f"{item.visibility}: is {mask.shape[0]} x {mask.shape[1]}; "
                f"the tracks in {item.file} are {rows} x {points}, and both must agree"
            )
        visible = mask[0::2] & mask[1::2]
    bad = np.isinf(matrix) | (np.isnan(matrix) & np.repeat(visible, 2, axis=0))
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise InputError(
            f"{item.file}: row {row + 1}, column {column + 1} is {matrix[row, column]}; accepted are finite "
            "numbers, and NaN only where the visibility file has 0"
        )
    with naming(item.file):
        return Observations(tracks, visible)


def _truth(
    item: ChallengeFile, frames: int, points: int, base: int
) -> tuple[GroundTruth | None, Floats | None, Floats | None]:
    """Return the ground truth and the true cameras, where the files give them."""
    one = truth_file(item.root)
    shape, reference = None, None
    if one is not None:
        file, number = one
        reference = number - base
        if not 0 <= reference < frames:
            raise InputError(
                f"{file}: is for frame {number}, counted from {base}; {item.file} has {frames} frames"
            )
        shape = _shape(file, points)
    if not item.truth.is_file():
        if shape is None or reference is None:
            return None, None, None
        return GroundTruth(np.array([reference]), shape[None], reference), None, None
    arrays = load_arrays(read_bytes(item.truth), item.truth)
    expected = {"S": (frames, 3, points), "R": (frames, 3, 3), "t": (frames, 3)}
    for key, wanted in expected.items():
        if key not in arrays or arrays[key].shape != wanted or arrays[key].dtype.kind not in "iuf":
            found = f"{arrays[key].dtype} {arrays[key].shape}" if key in arrays else "absent"
            raise InputError(f"{item.truth}: {key} is {found}; accepted are numbers {wanted}")
    shapes = arrays["S"].astype(np.float64)
    if shape is not None and reference is not None:
        # Storage as 32-bit numbers costs 1e-7 of the size; another frame of the same object is percents away.
        size = np.abs(shapes[reference] - shapes[reference].mean(axis=1, keepdims=True)).max()
        if np.abs(shapes[reference] - shape).max() > 1e-3 * size:
            raise InputError(
                f"{one[0] if one else item.root}: is not frame {reference} (counted from 0) of {item.truth}; "
                f"the ground-truth number was counted from {base}"
            )
        shapes[reference] = shape
    middle = frames // 2 if reference is None else reference
    with naming(item.truth):
        return GroundTruth(np.arange(frames), shapes, middle), arrays["R"], arrays["t"]


def _shape(file: Path, points: int) -> Floats:
    matrix = parse_matrix(read_bytes(file), file)
    if matrix.shape not in ((3, points), (points, 3)):
        raise InputError(
            f"{file}: is {matrix.shape[0]} x {matrix.shape[1]}; accepted is 3 x {points} or {points} x 3"
        )
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        raise InputError(f"{file}: row {row + 1}, column {column + 1} is not finite")
    return matrix if matrix.shape == (3, points) else np.ascontiguousarray(matrix.T)


def _indices(file: Path, columns: int, points: int) -> Ints | None:
    if not file.is_file():
        return None
    matrix = parse_matrix(read_bytes(file), file)
    integral = np.isfinite(matrix).all() and (matrix == np.floor(matrix)).all()
    if matrix.shape[1] != columns or not integral or matrix.min() < 0 or matrix.max() >= points:
        raise InputError(f"{file}: accepted are {columns} point indices per row, from 0 to {points - 1}")
    return matrix.astype(np.int64)
