"""Files of SLEAP, OpenPose and MediaPipe, made as these programs make them."""

import json
import pickle

import h5py
import numpy as np
import pytest
from pose_tables import assert_tracks, landmarks, write_pose_table
from refusals import refuses

from core import list_sequences, read_sequence
from core.io.readers import inspect_file
from core.io.readers.keypoints import json_poses

FRAMES, POINTS = 7, 25
RANDOM = np.random.default_rng(5)
TRACKS = RANDOM.uniform(50, 450, (FRAMES, POINTS, 2)).round(3)
VISIBLE = RANDOM.random((FRAMES, POINTS)) < 0.8
VISIBLE[:2] = VISIBLE[:, 0] = True


def assert_read(sequence, tracks=TRACKS, visible=VISIBLE):
    assert_tracks(sequence, tracks, visible, 1e-12)


# -- SLEAP ---------------------------------------------------------------------------------------------------


def analysis(path, individuals=1, names=("track_0",), order="matlab"):
    """Write an analysis file; the second individual is 10 px further and seen everywhere."""
    places = [np.where(VISIBLE[..., None], TRACKS, np.nan), TRACKS + 10]
    tracks = np.stack(places[:individuals])  # (I, F, P, 2)
    scores = np.stack([np.where(VISIBLE, 0.9, 0), np.full_like(VISIBLE, 0.4, float)][:individuals])
    scores[0, 3, 0] = 0.2
    with h5py.File(path, "w") as file:
        if order == "matlab":
            file["tracks"], file["point_scores"] = tracks.transpose(0, 3, 2, 1), scores.transpose(0, 2, 1)
        else:
            file["tracks"], file["point_scores"] = tracks.transpose(1, 0, 2, 3), scores.transpose(1, 0, 2)
        file["node_names"] = np.array([f"node{number}".encode() for number in range(POINTS)])
        file["track_names"] = np.array(names, "S")
        file["edge_inds"] = np.array([[0, 1], [1, 2], [2, 5]])
        file["instance_scores"] = np.ones((individuals, FRAMES))
        file["track_occupancy"] = np.ones((FRAMES, individuals), np.uint8)
        file["provenance"] = '{"sleap_version": "1.3.3"}'
        file["video_path"] = "mouse.mp4"
    return path


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
    scored = VISIBLE.copy()
    scored[3, 0] = False
    assert_read(read_sequence(path, threshold=0.5), visible=scored)


@pytest.mark.parametrize("named", [True, False])
def test_one_of_several_tracks_of_sleap_is_chosen_by_name(named, tmp_path):
    first, second = ("track_0", "track_1") if named else ("1", "2")
    path = analysis(tmp_path / "a.h5", 2, (first, second) if named else ())
    sentence = rf"2 individuals: {first} \({VISIBLE.mean():.0%} visible\), {second} \(100% visible\)"
    refuses(path, sentence)
    assert inspect_file(path).individuals == (first, second)
    assert_read(read_sequence(path, individual=first))
    assert_read(read_sequence(path, individual=second), TRACKS + 10, np.ones_like(VISIBLE))


@pytest.mark.parametrize("individuals", [(), ("mouse", "rat")])
def test_the_table_that_deeplabcut_writes_by_pandas_is_read(individuals, tmp_path):
    names = [
        ("net", *who, f"point{point}", kind)
        for who in ([(name,) for name in individuals] or [()])
        for point in range(POINTS)
        for kind in ("x", "y", "likelihood")
    ]
    one = np.concatenate([TRACKS, np.where(VISIBLE, 0.9, 0.1)[..., None]], axis=2).reshape(FRAMES, -1)
    values = np.concatenate([one, one + 10][: max(len(individuals), 1)], axis=1)
    row = np.dtype([("index", "i8"), ("values_block_0", "f8", (values.shape[1],))])
    path = tmp_path / "videoDLC_resnet50.h5"

    def write(columns):
        with h5py.File(path, "w") as file:
            table = np.zeros(FRAMES, row)
            table["values_block_0"] = values
            file["df_with_missing/table"] = table
            file["df_with_missing/table"].attrs["values_block_0_kind"] = np.bytes_(pickle.dumps(columns, 0))

    write(names)
    read = read_sequence(path, individual="mouse" if individuals else None)
    assert_read(read)
    assert read.point_names[:2] == ("point0", "point1")
    for columns, sentence in ((names[1:], "columns of other names"), (print, "a pickle that is not read")):
        write(columns)
        refuses(path, rf"DLC_resnet50\.h5: .*{sentence}")


@pytest.mark.parametrize("kind", ["DeepLabCut", "MediaPipe"])
def test_points_in_the_corner_are_hidden_where_a_tool_writes_no_scores(kind, tmp_path):
    shown = np.where(VISIBLE[..., None], TRACKS, 0.0)
    if kind == "DeepLabCut":
        names = [f"point{point}" for point in range(POINTS)]
        path, options = write_pose_table(tmp_path / "t.csv", names, shown), {}
    else:
        path, options = tmp_path / "t.json", {"size": "640x480"}
        frames = [[{"x": x / 640, "y": y / 480} for x, y in frame.tolist()] for frame in shown]
        path.write_text(json.dumps([{"landmarks": frame} for frame in frames]))
    np.testing.assert_array_equal(read_sequence(path, **options).visible, VISIBLE)
    assert "count as hidden" in " ".join(inspect_file(path, **options).guesses)


def test_a_project_of_sleap_is_read_with_its_labels_before_its_predictions(tmp_path):
    path = project(tmp_path / "labels.v001.slp")
    refuses(path, r"2 individuals: first \(\d+% visible\), untracked \(100% visible\)")
    read = read_sequence(path, individual="first")
    assert_read(read)
    assert read.point_names[0] == "node24" and read.edges.tolist() == [[0, 24]]  # as the skeleton has them
    assert_read(read_sequence(path, individual="untracked"), TRACKS + 10, np.ones_like(VISIBLE))
    refuses(project(path, videos=2), "is a project of 2 videos")
    with h5py.File(path, "a") as file:
        del file["metadata"]
    refuses(path, r"cannot be read as a project of SLEAP")


def project(path, videos=1):
    """Write a project: predictions of two individuals, and in one frame labels of the first."""
    point = np.dtype([("x", "f8"), ("y", "f8"), ("visible", "?"), ("complete", "?")])
    predicted = np.dtype([*point.descr, ("score", "f8")])
    columns = ("instance_type", "frame_id", "track", "point_id_start", "point_id_end")
    frames, instances, points = [], [], np.zeros(2 * FRAMES * POINTS, predicted)
    labels = np.zeros(POINTS, point)
    labels["x"], labels["y"], labels["visible"] = *TRACKS[2].T, VISIBLE[2]
    for frame in range(FRAMES):
        first = len(instances)
        if frame == 2:
            instances.append((0, frame, 0, 0, POINTS))
        for track in (0, -1):
            start = (2 * frame + track) * POINTS % len(points)
            part = points[start : start + POINTS]
            part["x"], part["y"] = (TRACKS[frame] + (10 if track else 7 * (frame == 2))).T
            part["visible"], part["score"] = VISIBLE[frame] | (track < 0), 0.9
            instances.append((1, frame, track, start, start + POINTS))
        frames.append((frame, frame % videos, frame, first, len(instances)))
    order = list(range(POINTS))[::-1]
    skeleton = {"nodes": [{"id": node} for node in order], "links": [{"source": 24, "target": 0}]}
    nodes = [{"name": f"node{node}"} for node in range(POINTS)]
    with h5py.File(path, "w") as file:
        names = ("frame_id", "video", "frame_idx", "instance_id_start", "instance_id_end")
        file["frames"] = np.array(frames, [(name, "i8") for name in names])
        file["instances"] = np.array(instances, [(name, "i8") for name in columns])
        file["pred_points"], file["points"] = points, labels
        file["tracks_json"] = np.array([b'[0, "first"]'])
        document = json.dumps({"skeletons": [skeleton], "nodes": nodes})
        file.create_group("metadata").attrs["json"] = np.bytes_(document)
    return path


# -- OpenPose ------------------------------------------------------------------------------------------------


def flat(places, confidence=0.9):
    return np.insert(places, 2, confidence, axis=1).ravel().tolist()


def person(frame, tracks=TRACKS, visible=VISIBLE, confidence=0.9, identity=-1, **others):
    keypoints = np.where(np.repeat(visible[frame], 3), flat(tracks[frame], confidence), 0).tolist()
    empty = {kind: [] for kind in ("face_keypoints_2d", "hand_left_keypoints_2d", "pose_keypoints_3d")}
    return {"person_id": [identity], "pose_keypoints_2d": keypoints, **empty, **others}


def alone(**known):
    return [[person(frame, **known)] for frame in range(FRAMES)]


def frames_of(folder, people, first=0):
    folder.mkdir()
    for frame, inside in enumerate(people, first):
        file = folder / f"clip_{frame:012d}_keypoints.json"
        file.write_text(json.dumps({"version": 1.3, "people": inside}))
    return folder


def test_a_folder_of_openpose_is_one_sequence(tmp_path):
    folder = frames_of(tmp_path / "clip", alone())
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
    refuses(next(folder.iterdir()), "is one frame of OpenPose; accepted is the folder")


def test_a_fragment_of_a_person_does_not_take_the_place_of_the_body(tmp_path):
    shown = TRACKS[:1] + np.cumsum(RANDOM.normal(0, 4, (FRAMES, 1, 2)), axis=0)
    few = np.zeros_like(VISIBLE)
    few[3, :3] = True
    people = alone(tracks=shown, visible=np.ones_like(VISIBLE))
    moved = np.where(np.arange(FRAMES)[:, None, None] == 3, shown - shown[3:4] + shown[2:3], shown)
    people[3].insert(0, person(3, moved, few))
    read = read_sequence(frames_of(tmp_path / "clip", people))
    assert_read(read, shown, np.ones_like(VISIBLE))


def test_people_are_followed_by_their_nearest_keypoints_in_any_order(tmp_path):
    steps = np.cumsum(RANDOM.normal(0, 4, (FRAMES, 1, 2)), axis=0)
    shown = TRACKS[:1] + steps
    other, everywhere = shown + np.array([700.0, 0.0]), np.ones_like(VISIBLE)
    people = [
        [person(frame, other, everywhere, 0.5), person(frame, shown, everywhere)][:: (-1) ** frame]
        for frame in range(FRAMES)
    ]
    people[4] = [inside for inside in people[4] if inside["pose_keypoints_2d"][0] > 600]  # one is not found
    folder, kept = frames_of(tmp_path / "clip", people), [0, 1, 2, 3, 5, 6]
    read = read_sequence(folder)
    assert_read(read, shown[kept], everywhere[kept])
    assert "frames that show no point are left out: 5 of 7" in read.provenance
    assert_read(read_sequence(folder, individual="person 2"), other, everywhere)
    contents = inspect_file(folder)
    assert not contents.clear and contents.individuals == ("person 1", "person 2")
    assert "2 people are in the frames, and person 1 is read" in contents.guesses[0]


def test_identities_of_openpose_are_kept(tmp_path):
    far = TRACKS + 3000 * (np.arange(FRAMES) % 2)[:, None, None]  # no tracking by places could follow it
    folder = frames_of(tmp_path / "clip", alone(tracks=far, identity=4))
    assert_read(read_sequence(folder), far)


def test_other_keypoints_than_those_of_the_body_are_read_by_their_name(tmp_path):
    face = RANDOM.uniform(10, 60, (FRAMES, 70, 2)).round(3)
    people = [[person(frame, face_keypoints_2d=flat(face[frame]))] for frame in range(FRAMES)]
    folder = frames_of(tmp_path / "clip", people)
    read = read_sequence(folder, tracks="face_keypoints_2d")
    assert_read(read, face, np.ones((FRAMES, 70), bool))
    assert read.point_names is None
    refuses(folder, "has no hand; there are face_keypoints_2d, pose_keypoints_2d", tracks="hand")


def test_a_missing_file_and_a_threshold_of_confidence_are_said(tmp_path):
    folder = frames_of(tmp_path / "clip", alone(), first=3)
    next(folder.glob("*05_keypoints.json")).unlink()
    kept = [0, 1, 3, 4, 5, 6]
    assert_read(read_sequence(folder), TRACKS[kept], VISIBLE[kept])
    assert "no file is of the frames between 4 and 6" in inspect_file(folder).guesses[0]
    refuses(folder, "no visible point", threshold=0.95)


@pytest.mark.parametrize(
    ("people", "sentence"),
    [
        ([[], []], "clip: shows no person in any frame"),
        ([[person(0)], [{"pose_keypoints_2d": [1, 2, 3, 4]}]], "0001_keypoints.json: cannot be read as a"),
        ([[person(0)], [person(0, TRACKS[:, :18], VISIBLE[:, :18])]], "has 18 keypoints; others have 25"),
    ],
)
def test_a_broken_frame_of_openpose_is_named(people, sentence, tmp_path):
    folder = frames_of(tmp_path / "clip", people)
    refuses(folder, sentence)
    (entry,) = list_sequences(folder)
    assert entry.problem


def test_what_is_no_json_and_two_videos_in_a_folder_are_refused(tmp_path):
    folder = frames_of(tmp_path / "clip", alone())
    (folder / "clip_000000000002_keypoints.json").write_text('{"people": [')
    refuses(folder, r"clip_000000000002_keypoints\.json: is no JSON")
    (folder / "clip_000000000002_keypoints.json").rename(folder / "other_000000000002_keypoints.json")
    refuses(folder, r"clip: holds the frames of 2 videos \(clip, other\); accepted is one")


def test_a_folder_of_openpose_is_bounded_in_memory_and_time(tmp_path, monkeypatch):
    strangers = [  # of which none is near one of the frames before
        [{"pose_keypoints_2d": [1e3 * frame, 1e5 * number, 1]} for number in range(30)] for frame in range(60)
    ]
    folder = frames_of(tmp_path / "clip", strangers)
    monkeypatch.setenv("NRSFM_FILE_MEMORY", "0.003")
    refuses(folder, r"clip: needs 3 MB of memory; accepted .* are 3 MB; NRSFM_FILE")
    monkeypatch.delenv("NRSFM_FILE_MEMORY")
    monkeypatch.setattr(json_poses, "_MOST_COMPARED", 60_000)
    refuses(folder, "shows 360 people up to frame 12, too many to be joined")


# -- MediaPipe -----------------------------------------------------------------------------------------------


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
    path.write_text(json.dumps(wrapped(landmarks(TRACKS, VISIBLE, (640, 480)))))
    refuses(path, r"pose\.json: x and y lie between 0 and 1, relative to the picture; .*--size")
    read = read_sequence(path, size="640x480")
    assert_read(read)
    assert read.image_size == (640, 480) and read.reading == {"size": "640x480"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[[1, 2], [3]]", "frame 1 holds other than landmarks; accepted is a list of frames of MediaPipe"),
        ("{}", "holds no frames; accepted is a list of frames of MediaPipe"),
        (json.dumps([[{"x": 0.5, "y": 0.5}] * count for count in (5, 4)]), "frame 2 has 4 .*others have 5"),
    ],
)
def test_other_json_is_refused(text, sentence, tmp_path):
    (tmp_path / "a.json").write_text(text)
    refuses(tmp_path / "a.json", sentence)
