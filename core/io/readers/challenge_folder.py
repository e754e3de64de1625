"""Where the files of an NRSfM Challenge object lie; `challenge` says what is in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ...data.sequence import CameraModel
from ...foundation.exceptions import InputError

if TYPE_CHECKING:
    from pathlib import Path

PATHS = ("circle", "flyby", "line", "semi_circle", "tricky", "zigzag")
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
        names = {item.stem for item in (root / "sequence" / camera.value).glob("*.txt")}
        known = [name for name in PATHS if name in names]
        found += [ChallengeFile(root, camera, name) for name in known + sorted(names - set(known))]
    return tuple(found)


def truth_file(root: Path) -> tuple[Path, int] | None:
    """Return the `gt_frame_N.txt` of an object and N; None where there is none.

    Raises
    ------
    InputError
        where there are several.
    """
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
