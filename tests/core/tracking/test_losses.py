"""Points that are lost, at cuts and in black frames; large pictures; masks; and what is said of it."""

import numpy as np
import pytest
from rendering import write_video

from core import InputError, Sequence, read_sequence
from core.cli import main
from core.tracking import rectangle, track_video, tracker
from core.tracking.tracker import chosen_tracks, coverage_remarks

pytest.importorskip("av", reason="videos need PyAV")
cv2 = pytest.importorskip("cv2", reason="following points needs OpenCV")

SIZE = WIDTH, HEIGHT = 200, 150
MOTION = np.array([1.5, -1.0])  # px per frame


def scene(seed, count, size=SIZE, grain=2.0):
    """Return pictures of a texture that moves. `grain`: px, deviation of what makes the texture smooth."""
    noise = np.random.default_rng(seed).standard_normal((size[1], size[0], 3))
    smooth = cv2.GaussianBlur(noise, (0, 0), grain)
    texture = np.clip(128 + 45 * smooth / smooth.std(), 0, 255).astype(np.uint8)
    for number in range(count):
        shift = np.column_stack([np.eye(2), number * MOTION])
        yield cv2.warpAffine(texture, shift, size, borderMode=cv2.BORDER_REFLECT)


def black(count):
    return count * [np.zeros((HEIGHT, WIDTH, 3), np.uint8)]


def write(path, images, scale=1):
    large = (cv2.resize(each, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC) for each in images)
    return write_video(path, large, crf="12", preset="ultrafast", bf="0")


def followed(path, **options):
    """Return the last step and the sequence."""
    *_, step = track_video(path, points=60, **options)
    return step, step.sequence()


def test_at_a_cut_the_points_end_and_others_begin(tmp_path, capsys):
    path = write(tmp_path / "cut.mp4", [*scene(1, 18), *scene(2, 18)])
    assert main(["track", str(path), "-o", str(tmp_path / "cut.npz"), "--points", "60"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "36 frames" in said and "note: fewer than 4 tracks go on, as at a cut, into frame 19 of the" in said
    )
    visible = read_sequence(tmp_path / "cut.npz").visible
    assert not (visible[17] & visible[18]).any()
    assert visible[:18].sum(axis=1).min() > 15 and visible[18:].sum(axis=1).min() > 15


@pytest.mark.slow
def test_frames_without_points_are_left_out_and_named(tmp_path):
    path = write(tmp_path / "fade.mp4", [*black(2), *scene(1, 18), *black(7), *scene(2, 18), *black(3)])
    step, sequence = followed(path)
    assert sequence.video_frames.tolist() == [*range(2, 20), *range(27, 45)]
    assert step.remarks(sequence)[0] == (
        "12 of 48 frames of the video have fewer than 4 tracks and are left out: 1 to 2, 21 to 27, 46 to 48"
    )
    assert sequence.visible.sum(axis=1).min() > 15
    with pytest.raises(InputError, match=r"black\.mp4: no corners are found where points may begin"):
        next(track_video(write(tmp_path / "black.mp4", black(4)), region=rectangle(20, 20, 99, 99)))


def test_tracks_that_cover_the_video_say_nothing(tmp_path):
    step, sequence = followed(write(tmp_path / "plain.mp4", scene(1, 10)))
    assert sequence.video_frames is None and step.remarks(sequence) == ()


def test_the_tracks_that_are_kept_leave_no_frame_with_few():
    seen = np.zeros((60, 90), dtype=bool)
    seen[:40, :50] = True  # long
    seen[35:60, 50:] = True  # shorter, but alone at the end
    assert chosen_tracks(seen, 100).tolist() == list(range(90))
    chosen = chosen_tracks(seen, 40)
    assert len(chosen) == 40 and (chosen < 50).sum() == 32
    assert seen[:, chosen].sum(axis=1).min() == 8


@pytest.mark.slow
def test_a_large_picture_keeps_as_many_points_as_a_small_one(tmp_path):
    scale = 8
    _, small = followed(write(tmp_path / "small.mp4", scene(1, 3, (480, 270), grain=0.8)))
    _, large = followed(write(tmp_path / "large.mp4", scene(1, 3, (480, 270), grain=0.8), scale))
    assert large.image_size == (3840, 2160)
    assert large.point_count > 0.8 * small.point_count > 30
    moved = large.tracks[-1] - large.tracks[0]
    assert np.abs(np.nanmedian(moved, axis=1) - 2 * scale * MOTION).max() < 1


def test_places_in_a_reduced_picture_are_given_in_the_video(tmp_path, monkeypatch):
    """Those of the mirrored picture are mirrored about its middle, at 239.5."""
    monkeypatch.setattr(tracker, "WORKING", 160)
    pictures = list(scene(1, 2, (480, 270), grain=4))
    first = followed(write(tmp_path / "x.mp4", pictures))[0].tracks[0].T
    mirrored = followed(write(tmp_path / "m.mp4", map(np.fliplr, pictures)))[0].tracks[0].T
    apart = first[:, None] - (mirrored * [-1, 1] + [479, 0])
    near = apart[np.arange(len(apart)), np.linalg.norm(apart, axis=2).argmin(axis=1)]
    same = np.linalg.norm(near, axis=1) < 5
    assert same.sum() > 20 and np.abs(near[same].mean(axis=0)).max() < 0.5


def masks(folder, count):
    """Write masks of an object that is the left half, and absent in frame 5; their value is 1."""
    folder.mkdir()
    for number in range(count):
        mask = np.zeros((HEIGHT, WIDTH), np.uint8)
        mask[:, : WIDTH // 2] = number != 4
        cv2.imwrite(str(folder / f"mask{number + 1}.png"), mask)
    return folder


@pytest.mark.slow
def test_points_are_seen_inside_the_mask_only(tmp_path):
    path = write(tmp_path / "x.mp4", scene(1, 16))
    folder = masks(tmp_path / "masks", 16)
    for mask in (folder, folder / "mask1.png"):
        step, _ = followed(path, mask=mask)
        seen = np.isfinite(step.tracks[:, 0])
        assert np.nanmax(step.tracks[:, 0]) < WIDTH / 2 and seen.sum(axis=1)[5:].min() > 10
        assert seen[4].any() == (mask != folder)
        assert (seen[3] & seen[5]).sum() > 10  # a mask that is absent in one frame ends no point
        leaving = np.nan_to_num(step.tracks[:8, 0]).max(axis=0) > WIDTH / 2 - 2
        assert leaving.any() and not seen[9:, leaving].any()
    refusal = r"masks has 16 masks of 200 x 150 pixels; accepted are 1 or 3, of the size of the video, 200 x"
    with pytest.raises(InputError, match=refusal):
        followed(write(tmp_path / "short.mp4", scene(1, 3)), mask=folder)


def test_the_command_takes_a_mask_and_does_not_write_to_it(tmp_path, capsys):
    path, folder = write(tmp_path / "x.mp4", scene(1, 6)), masks(tmp_path / "masks", 6)
    words = ["track", str(path), "--points", "60", "--mask", str(folder)]
    assert main([*words, "-o", str(tmp_path / "x.npz")]) == 0
    assert np.nanmax(read_sequence(tmp_path / "x.npz").tracks[:, 0]) < WIDTH / 2
    assert (
        "1 of 6 frames of the video have fewer than 4 tracks and are left out: 5" in capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("others", "said"), [("apart", True), ("none", False), ("bending", False), ("short", False)]
)
def test_a_background_is_named_where_it_is_sure(others, said):
    random = np.random.default_rng(0)
    places, time = random.uniform(0, 640, (2, 80)), np.arange(40)[:, None, None]
    tracks = places * (1 + 0.002 * time) + time * np.array([[1.0], [0.5]])
    if others == "apart":
        tracks[:, :, 60:] += 20 * np.sin(0.2 * time + random.uniform(0, 6, (1, 2, 20)))
    elif others == "bending":
        tracks += 15 * np.sin(0.2 * time + places / 100)
    elif others == "short":  # most are seen in too few frames to be compared
        tracks[:, :, 60:] += 20 * np.sin(0.2 * time + random.uniform(0, 6, (1, 2, 20)))
        tracks[5:, :, 24:60] = np.nan
    tracks += 0.2 * random.standard_normal(tracks.shape)
    remarks = coverage_remarks(Sequence(tracks, image_size=(640, 640)), range(40))
    sentence = (
        "60 of 80 tracks move as one flat background; where the object is elsewhere, begin in a "
        "region around it"
    )
    assert remarks == ((sentence,) if said else ())
