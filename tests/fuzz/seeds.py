"""The files that are damaged: of every kind that the program reads, small, and the same bytes each time.

This program's own formats are written by itself, those of others by `foreign_seeds`.
"""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import av
import numpy as np
from foreign_seeds import FRAMES, POINTS, write_foreign
from PIL import Image

import core
from core import MCP, PRESETS, Iterate, Result, Sequence, Settings
from core.cli import main
from nrsfm_gui.model.history import Tick
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.model.session import OpenSequence
from nrsfm_gui.sessions.session_file import SavedSession, write_session

QUICK = Settings(rank=2, starts=1, rotations="truth", objective="wnn", max_iterations=5)
REFINED = QUICK.with_changes(objective="depths")
VIEW = {
    "frame": 0, "point": -1, "selection": [1], "hidden": [], "frame_range": [1, 3], "theme": "dark",
    "alignment": {"kind": "per-frame", "mirror": "off"}, "background": None,
    "appearance": {"labels": "selected"},
    "orbit": {"center": [0, 0, 0], "distance": 3, "azimuth": 3, "elevation": 2, "orthographic": False},
}  # fmt: skip


IMPORTS = {"/tmp/a.npz": {"reading": {"order": "tnxy"}, "intrinsics": [1000, 1000, 320, 240]}}
SEQUENCES = {"abc": {"rank": 3, "eta": 0.1, "penalty": {"kind": "wnn", "xi": 0.5}}}
SETTINGS = {
    "open_sections": ["Search", "Data"], "autosave_seconds": 30, "color_map": "viridis", "file_memory": 2,
    "offered_session": "2026-01-01T00:00:00", "point_size": 1.5, "size": 125, "steps_done": ["open", "run"],
    "theme": "light", "threads": 1, "writing_folder": "/tmp",
    "recent": ["/tmp", "/nowhere"], "reports": ["/tmp/report.html"],
    "imports": IMPORTS, "sequences": SEQUENCES,
    "layout4/geometry": "AdnQywAD", "layout4/docks": "AAAA/w==",
    "layout4/sizes": {"parameters": 300, "loss": 200},
}  # fmt: skip

# Of `info`, for each time that a sequence is read; those of no name are read once, as they are.
OPTIONS: dict[str, list[tuple[str, ...]]] = {
    "animals.csv": [("--individual", "dog")],
    "wide.csv": [(), ("--columns", "frame=x0,point=y0,x=x1,y=y1")],
    "mediapipe.json": [("--size", "1280x960")],
    "mediapipe_frames.json": [("--size", "1280x960", "--threshold", "0.5")],
    "tapvid.pkl": [("--individual", "dogs")],
    "CoTracker, batch.npz": [(), ("--threshold", "0.5", "--order", "tnxy")],
    "plain.npz": [(), ("--tracks", "tracks", "--order", "ntxy", "--xy", "yx", "--visible", "none")],
    "mask.mat": [(), ("--layout", "blocked", "--tracks", "M", "--visible", "~W")],
}


@dataclass(frozen=True)
class Seed:
    """A file that is damaged, or one of the files of a folder that is."""

    path: Path  # that is read: a file or a folder
    changed: Path  # the file that is damaged, the same or below it
    options: tuple[str, ...] = ()  # of the command that reads it


def make_seeds(folder: Path) -> dict[str, list[Seed]]:
    """Write the seeds and return them by the kind of what they are read as, a key of `READERS`.

    `folder`: an empty one. Returns at least one for every reader.
    """
    places = {name: folder / name for name in ("sequences", "challenge", "results", "sessions", "meshes")}
    places |= {name: folder / name for name in ("arrays", "stores", "settings", "pictures", "videos")}
    for place in places.values():
        place.mkdir(parents=True)
    sequence = core.simulate("balloon", frames=FRAMES, points=POINTS, seed=3)
    core.write_npz(sequence, places["sequences"] / "own.npz")
    core.write_csv(sequence, places["sequences"] / "own.csv")
    write_foreign(places["sequences"], sequence)
    core.write_challenge(places["challenge"], "balloon", frames=FRAMES, points=POINTS, paths=["circle"])
    _write_results(places["results"], sequence)
    _write_sessions(places["sessions"], sequence)
    _write_meshes(places["meshes"], sequence)
    _write_arrays(places["arrays"], sequence)
    _write_store(places["stores"], sequence)
    (places["settings"] / "nrsfm.json").write_text(json.dumps(SETTINGS))
    _write_pictures(places["pictures"])
    _write_videos(places["videos"])
    results = _files(places["results"])
    return {
        "sequence": [*_sequences(places["sequences"]), *_parts(places["challenge"] / "balloon")],
        "evaluate": results,
        "export": results,
        "start": results,
        "opened result": results,
        "session": _files(places["sessions"]),
        "mesh": _files(places["meshes"]),
        "truth": [seed for seed in _files(places["arrays"]) if seed.path.stem == "truth"],
        "rotations": [seed for seed in _files(places["arrays"]) if seed.path.stem == "truth"],
        "intrinsics": [seed for seed in _files(places["arrays"]) if seed.path.stem == "camera"],
        "sweep": _parts(places["stores"]),
        "settings": _files(places["settings"]),
        "picture": _files(places["pictures"]),
        "video": _files(places["videos"]),
    }


def _files(folder: Path) -> list[Seed]:
    return [Seed(path, path) for path in sorted(folder.iterdir())]


def _parts(folder: Path) -> list[Seed]:
    """Return a seed for every file of a folder that is read as one."""
    return [Seed(folder, path) for path in sorted(folder.rglob("*")) if path.is_file()]


def _sequences(folder: Path) -> list[Seed]:
    seeds = []
    for path in sorted(folder.iterdir()):
        if path.name == "masked":
            tracks = path / "cloth_tracks.npy"
            seeds += [Seed(tracks, tracks), Seed(tracks, path / "cloth_visibility.npy")]
        elif path.is_dir():
            seeds += _parts(path)[:2]  # of OpenPose, the others are like these
        else:
            seeds += [Seed(path, path, options) for options in OPTIONS.get(path.name, [()])]
    return seeds


def _timeless(result: Result) -> Result:
    """Return a result without the times that were measured."""
    history = result.history.copy()
    history[:, 1] = np.arange(len(history))
    return replace(result, history=history)


def _write_results(folder: Path, sequence: Sequence) -> None:
    kinds = {
        "bilinear": QUICK,
        "refined": REFINED,
        "concave": QUICK.with_changes(penalty=MCP(mu=0.3, theta=0.7)),
        "low_rank": PRESETS["lowrank"].with_changes(starts=1, max_iterations=5),
    }
    for name, settings in kinds.items():
        core.save_result(_timeless(core.reconstruct(sequence, settings)), folder / f"{name}.npz")


def _run(number: int, sequence: Sequence, settings: Settings, count: int) -> Run:
    """Return a run after so many iterations, with its times left out."""
    run = Run(number, sequence, settings, title="mine", note="a\nb", pinned=True, dismissed=frozenset({"c"}))
    last: Iterate | None = None
    for last in islice(core.iterate(sequence, settings), count):
        run.history.extend([replace(last.record, seconds=float(last.iteration))])
    assert last is not None
    run.last, run.state = replace(last, record=replace(last.record, seconds=0.0)), RunState.STOPPED
    run.history.ticks.append(Tick(1, "eta 0.2", restarts=True, before=QUICK, later=(2,)))
    return run


def _write_sessions(folder: Path, sequence: Sequence) -> None:
    kinds = {
        "bilinear": [_run(1, sequence, QUICK, 9)],
        "refined": [_run(1, sequence, REFINED, 20), _run(2, sequence, QUICK, 5)],
        "low_rank": [_run(1, sequence, PRESETS["lowrank"].with_changes(starts=1), 9)],
    }
    for name, runs in kinds.items():
        opened = OpenSequence(sequence, Settings(rank=3), runs, runs[0])
        write_session(SavedSession((opened,), VIEW, {"docks": "AAAA"}), folder / f"{name}.nrsfm")


def _write_meshes(folder: Path, sequence: Sequence) -> None:
    faces = np.array([[0, 1, 2], [2, 3, 4], [4, 5, 6], [6, 7, 8], [7, 8, 9]])
    np.savez(folder / "faces.npz", faces=faces)
    np.savetxt(folder / "faces.txt", faces, fmt="%d")
    corners = [f"v {number} {number**2} 0" for number in range(POINTS)]
    lines = [f"f {' '.join(str(corner + 1) for corner in face)}" for face in faces.tolist()]
    (folder / "faces.obj").write_text("\n".join([*corners, *lines, "f -1/1 -2/2 -3//1"]))
    head = [f"element vertex {POINTS}", *(f"property float {axis}" for axis in "xyz")]
    head += [f"element face {len(faces)}", "property list uchar int vertex_indices", "end_header\n"]
    rows = [each.removeprefix("v ") for each in corners]
    rows += [f"3 {' '.join(map(str, face))}" for face in faces]
    (folder / "text.ply").write_text("\n".join(["ply", "format ascii 1.0", *head]) + "\n".join(rows))
    body = np.arange(3 * POINTS, dtype="<f4").tobytes()
    body += b"".join(b"\3" + face.astype("<i4").tobytes() for face in faces)
    text = "\n".join(["ply", "format binary_little_endian 1.0", *head])
    (folder / "binary.ply").write_bytes(text.encode() + body)


def _write_arrays(folder: Path, sequence: Sequence) -> None:
    assert sequence.truth is not None and sequence.rotations is not None and sequence.intrinsics is not None
    arrays = {"S": sequence.truth.points, "R": sequence.rotations, "t": sequence.translations}
    np.savez_compressed(folder / "truth.npz", **arrays)
    np.savez(folder / "camera.npz", K=sequence.intrinsics)
    np.savetxt(folder / "camera.txt", sequence.intrinsics, fmt="%g")


def _write_store(folder: Path, sequence: Sequence) -> None:
    """Write a sweep of four runs, without what was measured and without the place where it ran."""
    data = folder.parent / "swept"
    data.mkdir()
    core.write_npz(sequence, data / "cloth.npz")
    words = f"sweep {data} --set rank=1,2 eta=0.05,0.2 --rotations truth --objective wnn".split()
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as problem:
        if main([*words, "--starts", "1", "--jobs", "1", "-o", str(folder)]):
            raise RuntimeError(f"the sweep of the seeds has failed: {problem.getvalue()}")
    for table in folder.glob("table.*"):
        table.unlink()
    runs, rows = folder / "runs.jsonl", []
    for line in runs.read_text().replace(str(folder.parent), "/data").splitlines():
        row: dict[str, Any] = json.loads(line)
        rows.append(json.dumps(row | {"seconds": 0.1, "memory_mb": 1.0}))
    runs.write_text("\n".join(rows) + "\n")
    for path in sorted((folder / "results").iterdir())[2:]:
        path.unlink()


def _write_pictures(folder: Path) -> None:
    pixels = np.arange(24 * 32 * 3, dtype=np.uint8).reshape(24, 32, 3)
    for suffix in ("png", "jpg", "bmp", "ppm", "tif", "webp"):
        Image.fromarray(pixels).save(folder / f"picture.{suffix}")


def _write_videos(folder: Path) -> None:
    for name, codec in (("a.avi", "mjpeg"), ("a.mp4", "mpeg4"), ("a.gif", "gif"), ("a.mkv", "libx264")):
        with av.open(str(folder / name), "w", options={"fflags": "+bitexact"}) as container:
            stream = container.add_stream(codec, rate=25)
            stream.width, stream.height = 64, 48
            stream.pix_fmt = {"mjpeg": "yuvj420p", "gif": "rgb8"}.get(codec, "yuv420p")
            for number in range(6):
                pixels = np.full((48, 64, 3), 40 * number, np.uint8)
                frame = av.VideoFrame.from_ndarray(pixels, format="rgb24").reformat(format=stream.pix_fmt)
                frame.pts, frame.time_base = number, 1 / stream.average_rate
                container.mux(stream.encode(frame))
            container.mux(stream.encode(None))
