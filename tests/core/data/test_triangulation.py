"""Triangles between the tracks of a frame, and their edges."""

import numpy as np
import pytest

from core.data import delaunay, edges_of, oriented


def test_delaunay_triangles_hold_no_other_point_in_their_circle():
    rng = np.random.default_rng(1)
    points = rng.uniform(0, 1, (40, 2))
    faces = delaunay(points, longest=np.inf)
    for face in faces:
        a, b, c = points[face]
        M = 2 * np.array([b - a, c - a])
        center = np.linalg.solve(M, [b @ b - a @ a, c @ c - a @ a])
        radius = np.linalg.norm(a - center)
        others = np.delete(np.arange(40), face)
        assert (np.linalg.norm(points[others] - center, axis=1) > radius - 1e-9).all()
    area = sum(abs(np.linalg.det(np.stack([points[f[1]] - points[f[0]], points[f[2]] - points[f[0]]]))) / 2
               for f in faces)  # fmt: skip
    from scipy.spatial import ConvexHull

    assert area == pytest.approx(ConvexHull(points).volume)


def test_long_triangles_do_not_bridge_a_gap():
    grid = np.stack(np.meshgrid(np.arange(5.0), np.arange(5.0)), axis=-1).reshape(-1, 2)
    points = np.concatenate([grid, grid + np.array([30.0, 0.0])])
    faces = delaunay(points + np.random.default_rng(0).normal(0, 0.01, points.shape))
    assert len(faces) >= 64  # and slivers along the border
    assert not ((faces < 25).any(axis=1) & (faces >= 25).any(axis=1)).any()


@pytest.mark.parametrize(
    "points",
    [np.zeros((0, 2)), np.zeros((6, 2)), np.stack([np.arange(6.0)] * 2, axis=1), np.full((6, 2), np.nan)],
)
def test_points_without_triangles_give_none(points):
    assert delaunay(points).shape == (0, 3)


def test_edges_are_those_of_a_loop():
    rng = np.random.default_rng(2)
    faces = rng.permuted(np.tile(np.arange(12), (30, 1)), axis=1)[:, :3]
    expected = sorted({tuple(sorted((int(f[i]), int(f[(i + 1) % 3])))) for f in faces for i in range(3)})
    assert [tuple(pair) for pair in edges_of(faces).tolist()] == expected
    assert edges_of(np.zeros((0, 3), dtype=int)).shape == (0, 2)


def test_the_triangles_of_every_connected_piece_run_the_same_way_round():
    strip = np.array([[0, 1, 2], [1, 2, 3], [3, 2, 4]])
    directed = oriented(np.concatenate([strip, strip + 5]))[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    assert len(np.unique(directed, axis=0)) == len(directed)
