import numpy as np
import pytest

from core import read_sequence, simulate
from core.cameras import SUSPICIOUS, find_gross_outliers


def moved(tracks, visible, share, seed):
    """Return tracks of which a share of the visible observations is 40 to 200 away from where it was."""
    rng = np.random.default_rng(seed)
    frame, point = np.nonzero(visible)
    some = rng.choice(len(frame), round(share * len(frame)), replace=False)
    frame, point = frame[some], point[some]
    angle, length = rng.uniform(0, 2 * np.pi, len(some)), rng.uniform(40, 200, len(some))
    tracks = np.array(tracks)
    tracks[frame, :, point] += (length * [np.cos(angle), np.sin(angle)]).T
    mask = np.zeros_like(visible)
    mask[frame, point] = True
    return tracks, mask


@pytest.fixture(scope="module")
def scene():
    return simulate("paper", frames=50, points=40, noise=0.5, seed=3)


@pytest.mark.parametrize(("share", "many"), [(0.01, False), (0.1, False), (0.02, True)])
def test_observations_that_were_moved_are_found(scene, share, many):
    if many:  # which are examined part by part
        scene = simulate("paper", frames=12, points=1000, noise=0.5)
    tracks, mask = moved(scene.tracks, scene.visible, share, 1)
    found = find_gross_outliers(tracks, scene.visible)
    assert (found & mask).sum() >= 0.9 * mask.sum()
    assert (found & ~mask).sum() <= 0.001 * scene.visible.sum()


def test_a_point_that_moves_as_those_next_to_it_is_no_outlier_in_few_frames():
    scene = simulate("paper", frames=20, points=40, noise=0.5, seed=3)
    place = scene.tracks[10] - scene.tracks[10, :, 12:13]
    near = np.argsort(np.square(place).sum(axis=0))[:5]
    for points in (near[:1], near):
        tracks = np.array(scene.tracks)
        tracks[10][:, points] += [[150.0], [0.0]]
        found = find_gross_outliers(tracks, scene.visible)
        assert found[10, 12] == (len(points) == 1)


@pytest.mark.parametrize("name", ["balloon", "articulated", "tearing"])
def test_clean_tracks_are_not_suspicious(name):
    scene = simulate(name, frames=30, points=30, noise=0.5)
    found = find_gross_outliers(scene.tracks, scene.visible)
    assert found.sum() < 0.5 * SUSPICIOUS * scene.visible.sum()


def test_clean_tracks_of_real_shapes_are_not_suspicious(data):
    for name in ("pickup", "face"):
        file = data / "challenge_like" / name / "sequence" / "perspective" / "circle.txt"
        sequence = read_sequence(file)
        found = find_gross_outliers(sequence.tracks, sequence.visible)
        assert found.sum() < SUSPICIOUS * sequence.visible.sum()
        tracks, mask = moved(sequence.tracks, sequence.visible, 0.05, 2)
        found = find_gross_outliers(tracks, sequence.visible)
        assert (found & mask).sum() >= 0.95 * mask.sum()


def test_hidden_values_and_the_unit_do_not_matter(scene):
    tracks, _ = moved(scene.tracks, scene.visible, 0.05, 5)
    found = find_gross_outliers(tracks, scene.visible)
    hidden = np.where(scene.visible[:, None], tracks, np.nan)
    assert np.array_equal(find_gross_outliers(hidden, scene.visible), found)
    assert np.array_equal(find_gross_outliers(1e-3 * tracks + 7.0, scene.visible), found)
    assert not (found & ~scene.visible).any()


def test_no_frame_loses_most_of_its_points(scene):
    tracks, visible = np.array(scene.tracks), scene.visible
    tracks[12] = np.random.default_rng(0).uniform(0, 900, tracks[12].shape)
    found = find_gross_outliers(tracks, visible)
    assert found[12].sum() <= 0.5 * visible[12].sum()


@pytest.mark.parametrize("shape", [(3, 2, 5), (5, 2, 1)], ids=["too few", "in one place"])
def test_what_tells_nothing_has_no_outliers(shape):
    tracks = np.broadcast_to(np.random.default_rng(0).normal(size=shape), (*shape[:2], max(shape[2], 5)))
    assert not find_gross_outliers(tracks, np.ones((shape[0], tracks.shape[2]), dtype=bool)).any()
