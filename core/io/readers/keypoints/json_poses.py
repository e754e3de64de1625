"""Keypoints as JSON: the folder of OpenPose, the landmarks of MediaPipe.

OpenPose writes one file per frame, `NAME_000000000012_keypoints.json`, counted from 0:

    {"people": [{"person_id": [-1], "pose_keypoints_2d": [x0, y0, c0, x1, y1, c1, ...],
                 "face_keypoints_2d": [...], "hand_left_keypoints_2d": [...], ...}]}

A keypoint of confidence 0 is missing. A person of one frame is joined to the one of the frames before that
agrees best: each keypoint that both show counts 1 less its distance in sizes of the person, so that a
fragment of a few keypoints does not take the place of a body. Where OpenPose tracks, person_id joins.

Of MediaPipe there is a list of frames, each a list of landmarks, x and y relative to the picture:

    [[{"x": 0.47, "y": 0.52, "z": -0.1, "visibility": 0.99}, ...], ...]

A frame may also be an object with the landmarks of one person under "landmarks", "pose_landmarks" or such,
and is null or empty where nobody is seen. The frames may stand under "frames".
"""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ....foundation.exceptions import InputError
from ....foundation.types import Floats
from ...files.allowance import FLOAT, Allowance
from ...files.contents import check_file, parse_json, read_bytes, refusing_damage
from ...files.reading_options import ReadingOptions
from ...files.variables import LoadedFile, Parts, Variables, joined
from .poses import HALF, SKELETONS_OF_MEDIAPIPE, SKELETONS_OF_OPENPOSE, gaps_in, in_pixels, read_individual

_Frame = list[tuple[int, dict[str, Floats]]]  # identity and keypoints by kind, of each person
_Person = dict[int, dict[str, Floats]]  # keypoints by kind, of each frame

PATTERN = "*_keypoints.json"
BODY = "pose_keypoints_2d"
_MOST_COMPARED = 300_000_000  # distances of keypoints, which take about ten seconds
_LARGEST_RATIO = 100_000  # of the memory and the files: who is seen in one frame takes that of all frames
_OF_PERSON = 1_000  # bytes besides the keypoints, in each frame
_NUMBERED = re.compile(r"(.*?)_?(\d{1,15})_keypoints\.json", re.ASCII | re.IGNORECASE)


def load_poses(path: Path, content: bytes) -> LoadedFile:
    """Return the keypoints of each person of a folder of OpenPose, or the landmarks of MediaPipe."""
    return _load_folder(path) if path.is_dir() else _load_landmarks(path, content)


def read_poses(file: LoadedFile, options: ReadingOptions) -> Parts:
    """Return the keypoints of one person."""
    return _read_folder(file, options) if file.path.is_dir() else _read_landmarks(file, options)


# -- OpenPose ------------------------------------------------------------------------------------------------


def is_folder_of_openpose(path: Path) -> bool:
    """Return whether a folder holds such files."""
    return path.is_dir() and next(path.glob(PATTERN), None) is not None


def _load_folder(path: Path) -> LoadedFile:
    """Return the keypoints of each person, (F, P, 3) with the confidence last."""
    files = sorted(path.glob(PATTERN), key=lambda file: (_parts_of_name(file), file.name))
    names = list(dict.fromkeys(_parts_of_name(file)[0] for file in files))
    if len(names) > 1:
        raise InputError(f"holds the frames of {len(names)} videos ({', '.join(names[:4])}); accepted is one")
    allowance = Allowance(sum(map(check_file, files)), ratio=_LARGEST_RATIO)
    frames = []
    for file in files:
        frames.append(_people(file))
        sizes = (array.nbytes for _, person in frames[-1] for array in person.values())
        allowance.use(sum(sizes) + _OF_PERSON * len(frames[-1]))
    people = _joined(frames, _body_points(frames, files))
    kinds = list(dict.fromkeys(kind for frame in frames for _, person in frame for kind in person))
    individuals: dict[str, Variables] = {f"person {number}": {} for number in range(1, len(people) + 1)}
    for keypoints, person in zip(individuals.values(), people, strict=True):
        for kind in kinds:
            arrays = {frame: person[frame][kind] for frame in person if kind in person[frame]}
            if arrays:
                points = max(len(array) for array in arrays.values())
                allowance.use_array((len(files), points, 3), FLOAT)
                stacked = np.zeros((len(files), points, 3))  # all zero in frames without the person
                for frame, array in arrays.items():
                    _check_points(len(array), points, files[frame])
                    stacked[frame] = array
                keypoints[kind] = stacked
    numbers = np.array([_parts_of_name(file)[1] for file in files])
    return LoadedFile(path, b"", {"frames": numbers, **individuals}, tuple(individuals))


def _parts_of_name(file: Path) -> tuple[str, int]:
    """Return the video's name and the number of the frame, its last 15 digits, 0 where it has none."""
    match = _NUMBERED.fullmatch(file.name)
    return (match[1], int(match[2])) if match else ("", 0)


def _people(file: Path) -> _Frame:
    """Return the identity, -1 for none, and the keypoints (P, 3) of each kind of each person of one frame."""
    found = []
    with refusing_damage(file, f"a frame of OpenPose, people with {BODY} of x, y, confidence each"):
        for person in parse_json(read_bytes(file))["people"]:
            arrays = {
                kind: np.array(values, dtype=np.float64).reshape(-1, 3)
                for kind, values in person.items()
                if kind.endswith("keypoints_2d") and values
            }
            identity = (person.get("person_id") or [-1])[0]
            if BODY in arrays and (arrays[BODY][:, 2] > 0).any():
                found.append((int(identity), arrays))
    return found


def _body_points(frames: list[_Frame], files: list[Path]) -> int:
    """Return how many keypoints the bodies have, which are of one model."""
    counts = [[len(arrays[BODY]) for _, arrays in found] for found in frames]
    points = max(itertools.chain(*counts), default=0)
    for file, found in zip(files, counts, strict=True):
        _check_points(min(found, default=points), points, file)
    return points


def _check_points(count: int, points: int, file: Path) -> None:
    if count != points:
        raise InputError(f"{file}: has {count} keypoints; others have {points}, and all need the same number")


def _joined(frames: list[_Frame], points: int) -> list[_Person]:
    """Return the people as their keypoints by frame, the one seen best first."""
    from scipy.optimize import linear_sum_assignment  # imported late: only folders should cost it

    people: list[_Person] = []
    last = np.zeros((0, points, 3))  # of each of them
    by_identity: dict[int, _Person] = {}
    compared = 0
    for frame, found in enumerate(frames):
        for identity, arrays in found:
            if identity >= 0:
                by_identity.setdefault(identity, {})[frame] = arrays
        left = [arrays for identity, arrays in found if identity < 0]
        now = np.array([arrays[BODY] for arrays in left]).reshape(len(left), points, 3)
        compared += len(people) * now.size // 3
        if compared > _MOST_COMPARED:
            raise InputError(
                f"shows {len(people)} people up to frame {frame}, too many to be joined from frame to frame; "
                "accepted are those of a video, or person_id of OpenPose's tracking"
            )
        agreement = _agreement(last, now)
        joined = set()
        if agreement.size:
            for row, column in zip(*linear_sum_assignment(agreement, maximize=True), strict=True):
                if agreement[row, column] > 0:
                    people[row][frame], last[row] = left[column], now[column]
                    joined.add(column)
        new = [column for column in range(len(left)) if column not in joined]
        people += [{frame: left[column]} for column in new]
        last = np.concatenate((last, now[new]))
    people += by_identity.values()

    def confidence(person: _Person) -> float:
        return -sum(float(arrays[BODY][:, 2].mean()) for arrays in person.values())

    return sorted(people, key=confidence)


def _agreement(before: Floats, now: Floats) -> Floats:
    """Return how well the keypoints (N, P, 3) and (M, P, 3) agree, (N, M); 0 where they do not."""
    seen = before[:, :, 2] > 0
    low = np.where(seen[..., None], before[:, :, :2], np.inf).min(axis=1, initial=np.inf)
    high = np.where(seen[..., None], before[:, :, :2], -np.inf).max(axis=1, initial=-np.inf)
    sizes = np.maximum((high - low).max(axis=1, initial=1.0), 1.0)
    agreement = np.zeros((len(before), len(now)))
    for column, person in enumerate(now):
        both = seen & (person[:, 2] > 0)
        apart = np.hypot(before[:, :, 0] - person[:, 0], before[:, :, 1] - person[:, 1])
        agreement[:, column] = np.where(both, 1.0 - apart / sizes[:, None], 0.0).sum(axis=1)
    return np.maximum(np.nan_to_num(agreement), 0.0)


def _read_folder(file: LoadedFile, options: ReadingOptions) -> Parts:
    """Return the keypoints of one person: the one that is asked for, else the one that is seen best."""
    people, kind = file.individuals, options.tracks or BODY
    if not people:
        raise InputError("shows no person in any frame; accepted are frames of at least one")
    asked = replace(options, individual=options.individual or people[0])
    keypoints = [file.variables[person] for person in people]
    index, body = read_individual(people, [_pose(each[BODY]) for each in keypoints], asked, "OpenPose")
    found = keypoints[index].get(kind)
    if found is None:
        there = sorted(set().union(*keypoints))
        raise InputError(f"{people[index]} has no {kind}; there are {', '.join(there)}")
    _, parts = read_individual([people[index]], [_pose(found)], asked, "OpenPose", "confidence")
    guesses = []
    if len(people) > 1 and options.individual is None:
        guesses.append(
            f"{len(people)} people are in the frames, and {people[index]} is read, who is seen best "
            f"({body.seen.mean():.0%} visible); others by --individual (individual=)"
        )
    guesses += gaps_in(file.variables["frames"], "file")
    points, edges = SKELETONS_OF_OPENPOSE.get(found.shape[1] if kind == BODY else 0, (None, None))
    return replace(
        parts,
        edges=edges,
        point_names=points,
        guesses=tuple(guesses),
        provenance=joined(parts.provenance, *guesses),
        roles={kind: "tracks"},
        reading={**parts.reading, "tracks": kind},
    )


def _pose(keypoints: Floats) -> tuple[Floats, Floats]:
    """Return the places (F, P, 2), NaN where a keypoint is missing, and the confidence (F, P)."""
    confidence = keypoints[..., 2]
    return np.where(confidence[..., None] > 0, keypoints[..., :2], np.nan), confidence


# -- MediaPipe -----------------------------------------------------------------------------------------------

ACCEPTED = (
    "accepted is a list of frames of MediaPipe, each a list of landmarks with x, y and visibility, or the "
    "folder of OpenPose's files"
)


def _load_landmarks(path: Path, content: bytes) -> LoadedFile:
    """Return landmarks (F, P, 2) and visibility (F, P), NaN in frames without any."""
    value = parse_json(content)
    if isinstance(value, dict) and "people" in value:
        raise InputError("is one frame of OpenPose; accepted is the folder of all its frames")
    if isinstance(value, dict):
        lists = [item for key, item in value.items() if "frame" in key or "landmarks" in key]
        value = next((item for item in lists if isinstance(item, list)), None)
    if not isinstance(value, list) or not value:
        raise InputError(f"holds no frames; {ACCEPTED}")
    frames = [_landmarks(frame, number) for number, frame in enumerate(value, 1)]
    points = max(len(frame) for frame in frames)
    Allowance(len(content)).use_array((len(frames), points, 3), 8)
    stacked = np.full((len(frames), points, 3), np.nan)
    for number, frame in enumerate(frames):
        if frame and len(frame) != points:
            raise InputError(f"frame {number + 1} has {len(frame)} landmarks; others have {points}")
        if frame:
            stacked[number] = frame
    variables: dict[str, Any] = {"landmarks": stacked[..., :2]}
    if np.isfinite(stacked[..., 2]).any():
        variables["visibility"] = stacked[..., 2]
    return LoadedFile(path, content, variables)


def _landmarks(frame: Any, number: int) -> list[tuple[float, float, float]]:
    """Return x, y and visibility, NaN for none, of the landmarks of a frame."""
    if isinstance(frame, dict):
        frame = next((item for key, item in frame.items() if "landmarks" in key), None)
    try:
        return [
            (float(item["x"]), float(item["y"]), float(item.get("visibility", np.nan)))
            for item in frame or []
        ]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        raise InputError(f"frame {number} holds other than landmarks; {ACCEPTED}") from None


def _read_landmarks(file: LoadedFile, options: ReadingOptions) -> Parts:
    """Return landmarks in pixels, visible from a visibility on."""
    landmarks, visibility = file.variables["landmarks"], file.variables.get("visibility")
    _, parts = read_individual([""], [(landmarks, visibility)], options, "MediaPipe", "visibility", HALF)
    names, edges = SKELETONS_OF_MEDIAPIPE.get(landmarks.shape[1], (None, None))
    roles = {"landmarks": "tracks"} | ({} if visibility is None else {"visibility": "visibility"})
    return in_pixels(replace(parts, edges=edges, point_names=names, roles=roles), options)
