"""`write_tracks`, and the lines of the help page for each tracker, run on arrays as that tracker has them."""

import ast
import re
import runpy
from types import SimpleNamespace

import numpy as np
import pytest
from pose_tables import assert_tracks, write_pose_table

import core
from core import InputError, Observations, read_sequence, write_tracks
from core.foundation import help_page

FRAMES, POINTS, WIDTH, HEIGHT = 6, 9, 640, 480
RANDOM = np.random.default_rng(4)
TRACKS = RANDOM.uniform(10, 400, (FRAMES, POINTS, 2)).astype(np.float32)
VISIBLE = RANDOM.random((FRAMES, POINTS)) < 0.8
VISIBLE[0] = VISIBLE[:2, :] = True
LATER = np.broadcast_to(np.arange(POINTS) > 0, (FRAMES, POINTS))  # the first point is never seen
LASTING = np.logical_and.accumulate(VISIBLE)  # a point that is lost once stays lost
DEPTHS = RANDOM.uniform(1, 2, (FRAMES, POINTS, 1)).astype(np.float32)
DEEP, SURE = np.concatenate([TRACKS, DEPTHS], axis=2), np.where(VISIBLE, 0.97, 0.02)
SMALLER = 256 / WIDTH, 256 / HEIGHT  # of the model's picture
K = np.array([[700.0, 0, 320], [0, 700, 240], [0, 0, 1]])
SIZE = {"width": WIDTH, "height": HEIGHT}


class Tensor:
    """What a tensor that is on another device, and part of a gradient, lets one do with it."""

    def __init__(self, array, steps=("detach", "cpu")):
        self.value, self.steps = np.asarray(array), steps
        self.shape = self.value.shape

    def __getitem__(self, key):
        return Tensor(self.value[key], self.steps)

    def __gt__(self, number):
        return Tensor(self.value > number, self.steps)

    def detach(self):
        return Tensor(self.value, tuple(step for step in self.steps if step != "detach"))

    def cpu(self):
        return Tensor(self.value, tuple(step for step in self.steps if step != "cpu"))

    def __array__(self, dtype=None, copy=None):
        if self.steps:
            raise TypeError(f"can't convert this tensor to numpy. Use tensor.{self.steps[0]}() first")
        return self.value.astype(dtype)


def hidden_as_nan():
    return np.where(VISIBLE[..., None], TRACKS, np.nan)


def landmarks(frame):
    """Return the result of MediaPipe for one frame."""
    marks = [
        SimpleNamespace(x=x / WIDTH, y=y / HEIGHT, z=0.0, visibility=0.9 if seen else 0.2, presence=0.99)
        for (x, y), seen in zip(TRACKS[frame].tolist(), VISIBLE[frame], strict=True)
    ]
    return SimpleNamespace(pose_landmarks=[marks])


def sleap_labels():
    both = np.stack([hidden_as_nan(), hidden_as_nan() + 50], axis=1)
    nodes = [SimpleNamespace(name=f"joint {number}") for number in range(POINTS)]
    return SimpleNamespace(numpy=lambda: both, skeletons=[SimpleNamespace(nodes=nodes)])


# What a program that ran the tracker has: the names, shapes and types that the tracker gives them.
PRODUCED = {
    "CoTracker": {"pred_tracks": Tensor(TRACKS[None]), "pred_visibility": Tensor(VISIBLE[None])},
    "TAPIR, BootsTAPIR, LocoTrack": {"tracks": TRACKS.swapaxes(0, 1), "visibles": VISIBLE.T},
    "TAPNext": {"tracks": (TRACKS * SMALLER).swapaxes(0, 1)[None], "occluded": ~VISIBLE.T[None]},
    "SpatialTracker": {"pred_tracks": Tensor(DEEP[None]), "pred_visibility": Tensor(SURE[None])},
    "SpatialTrackerV2": {
        "track2d_pred": Tensor(DEEP),
        "vis_pred": Tensor(SURE[..., None]),
        "intrs": Tensor(np.broadcast_to(K, (FRAMES, 3, 3))),
        "video": Tensor(np.zeros((FRAMES, 3, HEIGHT, WIDTH), np.uint8)),
    },
    "DELTA": {"pred": {"coords": Tensor(TRACKS[None]), "vis": Tensor(VISIBLE[None])}},
    "AllTracker": {
        "trajs_e": Tensor(np.repeat(TRACKS, 100, axis=1)[None]),
        "visconfs_e": Tensor(np.repeat(np.stack([VISIBLE, 0.6 * SURE], axis=2), 100, axis=1)[None]),
    },
    "PIPs++": {"trajs_e": Tensor(TRACKS[None])},
    "OpenCV": {"points": list(TRACKS[:, :, None]), "status": list(VISIBLE[:, :, None].astype(np.uint8))},
    "DeepLabCut, Lightning Pose": {},  # it is a file that they leave
    "SLEAP": {"labels": sleap_labels()},
    "MediaPipe": {"results": [landmarks(frame) for frame in range(FRAMES)]},
    "MMPose, ViTPose": {"keypoints": list(TRACKS), "keypoint_scores": list(SURE.astype(np.float32))},
    "Any other": {"tracks": TRACKS, "visible": VISIBLE},
}


def snippets():
    """Return the lines of the page by the name of the tracker."""
    sections = help_page("own_tracks.md").split("\n### ")[1:]
    return {text.split("\n", 1)[0]: re.findall(r"```python\n(.*?)```", text, re.DOTALL) for text in sections}


@pytest.mark.parametrize("tracker", PRODUCED)
def test_the_lines_for_a_tracker_write_what_it_gave(tracker, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (lines,) = snippets()[tracker]
    assert len(ast.parse(lines).body) <= 3
    (tmp_path / "lines.py").write_text(lines)
    if "DLC" in lines:
        names = [f"joint {number}" for number in range(POINTS)]
        poses = np.insert(TRACKS, 2, np.where(VISIBLE, 0.95, 0.7), axis=2)
        write_pose_table(tmp_path / "videoDLC_resnet50.csv", names, poses)
    runpy.run_path("lines.py", init_globals=SIZE | PRODUCED[tracker])
    read = read_sequence("tracks.npz")
    seen = {"OpenCV": LASTING, "PIPs++": np.ones_like(VISIBLE)}.get(tracker, VISIBLE)
    assert_tracks(read, TRACKS, seen, 1e-6)
    assert read.image_size == (None if tracker.startswith("DeepLabCut") else (WIDTH, HEIGHT))
    assert (read.intrinsics is not None) == (tracker == "SpatialTrackerV2")
    assert (read.point_names is not None) == (tracker in ("SLEAP", "DeepLabCut, Lightning Pose"))


def test_the_page_has_no_tracker_without_a_test():
    assert snippets().keys() == PRODUCED.keys()
    assert all(len(blocks) == 1 for blocks in snippets().values())


def test_what_is_known_of_the_camera_is_written_with_the_tracks(tmp_path):
    path, names = tmp_path / "cloth.npz", [f"p{number}" for number in range(POINTS)]
    known = {"size": (WIDTH, HEIGHT), "intrinsics": K, "names": names, "video": tmp_path / "cloth.mp4"}
    written = write_tracks(path, TRACKS, VISIBLE, **known)
    read = read_sequence(path)
    for sequence in (written, read):
        np.testing.assert_array_equal(sequence.intrinsics, K)
        assert sequence.point_names == tuple(names) and sequence.name == "cloth"
        assert sequence.video == tmp_path / "cloth.mp4"
    assert isinstance(read.observations, Observations)


def test_frames_and_points_that_show_nothing_are_left_out_and_named(tmp_path):
    visible = np.ones((9, 7), dtype=bool)
    visible[[0, 1, 8]] = False
    visible[:, 5] = False
    visible[4, 5] = True
    tracks = RANDOM.uniform(0, 100, (9, 7, 2))
    written = write_tracks(tmp_path / "a.npz", tracks, visible, names=list("abcdefg"))
    np.testing.assert_array_equal(written.tracks, tracks[2:8][:, [0, 1, 2, 3, 4, 6]].transpose(0, 2, 1))
    assert written.point_names == tuple("abcdeg")
    assert written.provenance == (
        "frames that show no point are left out: 1-2, 9 of 9; "
        "points that fewer than 2 frames show are left out: f of 7"
    )
    visible[5] = False
    written = write_tracks(tmp_path / "a.npz", tracks, visible)
    assert written.frame_count == 5
    assert "left out: 1-2, 6, 9 of 9; the numbers of those after them" in written.provenance


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"path": "a.csv"}, r"a\.csv: tracks are written as \.npz"),
        ({"tracks": TRACKS.transpose(0, 2, 1)}, r"have shape \(6, 2, 9\); accepted is one order, \(frames"),
        ({"tracks": DEEP}, r"of tracks with a depth give \[\.\.\., :2\]"),
        ({"tracks": TRACKS.swapaxes(0, 1)}, r"visible has shape \(6, 9\).*give tracks\.swapaxes\(0, 1\)"),
        ({"visible": VISIBLE[:4]}, r"visible has shape \(4, 9\); accepted is \(6, 9\) with tracks"),
        ({"visible": np.where(VISIBLE, 0.9, 0.2)}, r"numbers from 0\.2 to 0\.9; .* confidence > 0\.5"),
        ({"tracks": TRACKS / 1000, "size": (640, 480)}, r"accepted are pixels: tracks \* \(640, 480\)"),
        ({"size": 5}, r"image_size of 'a' is \(5,\); accepted are width and height in whole pixels"),
        ({"size": (np.inf, 480)}, r"image_size of 'a' is \(inf, 480\); accepted are width and height"),
        ({"size": "ab"}, r"image_size of 'a' is \('a', 'b'\); accepted are width and height"),
        ({"tracks": [["a", "b"]]}, r"tracks are no array of numbers"),
        ({"tracks": hidden_as_nan()}, r"visible observations must be finite"),
        ({"names": ["a", "b"], "visible": LATER}, r"'a' has 2 point_names; the tracks have 9 points"),
        ({"intrinsics": [700.0, 320]}, r"intrinsics of 'a' have shape \(2,\)"),
    ],
)  # fmt: skip
def test_arrays_of_another_shape_are_refused_in_a_sentence(changes, sentence, tmp_path):
    given = {"path": "a.npz", "tracks": TRACKS, "visible": np.ones_like(VISIBLE)}
    given |= changes
    path = tmp_path / given.pop("path")
    with pytest.raises(InputError, match=sentence) as caught:
        core.write_tracks(path, given.pop("tracks"), given.pop("visible"), **given)
    assert str(caught.value).startswith(f"{path}: ")
    assert not path.exists()
