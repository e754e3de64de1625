"""Sequences at the edge: the window shows them, a run ends, and a sentence says what is wrong."""

import numpy as np
import pytest

from core import CameraModel, GroundTruth, Sequence, Settings, simulate

QUICK = Settings(rank=1, starts=1, rotations="tracks", objective="wnn")


def sequence_of(tracks, visible, *, name="hard", truth=None):
    """Return a perspective sequence with the camera of the simulated ones."""
    K = np.array([[1400.0, 0.0, 640.0], [0.0, 1400.0, 480.0], [0.0, 0.0, 1.0]])
    return Sequence(tracks, visible, CameraModel.PERSPECTIVE, name, intrinsics=K, truth=truth)


def once_only():
    """Return tracks of which every frame shows one point, NaN elsewhere: as little as can be opened."""
    frames, points = 6, 6
    tracks = np.full((frames, 2, points), np.nan)
    visible = np.eye(frames, points, dtype=bool)
    tracks[np.arange(frames), :, np.arange(frames)] = np.random.default_rng(0).uniform(300, 700, (frames, 2))
    return sequence_of(tracks, visible, name="one visible point")


def without_a_truth():
    simulated = simulate("paper", frames=8, points=15)
    truth = GroundTruth(np.arange(8), np.full((8, 3, 15), np.nan), 0)
    return sequence_of(simulated.tracks, simulated.visible, name="truth of NaN", truth=truth)


def in_one_place():
    return sequence_of(np.full((5, 2, 8), 500.0), np.ones((5, 8), dtype=bool), name="in one place")


def two_frames():
    return simulate("paper", frames=2, points=15)


HARD = {"one visible point": once_only, "truth of NaN": without_a_truth, "in one place": in_one_place,
        "two frames": two_frames}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("make", HARD.values(), ids=HARD.keys())
def test_a_hard_sequence_is_shown_solved_or_refused_with_a_sentence(qtbot, make_window, make):
    sequence = make()
    window = make_window(sequence, settings=QUICK)
    reported: list[str] = []
    window.session.notifier.failed.connect(reported.append)
    window.parameters_controller.run_from_scratch()
    run = window.session.shown
    assert run is not None
    qtbot.waitUntil(lambda: not run.state.alive and window.run_control.current is None)
    window.display.refresh()
    for frame in range(sequence.frame_count):
        window.session.set_frame(frame)
        window.session.set_point(frame % sequence.point_count)
        window.display.refresh()
        assert not window.scene_view.grab_image().isNull()
    assert not [sentence for sentence in reported if "Error:" in sentence], reported
    kept = run in window.session.runs
    assert kept or reported  # a run that came to nothing is not left without a word
    if kept:
        assert run.message
