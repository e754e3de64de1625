"""The folder that OpenPose writes: `NAME_000000000012_keypoints.json`, one file per frame, counted from 0.

    {"people": [{"person_id": [-1], "pose_keypoints_2d": [x0, y0, c0, x1, y1, c1, ...],
                 "face_keypoints_2d": [...], "hand_left_keypoints_2d": [...], ...}]}

A keypoint of confidence 0 is missing. A person of one frame is joined to the one of the frames before whose
keypoints are nearest (least sum of the mean distances, each below the size of the person), or by person_id
where OpenPose tracks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data.sequence import CameraModel
from ...foundation.exceptions import InputError
from .contents import parse_json, read_bytes
from .poses import chosen_individual
from .skeletons import SKELETONS_OF_OPENPOSE
from .variables import LoadedFile, Parts

if TYPE_CHECKING:
    from pathlib import Path

    from ...foundation.types import Floats
    from .reading_options import ReadingOptions

PATTERN = "*_keypoints.json"
BODY = "pose_keypoints_2d"
_NUMBERED = re.compile(r"(.*?)_?(\d+)_keypoints\.json", re.IGNORECASE)


def is_folder(path: Path) -> bool:
    """Return whether a folder holds such files."""
    return path.is_dir() and next(path.glob(PATTERN), None) is not None


def load_folder(path: Path) -> LoadedFile:
    """Return the keypoints of each person, (F, P, 3) with the confidence last.

    Raises
    ------
    InputError
        naming the file that is no frame of OpenPose.
    """
    files = sorted(path.glob(PATTERN), key=lambda file: (_parts_of_name(file), file.name))
    names = list(dict.fromkeys(_parts_of_name(file)[0] for file in files))
    if len(names) > 1:
        raise InputError(f"holds the frames of {len(names)} videos ({', '.join(names[:4])}); accepted is one")
    frames = [_people(file) for file in files]
    people = _joined(frames)
    kinds = list(dict.fromkeys(kind for frame in frames for _, person in frame for kind in person))
    variables: dict[str, Any] = {"frames": np.array([_parts_of_name(file)[1] for file in files])}
    for number, person in enumerate(people, 1):
        for kind in kinds:
            arrays = {frame: person[frame][kind] for frame in person if kind in person[frame]}
            if arrays:
                points = max(len(array) for array in arrays.values())
                variables[_name(number, kind)] = _stacked(arrays, len(files), points, files)
    individuals = tuple(f"person {number}" for number in range(1, len(people) + 1))
    return LoadedFile(path, b"", variables, individuals)


def _name(number: int, kind: str) -> str:
    return f"person {number} {kind}"


def _parts_of_name(file: Path) -> tuple[str, int]:
    """Return the video's name and the number of the frame of a file, 0 where it has none."""
    match = _NUMBERED.fullmatch(file.name)
    return (match[1], int(match[2])) if match else ("", 0)


def _people(file: Path) -> list[tuple[int, dict[str, Floats]]]:
    """Return the identity, -1 for none, and the keypoints (P, 3) of each kind of each person of one frame."""
    try:
        frame = parse_json(read_bytes(file))
        found = []
        for person in frame["people"]:
            arrays = {
                kind: np.array(values, dtype=np.float64).reshape(-1, 3)
                for kind, values in person.items()
                if kind.endswith("keypoints_2d") and values
            }
            identity = (person.get("person_id") or [-1])[0]
            if BODY in arrays and (arrays[BODY][:, 2] > 0).any():
                found.append((int(identity), arrays))
    except InputError as error:
        raise InputError(f"{file}: {error}" if str(file) not in str(error) else str(error)) from None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        raise InputError(
            f"{file}: is no frame of OpenPose; accepted is people with {BODY} of x, y, confidence each"
        ) from None
    return found


def _joined(frames: list[list[tuple[int, dict[str, Floats]]]]) -> list[dict[int, dict[str, Floats]]]:
    """Return the people as their keypoints by frame, the one seen best first."""
    from scipy.optimize import linear_sum_assignment  # imported late: only folders should cost it

    people: list[dict[int, dict[str, Floats]]] = []
    by_identity: dict[int, dict[int, dict[str, Floats]]] = {}
    for frame, found in enumerate(frames):
        tracked = [(identity, arrays) for identity, arrays in found if identity >= 0]
        for identity, arrays in tracked:
            by_identity.setdefault(identity, {})[frame] = arrays
        left = [arrays for identity, arrays in found if identity < 0]
        costs = np.array(
            [[_distance(person[max(person)][BODY], arrays[BODY]) for arrays in left] for person in people]
        )
        joined = set()
        if costs.size:
            for row, column in zip(*linear_sum_assignment(np.minimum(costs, 1e6)), strict=True):
                if costs[row, column] < 1:
                    people[row][frame] = left[column]
                    joined.add(column)
        people += [{frame: arrays} for column, arrays in enumerate(left) if column not in joined]
    people += by_identity.values()

    def confidence(person: dict[int, dict[str, Floats]]) -> float:
        return -sum(float(arrays[BODY][:, 2].mean()) for arrays in person.values())

    return sorted(people, key=confidence)


def _distance(before: Floats, now: Floats) -> float:
    """Return the mean distance of the keypoints that both show, in sizes of the person; infinity for none."""
    points = min(len(before), len(now))
    both = (before[:points, 2] > 0) & (now[:points, 2] > 0)
    if not both.any():
        return float("inf")
    size = max(float(np.ptp(before[before[:, 2] > 0, :2], axis=0).max()), 1.0)
    return float(np.linalg.norm(before[:points][both, :2] - now[:points][both, :2], axis=1).mean()) / size


def _stacked(arrays: dict[int, Floats], frames: int, points: int, files: list[Path]) -> Floats:
    """Return keypoints (F, P, 3), all zero in frames without the person."""
    stacked = np.zeros((frames, points, 3))
    for frame, array in arrays.items():
        if len(array) != points:
            raise InputError(
                f"{files[frame]}: has {len(array)} keypoints; others have {points}, and all need the same "
                "number"
            )
        stacked[frame] = array
    return stacked


def read_folder(file: LoadedFile, options: ReadingOptions) -> Parts:
    """Return the keypoints of one person: the one that is asked for, else the one that is seen best.

    Parameters
    ----------
    file, options
        what `load_folder` returned; `individual`, `threshold`, and as `tracks` the kind of keypoints.

    Returns
    -------
    Parts
        with the names and edges of a known body model.

    Raises
    ------
    InputError
        where there is no such person, or no such keypoints.
    """
    people = file.individuals
    if not people:
        raise InputError("shows no person in any frame; accepted are frames of at least one")
    kind = options.tracks or BODY
    shares = [
        float((file.variables[_name(number, BODY)][..., 2] > 0).mean())
        for number in range(1, len(people) + 1)
    ]
    index = chosen_individual(people, shares, options.individual or people[0])
    keypoints = file.variables.get(_name(index + 1, kind))
    if keypoints is None:
        there = sorted({name.split(" ", 2)[2] for name in file.variables if name.startswith("person ")})
        raise InputError(f"{people[index]} has no {kind}; there are {', '.join(there)}")
    confidence = keypoints[..., 2]
    seen = confidence > 0 if options.threshold is None else confidence >= options.threshold
    notes, guesses = [], []
    if options.threshold is not None:
        notes.append(f"a point is visible from a confidence of {options.threshold:g} on")
    if len(people) > 1 and options.individual is None:
        guesses.append(
            f"{len(people)} people are in the frames, and {people[index]} is read, who is seen best "
            f"({shares[index]:.0%} visible); others by --individual (individual=)"
        )
    numbers = file.variables["frames"]
    gaps = np.flatnonzero(np.diff(numbers) > 1)
    if gaps.size:
        guesses.append(
            f"no file is of the frames between {numbers[gaps[0]]} and {numbers[gaps[0] + 1]}: the numbers "
            "of the frames after them no longer equal those of the video"
        )
    points, edges = (
        SKELETONS_OF_OPENPOSE.get(keypoints.shape[1], (None, None)) if kind == BODY else (None, None)
    )
    return Parts(
        keypoints[..., :2].transpose(0, 2, 1),
        CameraModel.PERSPECTIVE,
        camera_assumed=True,
        visible=seen,
        edges=edges,
        point_names=points,
        producer="OpenPose",
        guesses=tuple(guesses),
        provenance="; ".join(notes + guesses),
        roles={_name(index + 1, kind): "tracks"},
        reading={"individual": people[index], "tracks": kind},
    )
