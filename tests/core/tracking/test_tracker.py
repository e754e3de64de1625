"""Points followed through rendered videos whose truth is known, and what is refused."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rendering import render, sample_video, write_video

from core import InputError, read_sequence
from core.cli import main
from core.tracking import (
    Video,
    missing_packages,
    opencv,
    plugin_warning,
    rectangle,
    sample_videos,
    track_video,
    video_path,
)
from core.tracking.tracker import jumps

cv2 = pytest.importorskip("cv2", reason="following points needs OpenCV")
av = pytest.importorskip("av", reason="videos need PyAV")

SIZE, FRAMES, REGION = (320, 180), 16, rectangle(60, 30, 200, 120)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The first frames of the bundled video, at half its size."""
    path = tmp_path_factory.mktemp("small") / "small.mp4"
    with av.open(str(video_path(Path("sample:sheet")))) as read:
        frames = itertools.islice(read.decode(video=0), FRAMES)
        return write(path, (cv2.resize(frame.to_ndarray(format="rgb24"), SIZE) for frame in frames))


def write(path, images):
    return write_video(path, images, crf="18")


@pytest.fixture(scope="module")
def followed(path):
    return list(track_video(path, points=80, region=REGION))


def errors(video, tracks):
    """Return the distance (F, P) of tracks from the material point that each began on, NaN off the sheet."""
    first = np.isfinite(tracks[:, 0]).argmax(axis=0)
    places = np.full(tracks.shape, np.nan)
    for frame in np.unique(first):
        chosen = np.flatnonzero(first == frame)
        triangles, weights = video.locate(frame, tracks[frame][:, chosen])
        on = triangles >= 0
        places[:, :, chosen[on]], _ = video.project(triangles[on], weights[:, on])
    return np.linalg.norm(tracks - places, axis=1)


@pytest.mark.slow
def test_points_stay_on_the_material_that_they_began_on(tmp_path):
    video = render("paper", frames=80, size=(200, 150), seed=4)
    moving = {name: getattr(video, name)[:FRAMES] for name in ("shapes", "rotations", "translations")}
    video = replace(video, **moving)
    video.write(tmp_path / "small.mp4", crf=18)
    *_, last = track_video(tmp_path / "small.mp4", points=80, region=rectangle(50, 40, 100, 70))
    sequence = last.sequence()
    apart = errors(video, sequence.tracks)
    known = apart[np.isfinite(apart)]
    assert len(known) > 0.9 * sequence.visible.sum()
    assert np.median(known) < 0.25 and np.percentile(known, 95) < 1.0
    assert sequence.point_count > 40 and sequence.visible.mean() > 0.8


def test_the_sequence_names_its_video_and_its_size(path, followed):
    sequence = followed[-1].sequence()
    assert sequence.video == path and sequence.image_size == SIZE and sequence.frame_rate == 30
    assert sequence.name == "small" and sequence.intrinsics is None and sequence.camera.value == "perspective"
    assert sequence.frame_count == FRAMES
    assert "followed through small.mp4, frames 1 to 16" in sequence.provenance
    assert np.array_equal(sequence.visible, np.isfinite(sequence.tracks).all(axis=1))
    part = followed[7].sequence()  # as it is kept after a cancel
    assert part.frame_count == 8 and part.point_count > 40


def test_tracks_appear_as_they_are_found(followed):
    assert [step.done for step in followed] == list(range(1, FRAMES + 1))
    assert all(step.total == FRAMES and step.image.shape == (SIZE[1], SIZE[0], 3) for step in followed)
    for before, after in itertools.pairwise(followed):
        shared = after.tracks[: before.done, :, : before.tracks.shape[2]]
        assert np.array_equal(before.tracks, shared, equal_nan=True)
    assert followed[0].followed == followed[0].tracks.shape[2] > 40


def test_a_point_jumps_where_its_motion_is_neither_its_own_nor_that_around_it():
    random = np.random.default_rng(0)
    places = random.uniform(0, 200, (60, 2))
    velocities = places @ np.array([[0.05, -0.02], [0.03, 0.04]]) + [3.0, -1.0]
    before = velocities + 0.3 * random.standard_normal((60, 2))
    assert not jumps(places, velocities, before).any()
    velocities[7] += [9.0, 2.0]
    velocities[20] += [9.0, 2.0]
    before[20] = velocities[20]  # it moves on its own, as it did
    velocities[31] -= [8.0, 8.0]
    before[31] = np.nan  # it has just begun, and moves alone
    pair = [40, int(np.linalg.norm(places - places[40], axis=1).argsort()[1])]
    velocities[pair] -= [0.0, 12.0]
    before[pair] = np.nan  # these move together: a thin object
    assert np.flatnonzero(jumps(places, velocities, before)).tolist() == [7, 31]
    assert not jumps(places[:5], velocities[:5], before[:5]).any()


def test_every_nth_frame_is_that_of_the_full_tracks(path, followed):
    steps = list(track_video(path, points=80, region=REGION, start=1, end=13, step=4))
    sequence = steps[-1].sequence()
    assert [step.picture for step in steps] == [0, 4, 8, 12]
    assert sequence.frame_rate == 7.5 and sequence.frame_count == 4
    full = followed[12].tracks[[0, 4, 8, 12]]
    assert np.array_equal(steps[-1].tracks, full[:, :, : steps[-1].tracks.shape[2]], equal_nan=True)


def test_a_patch_that_something_covers_ends_its_points(path, tmp_path):
    """From frame 7 on a gray board covers the right half."""
    video = Video(path)
    images = [video.read(number) for number in range(FRAMES)]
    video.close()
    for image in images[6:]:
        image[:, SIZE[0] // 2 :] = 128
    *_, last = track_video(write(tmp_path / "covered.mp4", images), points=80, region=REGION)
    late = last.sequence().tracks[12:]
    assert np.isfinite(late[:, 0]).any() and np.nanmax(late[:, 0]) < SIZE[0] // 2 + 5


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"points": 3}, "points is 3; accepted is a whole number of at least 4"),
        ({"check": 1.5}, "check is 1.5; accepted is a number of at least 0 and below 1"),
        ({"step": 0}, "step is 0"),
        ({"start": 9, "end": 9}, "end is 9; accepted is a frame after the first one, 9"),
        ({"start": 400}, "frames 400 to 16 in steps of 1 are 0 of 16; at least 2 are needed"),
        ({"region": [[1, 2]]}, r"region has shape \(1, 2\)"),
        ({"region": rectangle(5, 5, 3, 3)}, "region covers 9 square pixels"),
    ],
)
def test_arguments_outside_their_range_are_refused(path, options, sentence):
    with pytest.raises(InputError, match=sentence):
        next(track_video(path, **options))


def test_a_region_without_texture_is_refused(tmp_path):
    gray = write(tmp_path / "gray.mp4", 3 * [np.full((SIZE[1], SIZE[0], 3), 128, np.uint8)])
    *_, last = track_video(gray)
    with pytest.raises(InputError, match="no corners are found where points may begin"):
        last.sequence()


def test_frames_that_change_their_size_are_refused(tmp_path):
    random, content = np.random.default_rng(0), b""
    for width in (200, 400):
        images = [random.integers(0, 255, (150, width, 3), np.uint8) for _ in range(3)]
        content += write(tmp_path / "part.h264", images).read_bytes()
    (tmp_path / "grows.h264").write_bytes(content)
    with pytest.raises(InputError, match=r"grows\.h264: frame \d is \d+ x \d+ pixels, not \d+ x \d+; points"):
        list(track_video(tmp_path / "grows.h264"))


def test_the_command_writes_a_sequence_that_names_its_video(path, tmp_path, capsys):
    out = tmp_path / "tracks.npz"
    words = ["track", str(path), "-o", str(out), "--region", "40,40,80,90", "--points", "40", "--end", "6"]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "6 frames" in printed and f"wrote {out}" in printed
    sequence = read_sequence(out)
    assert sequence.video == path and sequence.image_size == SIZE and sequence.frame_count == 6
    x, y = sequence.tracks[0]  # points begin in the region only
    assert ((x >= 40) & (x <= 120) & (y >= 40) & (y <= 130) | np.isnan(x)).all()
    assert main(["track", str(path), "-o", str(out), "--region", "1,2,3"]) == 2
    assert "is no region; accepted are X,Y,W,H, or X,Y of three or more corners" in capsys.readouterr().err


@pytest.mark.parametrize(("frame", "kept"), [(7, 7), (0, None)])
def test_after_ctrl_c_while_a_frame_is_read_the_command_keeps_what_was_followed(
    path, tmp_path, capsys, monkeypatch, frame, kept
):
    read = Video.read

    def interrupt(video, index):
        if index == frame:
            raise KeyboardInterrupt  # and the video is closed before the tracks are written
        return read(video, index)

    monkeypatch.setattr(Video, "read", interrupt)
    out = tmp_path / "part.npz"
    assert main(["track", str(path), "-o", str(out), "--points", "60"]) == 130
    said = capsys.readouterr().err
    if kept is None:
        assert said == "nrsfm track: stopped\n" and not out.exists()
    else:
        assert f"stopped; what was followed so far is in {out}" in said
        found = read_sequence(out)
        assert (found.frame_count, found.frame_rate) == (kept, 30.0)


def test_without_its_packages_the_sentence_has_the_command_that_installs_them(monkeypatch):
    assert missing_packages() == ""
    monkeypatch.setattr(opencv, "find_spec", lambda name: None if name == "cv2" else name)
    assert missing_packages() == (
        "Following points through a video needs OpenCV, which is not installed here; install it with: "
        "pip install 'nrsfm-gui[track]'"
    )


def test_an_opencv_that_brings_qt_is_named(monkeypatch):
    assert plugin_warning() == ""
    monkeypatch.setattr(cv2, "getBuildInformation", lambda: "  Video I/O:\n  GUI:      QT5\n")
    assert "opencv-python is installed, whose Qt plugins" in plugin_warning()


@pytest.mark.slow
def test_the_bundled_video_is_the_one_that_is_drawn_from():
    assert sample_videos() == ("sheet",)
    drawn = sample_video()
    video = Video(video_path(Path("sample:sheet")))
    assert video.count == drawn.frame_count and video.size == drawn.size
    difference = video.read(0).astype(float) - next(drawn.draw())
    assert np.abs(difference).mean() < 6
    video.close()
    with pytest.raises(InputError, match="there is no video 'sample:none'; there are sample:sheet"):
        video_path(Path("sample:none"))
