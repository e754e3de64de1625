"""Small files of sequences as other programs write them: 10 frames of 16 points, the same bytes each time."""

from __future__ import annotations

import io
import json
import pickle
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
from pose_tables import landmarks, write_markers, write_pose_table
from scipy.io import savemat
from scipy.sparse import csc_array
from tracker_files import ROWS, SEEN, TNXY, tap_vid_videos, world

from core import Sequence

FRAMES, POINTS = 10, 16
SIZE = (1280, 960)
K = np.array([[1400.0, 0, 640], [0, 1400, 480], [0, 0, 1]])
MAT_TEXT = b"MATLAB 5.0 MAT-file, Platform: posix".ljust(116)  # scipy writes the time into it


def write_foreign(folder: Path, sequence: Sequence) -> None:
    """Write a file or a folder for every format, and every layout of arrays, that sequences are read from.

    `folder`: where to write them; `sequence`: with intrinsics and a truth of all frames.
    """
    tracks = np.nan_to_num(sequence.tracks).astype(np.float32).transpose(0, 2, 1)
    _write_trackers(folder)
    np.save(folder / "cloth_tracks.npy", tracks)
    (folder / "masked").mkdir()
    np.save(folder / "masked" / "cloth_tracks.npy", tracks)
    np.save(folder / "masked" / "cloth_visibility.npy", sequence.visible)
    np.save(folder / "depths.npy", np.concatenate([tracks, np.full((*tracks.shape[:2], 1), 2.0)], 2))
    _write_matlab(folder, sequence)
    _write_hdf5(folder, tracks, sequence.visible)
    _write_tables(folder, tracks, sequence.visible)
    _write_keypoints(folder, tracks, sequence.visible)
    _write_models(folder, tracks, sequence)


def _write_trackers(folder: Path) -> None:
    ahead = {"tracks_XYZ": world()["coords"] + [0, 0, 8.0], "visibility": SEEN}
    lens = {"fx_fy_cx_cy": np.array([900.0, 900, 480, 360])}
    plain = {"tracks": np.where(SEEN[..., None], TNXY, np.nan), "names": np.array(["a", "b"])}
    for name, arrays in (ROWS | {"TAPIP3D": world(), "TAPVid-3D": ahead | lens, "plain": plain}).items():
        np.savez_compressed(folder / f"{name}.npz", **arrays)
    delta = ROWS["DELTA"] | {"fps": np.float32(25), "note": "a"}
    videos = tap_vid_videos()
    (folder / "delta.pkl").write_bytes(pickle.dumps(delta, protocol=2))
    (folder / "tapvid.pkl").write_bytes(pickle.dumps(videos, protocol=5))
    (folder / "list.pkl").write_bytes(pickle.dumps([videos["dogs"], [1, 2.5, None]], protocol=4))
    np.save(folder / "object.npy", np.array(delta, dtype=object))


def _write_matlab(folder: Path, sequence: Sequence) -> None:
    assert sequence.truth is not None and sequence.rotations is not None
    shapes = sequence.truth.points
    stacked, flat = np.nan_to_num(sequence.tracks), shapes.reshape(-1, POINTS)
    rows, cameras = stacked.reshape(-1, POINTS), sequence.rotations[:, :2]
    turned = cameras @ shapes
    cells = np.empty((1, FRAMES), dtype=object)
    for frame in range(FRAMES):
        cells[0, frame] = sequence.rotations[frame] @ shapes[frame] + [[0], [0], [2000.0]]
    structs = np.array([[(cell[:2] / cell[2:],) for cell in cells[0]]], dtype=[("p", object)])
    truths = np.array([[(cell,) for cell in cells[0]]], dtype=[("P", object)])
    views: dict[str, Any] = {
        "pointnr": float(POINTS),
        "points": np.array([*stacked, None], dtype=object)[None, :-1],
        "index": np.array([*[np.arange(1.0, POINTS + 1)[None]] * FRAMES, None], dtype=object)[None, :-1],
    }
    mask = np.repeat(sequence.visible, 2, axis=0).astype(float)
    pairs = np.array([[1, 2], [2, 3], [3, 4]])
    variables: dict[str, dict[str, Any]] = {
        "mocap": {"W": turned.reshape(-1, POINTS), "S": flat, "Rs": cameras.reshape(-1, 3), "list": pairs},
        "blocked": {"P3_gt": shapes.transpose(1, 0, 2).reshape(-1, POINTS)},
        "mask": {"M": rows, "W": mask, "K": K},
        "back": {"L_tracks": stacked.transpose(1, 2, 0), "track3D": shapes.transpose(1, 2, 0)},
        "kinect": {"res": {"Pg": cells}, "K": K},
        "isometric": {"p": structs, "Pgth": truths, "KK": K},
        "views": {"u": views, "U": np.ones((4, POINTS))},
        "sparse": {"M": rows, "W": csc_array(mask)},
    }
    for name, values in variables.items():
        for packed in (False, True):
            stream = io.BytesIO()
            savemat(stream, values, do_compression=packed)
            content = MAT_TEXT + stream.getvalue()[len(MAT_TEXT) :]
            (folder / f"{name}{'_packed' if packed else ''}.mat").write_bytes(content)
    for name in ("mocap", "mask", "sparse"):
        savemat(folder / f"{name}_4.mat", variables[name], format="4")


def _write_hdf5(folder: Path, tracks: Any, seen: Any) -> None:
    with h5py.File(folder / "mouse.analysis.h5", "w") as file:
        file["tracks"] = np.where(seen[..., None], tracks, np.nan).transpose(2, 1, 0)[None]
        file["point_scores"] = np.where(seen, 0.9, 0).T[None]
        file["node_names"] = np.array([f"node{number}".encode() for number in range(POINTS)])
        file["track_names"] = np.array([b"track_0"])
        file["edge_inds"] = np.array([[0, 1], [1, 2]])
    with h5py.File(folder / "v73.mat", "w", userblock_size=512) as file:
        cells = [file.create_dataset(f"#refs#/{frame}", data=tracks[frame]) for frame in range(FRAMES)]
        file["M"] = tracks.reshape(FRAMES, -1, 2).transpose(1, 0, 2).reshape(POINTS, -1)
        file["W"] = np.repeat(seen.T, 2, axis=1).astype(np.uint8)
        file["W"].attrs["MATLAB_class"] = np.bytes_("logical")
        file["c"] = np.array([[cell.ref] for cell in cells], dtype=h5py.ref_dtype)
        file["c"].attrs["MATLAB_class"] = np.bytes_("cell")
        file["empty"] = np.array([0, 3], dtype=np.uint64)
        file["empty"].attrs["MATLAB_empty"] = np.uint8(1)


def _write_tables(folder: Path, tracks: Any, seen: Any) -> None:
    frames, points = np.nonzero(seen)
    long = {"frame_id": frames, "track_id": points, "x": tracks[seen][:, 0], "y": tracks[seen][:, 1]}
    table = pd.DataFrame(long | {"visible": 1})
    table.to_csv(folder / "long.csv", index=False, float_format="%.2f")
    table = table.rename(columns={"frame_id": "frame", "track_id": "point"})
    table["individual"] = np.where(frames % 2, "cat", "dog")
    table.to_csv(folder / "animals.csv", index=False, float_format="%.2f")
    names = [f"{axis}{p}" for p in range(POINTS) for axis in "xy"]
    table = pd.DataFrame(tracks.reshape(FRAMES, -1), columns=names)
    table.to_csv(folder / "wide.csv", index=False, float_format="%.2f")
    scored = np.concatenate([tracks.astype(float).round(1), 0.9 * seen[..., None]], axis=2)
    write_pose_table(folder / "deeplabcut.csv", [f"part{p}" for p in range(POINTS)], scored)
    names = [f"n{p}_{name}" for p in range(POINTS) for name in ("x", "y", "z", "error")]
    space = np.concatenate([tracks, tracks.sum(axis=2, keepdims=True), 0.1 + 0 * tracks[..., :1]], axis=2)
    table = pd.DataFrame(space.reshape(FRAMES, -1), columns=names)
    table.to_csv(folder / "anipose.csv", index_label="fnum", float_format="%.1f")
    np.savetxt(folder / "matrix.txt", tracks.transpose(0, 2, 1).reshape(-1, POINTS), fmt="%.2f")


def _write_keypoints(folder: Path, tracks: Any, seen: Any) -> None:
    frames = landmarks(tracks.astype(float).round(1), seen, SIZE)
    (folder / "mediapipe.json").write_text(json.dumps(frames))
    wrapped = {"frames": [{"frame": n, "landmarks": frame} for n, frame in enumerate(frames)]}
    (folder / "mediapipe_frames.json").write_text(json.dumps(wrapped))
    (folder / "openpose").mkdir()
    for f in range(FRAMES):
        keypoints = np.concatenate([tracks[f], 0.9 * seen[f, :, None]], 1).round(2).ravel().tolist()
        person = {"person_id": [-1], "pose_keypoints_2d": keypoints, "face_keypoints_2d": []}
        place = folder / "openpose" / f"clip_{f:012d}_keypoints.json"
        place.write_text(json.dumps({"version": 1.3, "people": [person]}))


def _write_models(folder: Path, tracks: Any, sequence: Sequence) -> None:
    assert sequence.truth is not None
    cameras = ["1400 0 0", "1 0 0", "0 1 0", "0 0 1", "0 0 2"] * FRAMES
    scene = [line for p in range(POINTS) for line in _bundle_point(tracks[:, p], sequence.visible[:, p], p)]
    lines = ["# Bundle file v0.3", f"{FRAMES} {POINTS}", *cameras, *scene]
    (folder / "bundle.out").write_text("\n".join(lines))
    (folder / "colmap").mkdir()
    (folder / "colmap" / "cameras.txt").write_text("# cameras\n1 PINHOLE 1280 960 1400 1400 640 480\n")
    images = []
    for f in range(FRAMES):
        keys = " ".join(f"{x:.1f} {y:.1f} {p}" for p, (x, y) in enumerate(tracks[f].tolist()))
        images += [f"{f + 1} 1 0 0 0 0 0 2 1 frame{f:03d}.png", keys]
    (folder / "colmap" / "images.txt").write_text("# images\n" + "\n".join(images) + "\n")
    write_markers(folder / "walk.c3d", sequence.truth.points, [f"P{number}" for number in range(POINTS)])


def _bundle_point(places: Any, seen: Any, point: int) -> list[str]:
    views = [
        f"{f} {point} {x - SIZE[0] / 2:.1f} {SIZE[1] / 2 - y:.1f}"
        for f, ((x, y), s) in enumerate(zip(places.tolist(), seen.tolist(), strict=True))
        if s
    ]
    return ["0.1 0.2 0.3", "255 255 255", f"{len(views)} {' '.join(views)}"]
