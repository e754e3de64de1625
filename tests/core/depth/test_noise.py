"""The estimate of the tracks' noise: smooth or not, short or long, complete or half hidden."""

import numpy as np
import pytest

from core import simulate
from core.depth import estimate_noise


def moving_tracks(frames, points, *, smooth=True, rank=5, noise=1.0, hidden=0.0, seed=0):
    """Return tracks of a low rank with noise, and which are visible."""
    rng = np.random.default_rng(seed)
    time = np.linspace(0.0, 2.0 * np.pi, frames)
    if smooth:
        weights = np.sin(np.outer(time, np.arange(1, rank + 1)) / 2 + rng.uniform(0, 6, (2, 1, rank)))
    else:
        weights = rng.normal(size=(2, frames, rank))
    basis = rng.normal(size=(rank, points)) * (100.0 / np.arange(1, rank + 1))[:, None]
    tracks = (weights @ basis).transpose(1, 0, 2) + noise * rng.normal(size=(frames, 2, points))
    visible = rng.random((frames, points)) >= hidden
    visible[:, 0] = True
    return np.where(visible[:, None, :], tracks, np.nan), visible


@pytest.mark.parametrize("hidden", [0.0, 0.5])
@pytest.mark.parametrize("smooth", [True, False])
@pytest.mark.parametrize(("frames", "points"), [(20, 150), (100, 40)])
def test_the_noise_of_a_low_rank_motion_is_found(frames, points, smooth, hidden):
    tracks, visible = moving_tracks(frames, points, smooth=smooth, hidden=hidden)
    assert 0.8 < estimate_noise(tracks, visible) < (1.3 if hidden < 0.5 else 1.7)


def test_the_noise_of_a_smooth_motion_of_full_rank_is_found():
    tracks, visible = moving_tracks(200, 24, rank=23, noise=0.5)
    assert 0.4 < estimate_noise(tracks, visible) < 0.6


def test_the_estimate_has_the_units_of_the_tracks_and_is_0_of_too_few():
    tracks, visible = moving_tracks(50, 40, smooth=False)
    estimates = [estimate_noise(scale * tracks, visible) / scale for scale in (1.0, 1e-3)]
    assert estimates[0] == pytest.approx(estimates[1], rel=1e-6)
    assert estimate_noise(tracks[:2, :, :4], np.ones((2, 4), dtype=bool)) == 0.0


def test_the_estimate_of_few_frames_is_at_most_a_hundredth_of_the_size_of_the_tracks():
    tracks, visible = moving_tracks(6, 40, smooth=False, rank=9)
    away = tracks - tracks.mean(axis=2, keepdims=True)
    size = np.sqrt(np.square(away).sum(axis=1).mean())
    assert 0.5 < estimate_noise(tracks, visible) <= 0.01 * size * (1 + 1e-9)


@pytest.mark.parametrize("kind", ["articulated", "balloon", "tearing"])
@pytest.mark.parametrize("noise", [0.3, 2.0])
def test_the_noise_of_simulated_tracks_is_found(kind, noise):
    scene = simulate(kind, frames=60, points=50, noise=noise)
    assert 0.8 < estimate_noise(scene.tracks, scene.visible) / noise < 1.3
