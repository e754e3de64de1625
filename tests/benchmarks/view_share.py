"""How much of the 3-D view the object fills at first sight, and while it is played.

    xvfb-run -a python tests/benchmarks/view_share.py [--size 700x350 ...] [--only TEXT]

The bundled sequences and those of ../shared/data (override: NRSFM_DATA) are shown in a view as the window
shows them: before a run, and with a reconstruction that is exact (the truth of all frames, moved by other
coordinates), so that no solver has to run; the sequences without a truth of all frames with the given one.
PYTHONPATH chooses the tree that is measured.

share       of the free part of the view, which labels and buttons do not cover: the larger one of width and
            height of the box around the drawn points, estimate and truth without outliers
whole       the same of the complete view
area        of the complete view: the area of that box
playing     least and largest share over the frames; above 1, points are behind the labels or outside
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PyQt6.QtWidgets import QApplication

from core import CameraModel, Result, read_sequence
from core.evaluation import find_truth_outliers
from core.io.readers import bundled_samples
from nrsfm_gui.panels.view3d.scene_view import SceneView
from nrsfm_gui.scene.orbit_camera import MARGINS
from nrsfm_gui.scene.scene import build_scene

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from reconstructions import build_shapes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from core import Sequence
    from core.foundation import Floats

DATA = Path(os.environ.get("NRSFM_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
REAL = (
    "back/back_L_3D.mat",
    "door/data.mat",
    "kinect_paper/mdh_results-KPaper.mat",
    "kinect_mat/mat.mat",
    *(f"mocap/{name}.mat" for name in ("dance", "drink", "face", "jaws", "pickup", "stretch")),
)
WALK = 8.0  # times its size that the walking object moves


def sequences(only: str) -> Iterator[tuple[str, Sequence]]:
    """Yield names and sequences: one camera path of every object, and an object that walks."""
    files: list[tuple[str, Path]] = []
    for entry in bundled_samples():
        if entry.camera is CameraModel.PERSPECTIVE and entry.path_name == "circle":
            files.append((f"bundled {entry.object_name}", entry.file))
    for folder in ("challenge_like", "challenge_more"):
        for each in sorted(DATA.glob(f"{folder}/*/sequence/perspective/flyby.txt")):
            files.append((f"{folder} {each.parents[2].name}", each))
    files += [(name, DATA / "real" / name) for name in REAL if (DATA / "real" / name).exists()]
    for name, file in files:
        if only in name:
            yield name, read_sequence(file)
    if only in "walking":
        yield "walking", walking()


def walking() -> Sequence:
    """Return the bundled articulated object, moved along a line."""
    still = read_sequence("sample:articulated/circle")
    assert still.truth is not None and still.translations is not None and still.rotations is not None
    way = np.linspace(0.0, WALK * 43.0, still.frame_count)[:, None] * np.array([0.8, 0.0, 0.6])
    truth = replace(still.truth, points=still.truth.points + way[:, :, None])
    back = still.translations - np.einsum("fij,fj->fi", still.rotations, way)
    return replace(still, truth=truth, translations=back, name="walking")


def exact_result(sequence: Sequence, truth: Floats) -> Result:
    """Return the truth (F, 3, P) as a reconstruction, in coordinates of its own."""
    R, t, K = sequence.rotations, sequence.translations, sequence.intrinsics
    frames, _, points = truth.shape
    if R is None or t is None:
        R, t = np.repeat(np.eye(3)[None], frames, axis=0), np.zeros((frames, 3))
    if K is None or sequence.camera is CameraModel.ORTHOGONAL:
        K = np.eye(3)
    known = np.where(np.isfinite(truth), truth, np.nanmean(truth, axis=2, keepdims=True))
    scale = 0.01
    U, sigma, Vt = np.linalg.svd(scale * known.reshape(frames, -1), full_matrices=False)
    rank = min(len(sigma), points)
    U, sigma, Vt = U[:, :rank], sigma[:rank], Vt[:rank]
    return Result(
        tracks=np.where(sequence.visible[:, None], sequence.tracks, 0.0),
        visible=sequence.visible,
        rotations=R,
        translations=scale * t,
        B=U * sigma,
        C=Vt.T,
        weights=np.ones(rank),
        eta=1.0,
        loss=1.0,
        history=np.zeros((1, 3)),
        intrinsics=K,
        camera=sequence.camera,
    )


def all_truth(sequence: Sequence) -> Floats | None:
    """Return the truth (F, 3, P) of all frames, of files like the Challenge's from the folder `truth`."""
    source = sequence.source
    if source is not None and source.parent.parent.name == "sequence":
        beside = source.parents[2] / "truth" / f"{source.stem}.npz"
        if beside.exists():
            with np.load(beside) as arrays:
                return np.array(arrays["S"], dtype=float)
    if sequence.truth is None or len(sequence.truth.frames) < sequence.frame_count:
        return None
    outliers = find_truth_outliers(sequence.truth)
    return np.where(outliers[:, None], np.nan, sequence.truth.points)


def drawn_box(view: SceneView, sequence: Sequence, scene: object) -> Floats | None:
    """Return the box (2, 2) in pixels of the points that a view draws, outliers of the truth left out."""
    truth = scene.truth
    if truth is not None and sequence.truth is not None:
        there = np.flatnonzero(sequence.truth.frames == scene.frame)
        if there.size:
            outliers = find_truth_outliers(sequence.truth)[there[0]]
            truth = np.where(outliers[:, None], np.nan, truth)
    shown = [points for points in (scene.estimate, truth) if points is not None]
    if not shown or scene.message:
        return None
    pixels, _ = view._projection().pixels(np.concatenate(shown))
    pixels = pixels[np.isfinite(pixels).all(axis=1)]
    return np.stack([pixels.min(axis=0), pixels.max(axis=0)]) if len(pixels) else None


def shares(box: Floats, width: int, height: int) -> tuple[float, float, float]:
    """Return the share of the free part, of the complete view, and of its area."""
    left, above, right, below = MARGINS
    sides = box[1] - box[0]
    free = sides / (width - left - right, height - above - below)
    whole = sides / (width, height)
    return float(free.max()), float(whole.max()), float(np.prod(whole))


def main() -> None:
    """Print a table for each size."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--size", nargs="+", default=["700x350", "1500x850"])
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    application = QApplication([])
    for size in options.size:
        width, height = (int(part) for part in size.split("x"))
        print(f"\n{size:<32} before a run          with a reconstruction")
        print(f"{'':<32} share  whole  area    share  whole  area   playing")
        worst = []
        for name, sequence in sequences(options.only):
            truth, row = all_truth(sequence), f"{name:<32}"
            first = sequence.truth.reference if sequence.truth is not None else 0
            steps: list[Result | None] = [None]
            if truth is not None:
                steps.append(exact_result(sequence, truth))
            view = SceneView(software=True)
            view.resize(width, height)
            for source in steps:
                shapes = build_shapes(sequence, source)
                start = 0 if source is not None or shapes.truth is None else first
                if shapes.truth is not None and np.isfinite(shapes.truth[0]).any():
                    start = 0
                scene = build_scene(sequence, shapes, frame=start)
                view.set_scene(scene)
                box = drawn_box(view, sequence, scene)
                found = None if box is None else shares(box, width, height)
                row += (
                    "     -      -     -   "
                    if found is None
                    else " {:5.2f}  {:5.2f}  {:4.2f}   ".format(*found)
                )
                if source is None:
                    continue
                worst.append(found[0] if found else np.nan)
                seen = []
                for frame in range(sequence.frame_count):
                    scene = build_scene(sequence, shapes, frame=frame)
                    view.set_scene(scene)
                    box = drawn_box(view, sequence, scene)
                    if box is not None:
                        left, above, right, below = MARGINS
                        middle = (np.array([width + left - right, height + above - below])) / 2
                        half = np.array([width - left - right, height - above - below]) / 2
                        seen.append(np.abs((box - middle) / half).max())
                row += f"{min(seen):5.2f} {max(seen):5.2f}"
            view.deleteLater()
            print(row, flush=True)
        print(f"{'least and mean share':<32} {np.nanmin(worst):.2f} {np.nanmean(worst):.2f}")
    application.quit()


if __name__ == "__main__":
    main()
