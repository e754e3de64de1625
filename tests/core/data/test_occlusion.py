"""Blocks that are hidden are neighbors over successive frames."""

from __future__ import annotations

import numpy as np

from core.data import occluded_blocks


def test_a_block_is_the_visible_neighbors_of_a_point_in_successive_frames():
    rng = np.random.default_rng(0)
    positions = rng.normal(size=(40, 3, 24))
    visible = rng.random((40, 24)) < 0.9
    blocks = list(occluded_blocks(positions, visible, (0.25, 0.125), np.random.default_rng(1)))
    assert len(blocks) > 24
    for frames, points in blocks:
        assert 0 <= frames.start and frames.stop <= 40 and frames.stop - frames.start == 10
        middle = frames.start + 5
        assert len(points) == 3 and visible[middle, points].all()
        distance = np.linalg.norm(positions[middle] - positions[middle][:, points[:1]], axis=0)
        farther = np.setdiff1d(np.flatnonzero(visible[middle]), points)
        assert distance[points].max() < distance[farther].min()


def test_blocks_reach_all_points_and_frames():
    visible = np.ones((30, 90), dtype=bool)
    positions = np.zeros((30, 1, 90)) + np.arange(90.0)
    hidden = np.zeros_like(visible)
    for frames, points in occluded_blocks(positions, visible, (0.1, 0.05), np.random.default_rng(0)):
        hidden[frames, points] = True
    assert hidden.any(axis=0).all() and hidden.any(axis=1).all()


def test_a_block_has_at_least_one_frame_and_one_point():
    visible = np.ones((3, 4), dtype=bool)
    frames, points = next(occluded_blocks(np.zeros((3, 2, 4)), visible, (0.1, 0.1), np.random.default_rng(0)))
    assert frames.stop - frames.start == 1 and points.shape == (1,)
