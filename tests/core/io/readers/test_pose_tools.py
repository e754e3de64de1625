"""Files of SLEAP, OpenPose and MediaPipe, made as these programs make them."""

from __future__ import annotations

import json

import h5py
import numpy as np
import pytest

from core import CameraModel, InputError, list_sequences, read_sequence
from core.io.readers import inspect_file
from core.io.readers.keypoints import openpose

FRAMES, POINTS = 7, 25
RANDOM = np.random.default_rng(5)
TRACKS = RANDOM.uniform(50, 450, (FRAMES, POINTS, 2)).round(3)
VISIBLE = RANDOM.random((FRAMES, POINTS)) < 0.8
VISIBLE[:2] = VISIBLE[:, 0] = True


def assert_read(sequence, tracks=TRACKS, visible=VISIBLE):
    np.testing.assert_array_equal(sequence.visible, visible)
    np.testing.assert_allclose(
        np.where(visible[:, None], sequence.tracks, 0),
        np.where(visible[..., None], tracks, 0).transpose(0, 2, 1),
        rtol=1e-12,
    )
    assert sequence.camera is CameraModel.PERSPECTIVE and sequence.units == "px"


# -- SLEAP ---------------------------------------------------------------------------------------------------


def analysis(path, individuals=1, names=None, order="matlab"):
    """Write an analysis file; the second individual is 10 px further and seen everywhere."""
    tracks = np.stack(
        [np.where(VISIBLE[..., None], TRACKS, np.nan), TRACKS + 10][:individuals]
    )  # (I, F, P, 2)
    scores = np.stack([np.where(VISIBLE, 0.9, 0), np.full_like(VISIBLE, 0.4, float)][:individuals])
    scores[0, 3, 0] = 0.2
    with h5py.File(path, "w") as file:
        if order == "matlab":
            file["tracks"], file["point_scores"] = tracks.transpose(0, 3, 2, 1), scores.transpose(0, 2, 1)
        else:
            file["tracks"], file["point_scores"] = tracks.transpose(1, 0, 2, 3), scores.transpose(1, 0, 2)
        file["node_names"] = np.array([f"node{number}".encode() for number in range(POINTS)])
        file["track_names"] = np.array(
            names if names is not None else [b"track_0", b"track_1"][:individuals], "S"
        )
        file["edge_inds"] = np.array([[0, 1], [1, 2], [2, 5]])
        file["instance_scores"] = np.ones((individuals, FRAMES))
        file["track_occupancy"] = np.ones((FRAMES, individuals), np.uint8)
        file["provenance"] = '{"sleap_version": "1.3.3"}'
        file["video_path"] = "mouse.mp4"
    return path


@pytest.mark.usefixtures("hdf5_here")
@pytest.mark.parametrize("name", ["labels.analysis.h5", "renamed.mat", "renamed.hdf5"])
@pytest.mark.parametrize("order", ["matlab", "standard"])
def test_an_analysis_file_of_sleap_is_read_whatever_its_suffix(name, order, tmp_path):
    path = analysis(tmp_path / name, order=order)
    read = read_sequence(path)
    assert_read(read)
    assert read.point_names == tuple(f"node{number}" for number in range(POINTS))
    np.testing.assert_array_equal(read.edges, [[0, 1], [1, 2], [2, 5]])
    contents = inspect_file(path)
    assert contents.clear and contents.producer == "SLEAP"
    roles = {entry.name: entry.role for entry in contents.arrays}
    assert roles["tracks"] == "tracks" and roles["edge_inds"] == "edges" and roles["node_names"] == "names"


@pytest.mark.usefixtures("hdf5_here")
def test_a_score_may_hide_nodes(tmp_path):
    expected = VISIBLE.copy()
    expected[3, 0] = False
    assert_read(read_sequence(analysis(tmp_path / "a.h5"), threshold=0.5), visible=expected)


@pytest.mark.usefixtures("hdf5_here")
@pytest.mark.parametrize("named", [True, False])
def test_one_of_several_tracks_of_sleap_is_chosen_by_name(named, tmp_path):
    path = analysis(tmp_path / "a.h5", 2, None if named else [])
    first, second = ("track_0", "track_1") if named else ("1", "2")
    sentence = rf"2 individuals: {first} \({VISIBLE.mean():.0%} visible\), {second} \(100% visible\)"
    with pytest.raises(InputError, match=sentence):
        read_sequence(path)
    assert inspect_file(path).individuals == (first, second)
    assert_read(read_sequence(path, individual=first))
    assert_read(read_sequence(path, individual=second), TRACKS + 10, np.ones_like(VISIBLE))


@pytest.mark.usefixtures("hdf5_here")
def test_other_hdf5_files_of_pose_tools_refer_to_what_is_read(tmp_path):
    row = np.dtype([("index", "i8"), ("values_block_0", "f8", (6,))])
    with h5py.File(tmp_path / "videoDLC_resnet50.h5", "w") as file:
        file["df_with_missing/table"] = np.zeros(4, row)
    with pytest.raises(InputError, match=r"DLC_resnet50\.h5: is a table of pandas.*save_as_csv=True"):
        read_sequence(tmp_path / "videoDLC_resnet50.h5")
    point = np.dtype([("x", "f8"), ("y", "f8"), ("visible", "?"), ("complete", "?"), ("score", "f8")])
    with h5py.File(tmp_path / "labels.v001.slp", "w") as file:
        file["pred_points"] = np.zeros(4, point)
        file["metadata"] = np.zeros(1)
    with pytest.raises(InputError, match=r"labels\.v001\.slp: is a project of SLEAP.*--format analysis"):
        read_sequence(tmp_path / "labels.v001.slp")


@pytest.mark.usefixtures("hdf5_here")
def test_a_folder_of_analysis_files_is_listed(tmp_path):
    analysis(tmp_path / "a.analysis.h5")
    (entry,) = list_sequences(tmp_path)
    assert (entry.frames, entry.points, entry.edges) == (FRAMES, POINTS, 3)


# -- OpenPose ------------------------------------------------------------------------------------------------


def person(frame, tracks=TRACKS, visible=VISIBLE, confidence=0.9, identity=-1, **others):
    seen = visible[frame, :, None]
    keypoints = np.where(
        seen, np.concatenate([tracks[frame], np.full((len(tracks[frame]), 1), confidence)], 1), 0
    )
    return {
        "person_id": [identity],
        "pose_keypoints_2d": keypoints.ravel().tolist(),
        "face_keypoints_2d": [],
        "hand_left_keypoints_2d": [],
        "pose_keypoints_3d": [],
        **others,
    }


def frames_of(folder, people, first=0):
    folder.mkdir()
    for frame, inside in enumerate(people, first):
        file = folder / f"clip_{frame:012d}_keypoints.json"
        file.write_text(json.dumps({"version": 1.3, "people": inside}))
    return folder


def test_a_folder_of_openpose_is_one_sequence(tmp_path):
    folder = frames_of(tmp_path / "clip", [[person(frame)] for frame in range(FRAMES)])
    read = read_sequence(folder)
    assert_read(read)
    assert read.point_names[:3] == ("Nose", "Neck", "RShoulder") and len(read.edges) == 24
    ends = {tuple(read.point_names[end] for end in edge) for edge in read.edges.tolist()}
    assert ("RKnee", "RAnkle") in ends and ("MidHip", "LHip") in ends
    assert read.source == folder and read.name == "clip"
    for place in (folder, tmp_path):
        (entry,) = list_sequences(place)
        assert (entry.file, entry.frames, entry.points) == (folder, FRAMES, POINTS)
    contents = inspect_file(folder)
    assert contents.clear and contents.producer == "OpenPose" and contents.individuals == ("person 1",)


def test_people_are_followed_by_their_nearest_keypoints_in_any_order(tmp_path):
    steps = np.cumsum(RANDOM.normal(0, 4, (FRAMES, 1, 2)), axis=0)
    shown = TRACKS[:1] + steps
    other, everywhere = shown + np.array([700.0, 0.0]), np.ones_like(VISIBLE)
    people = [
        [person(frame, other, everywhere, 0.5), person(frame, shown, everywhere)][:: (-1) ** frame]
        for frame in range(FRAMES)
    ]
    people[4] = [inside for inside in people[4] if inside["pose_keypoints_2d"][0] > 600]  # one is not found
    folder = frames_of(tmp_path / "clip", people)
    kept = [0, 1, 2, 3, 5, 6]
    read = read_sequence(folder)
    assert_read(read, shown[kept], everywhere[kept])
    assert "frames that show no point are left out: 5 of 7" in read.provenance
    assert_read(read_sequence(folder, individual="person 2"), other, everywhere)
    contents = inspect_file(folder)
    assert not contents.clear and contents.individuals == ("person 1", "person 2")
    assert "2 people are in the frames, and person 1 is read" in contents.guesses[0]


def test_identities_of_openpose_are_kept(tmp_path):
    far = TRACKS + 3000 * (np.arange(FRAMES) % 2)[:, None, None]  # no tracking by places could follow it
    folder = frames_of(tmp_path / "clip", [[person(frame, far, identity=4)] for frame in range(FRAMES)])
    assert_read(read_sequence(folder), far)


def test_other_keypoints_than_those_of_the_body_are_read_by_their_name(tmp_path):
    face = RANDOM.uniform(10, 60, (FRAMES, 70, 2)).round(3)
    people = [
        [person(frame, face_keypoints_2d=np.concatenate([face[frame], np.ones((70, 1))], 1).ravel().tolist())]
        for frame in range(FRAMES)
    ]
    folder = frames_of(tmp_path / "clip", people)
    read = read_sequence(folder, tracks="face_keypoints_2d")
    assert_read(read, face, np.ones((FRAMES, 70), bool))
    assert read.point_names is None
    with pytest.raises(InputError, match="has no hand; there are face_keypoints_2d, pose_keypoints_2d"):
        read_sequence(folder, tracks="hand")


def test_a_missing_file_and_a_threshold_of_confidence_are_said(tmp_path):
    folder = frames_of(tmp_path / "clip", [[person(frame)] for frame in range(FRAMES)], first=3)
    next(folder.glob("*05_keypoints.json")).unlink()
    kept = [0, 1, 3, 4, 5, 6]
    assert_read(read_sequence(folder), TRACKS[kept], VISIBLE[kept])
    assert "no file is of the frames between 4 and 6" in inspect_file(folder).guesses[0]
    with pytest.raises(InputError, match="no visible point"):
        read_sequence(folder, threshold=0.95)


def test_a_frame_of_very_many_digits_has_its_last_ones(tmp_path):
    folder = frames_of(tmp_path / "clip", [[person(frame)] for frame in range(FRAMES)])
    for file in folder.iterdir():
        file.rename(folder / file.name.replace("clip_", "clip_" + "7" * 180))
    next(folder.glob("*05_keypoints.json")).unlink()
    (guess,) = inspect_file(folder).guesses
    assert "no file is of the frames between 777000000000004 and 777000000000006" in guess


def test_frames_without_people_at_the_ends_are_left_out(tmp_path):
    people = [[], [], *[[person(frame)] for frame in range(FRAMES)], []]
    read = read_sequence(frames_of(tmp_path / "clip", people))
    assert_read(read)
    assert "frames that show no point are left out: 1-2, 10 of 10" in read.provenance


@pytest.mark.parametrize(
    ("people", "sentence"),
    [
        ([[], []], "clip: shows no person in any frame"),
        (
            [[person(0)], [{"person_id": [-1], "pose_keypoints_2d": [1, 2, 3, 4]}]],
            "0001_keypoints.json: is no frame",
        ),
        (
            [[person(0)], [person(0, TRACKS[:, :18], VISIBLE[:, :18])]],
            "0001_keypoints.json: has 18 keypoints; others",
        ),
        ([[person(0)], 7], "0001_keypoints.json: is no frame of OpenPose"),
    ],
)
def test_a_broken_frame_of_openpose_is_named(people, sentence, tmp_path):
    folder = frames_of(tmp_path / "clip", people)
    with pytest.raises(InputError, match=sentence):
        read_sequence(folder)
    (entry,) = list_sequences(folder)
    assert entry.problem


def test_what_is_no_json_and_two_videos_in_a_folder_are_refused(tmp_path):
    folder = frames_of(tmp_path / "clip", [[person(frame)] for frame in range(FRAMES)])
    (folder / "clip_000000000002_keypoints.json").write_text('{"people": [')
    with pytest.raises(InputError, match=r"clip_000000000002_keypoints\.json: is no JSON"):
        read_sequence(folder)
    (folder / "clip_000000000002_keypoints.json").rename(folder / "other_000000000002_keypoints.json")
    with pytest.raises(
        InputError, match=r"clip: holds the frames of 2 videos \(clip, other\); accepted is one"
    ):
        read_sequence(folder)


def test_a_folder_of_openpose_is_bounded_in_files_bytes_memory_and_time(tmp_path, monkeypatch):
    strangers = [  # of which none is near one of the frames before
        [{"pose_keypoints_2d": [1e3 * frame, 1e5 * number, 1]} for number in range(30)] for frame in range(60)
    ]
    folder = frames_of(tmp_path / "clip", strangers)
    monkeypatch.setenv("NRSFM_FILE_MEMORY", "0.003")
    with pytest.raises(InputError, match=r"clip: needs 3 MB of memory; accepted .* are 3 MB; NRSFM_FILE"):
        read_sequence(folder)
    monkeypatch.setenv("NRSFM_FILE_MEMORY", "0.00001")
    with pytest.raises(InputError, match=r"clip: its 60 frames have 0 MB; accepted are up to 0 MB"):
        read_sequence(folder)
    monkeypatch.delenv("NRSFM_FILE_MEMORY")
    monkeypatch.setattr(openpose, "_MOST_COMPARED", 1000)
    with pytest.raises(InputError, match="shows 60 people up to frame 2, too many to be joined"):
        read_sequence(folder)
    monkeypatch.setattr(openpose, "MOST_FILES", 59)
    with pytest.raises(InputError, match="clip: holds more than 59 frames"):
        read_sequence(folder)


def test_one_frame_of_openpose_refers_to_its_folder(tmp_path):
    folder = frames_of(tmp_path / "clip", [[person(0)]])
    with pytest.raises(InputError, match="is one frame of OpenPose; accepted is the folder"):
        read_sequence(next(folder.iterdir()))


# -- MediaPipe -----------------------------------------------------------------------------------------------


def landmarks(missing=()):
    """Return frames of landmarks as the result of the pose landmarker is saved."""
    return [
        None
        if frame in missing
        else [
            {"x": x / 640, "y": y / 480, "z": -0.1, "visibility": 0.98 if seen else 0.2}
            for (x, y), seen in zip(TRACKS[frame].tolist(), VISIBLE[frame], strict=True)
        ]
        for frame in range(FRAMES)
    ]


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda frames: frames,
        lambda frames: {"frames": [{"frame": n, "landmarks": frame} for n, frame in enumerate(frames)]},
        lambda frames: {"pose_landmarks": frames},
    ],
)
def test_landmarks_of_mediapipe_are_read_with_the_size_of_the_picture(wrapped, tmp_path):
    path = tmp_path / "pose.json"
    path.write_text(json.dumps(wrapped(landmarks())))
    with pytest.raises(
        InputError, match=r"pose\.json: x and y lie between 0 and 1, relative to the picture; .*--size"
    ):
        read_sequence(path)
    read = read_sequence(path, size="640x480")
    assert_read(read)
    assert read.image_size == (640, 480) and read.reading == {"size": "640x480"}


def test_frames_where_mediapipe_finds_nobody_are_left_out(tmp_path):
    path = tmp_path / "pose.json"
    path.write_text(json.dumps(landmarks(missing=(0, 6))))
    assert_read(read_sequence(path, size="640x480"), TRACKS[1:6], VISIBLE[1:6])


def test_thirty_three_landmarks_have_names_and_a_skeleton(tmp_path):
    frame = [{"x": x, "y": 0.5, "visibility": 1.0} for x in np.linspace(0.1, 0.9, 33)]
    path = tmp_path / "pose.json"
    path.write_text(json.dumps([frame, frame, frame]))
    read = read_sequence(path, size="640x480")
    assert read.point_names[:2] == ("nose", "left_eye_inner") and len(read.edges) == 35


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[[1, 2], [3]]", "frame 1 holds other than landmarks; accepted is a list of frames of MediaPipe"),
        ("{}", "holds no frames; accepted is a list of frames of MediaPipe"),
        ("[" * 100_000, "is no JSON"),
        (
            json.dumps([[{"x": 0.5, "y": 0.5}] * 5, [{"x": 0.5, "y": 0.5}] * 4]),
            "frame 2 has 4 landmarks; others have 5",
        ),
    ],
)
def test_other_json_is_refused(text, sentence, tmp_path):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InputError, match=sentence):
        read_sequence(tmp_path / "a.json")
