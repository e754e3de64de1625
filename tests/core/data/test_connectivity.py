"""What connects points is found from their shapes: limbs of a body, triangles of a sheet."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import numpy as np
import pytest

import core
from core.data import connect, edges_of
from core.foundation import rotation_from_vector

FRAMES = 40


def body(seed: int = 0) -> tuple[np.ndarray, set[tuple[int, int]]]:
    """Return a figure of five sticks that turn about their joints, (F, 3, P), and its limbs.

    Each stick has six points at uneven distances; arms and legs are joined to the trunk's ends.
    """
    random = np.random.default_rng(seed)
    time = np.linspace(0, 2 * np.pi, FRAMES)
    along = np.cumsum(random.uniform(0.8, 1.2, size=6))
    trunk = np.stack(
        [
            0.05 * np.sin(time)[:, None] * along,
            along + 0.0 * time[:, None],
            0.0 * along + 0.0 * time[:, None],
        ],
        1,
    )
    sticks, limbs = [trunk], [(i, i + 1) for i in range(5)]
    for stick, (joint, phase) in enumerate([(0, 0.0), (0, 2.0), (5, 1.0), (5, 4.0)], start=1):
        side = 1.0 if stick % 2 else -1.0
        swing = np.stack(
            [0.4 * np.sin(time + phase), 0.7 * np.sin(2 * time + phase), 0.5 * np.cos(time + phase)], 1
        )
        direction = np.array([side, -0.6 if joint == 0 else 0.6, 0.0])
        place = along - along[0] + 1.0
        turned = np.einsum("fij,j->fi", rotation_from_vector(swing), direction / np.linalg.norm(direction))
        sticks.append(trunk[:, :, joint, None] + turned[:, :, None] * place)
        first = 6 * stick
        limbs += [(joint, first), *((first + i, first + i + 1) for i in range(5))]
    return np.concatenate(sticks, axis=2), set(limbs)


def sheet(seed: int = 3, count: int = 120) -> np.ndarray:
    """Return points of a sheet that bends, (F, 3, P)."""
    random = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(np.arange(12.0), np.arange(10.0)), -1).reshape(-1, 2)[:count]
    u, v = (grid + random.uniform(-0.3, 0.3, size=grid.shape)).T
    bend = 0.25 * np.sin(np.linspace(0, 6, FRAMES))[:, None]  # curvature: a cylinder keeps lengths
    radius = 1.0 / np.where(np.abs(bend) < 1e-3, 1e-3, bend)
    return np.stack([radius * np.sin(u / radius), v + 0.0 * bend, radius * (1.0 - np.cos(u / radius))], 1)


def pairs(edges: np.ndarray) -> set[tuple[int, int]]:
    return {(first, second) for first, second in edges.tolist()}


def test_the_limbs_of_a_body_are_found_and_nothing_across():
    points, limbs = body()
    found = connect(points)
    assert len(found.faces) == 0
    assert pairs(found.edges) == limbs


def test_a_sheet_is_a_surface_of_triangles_that_run_the_same_way_round():
    points = sheet()
    found = connect(points)
    # A disk: V - E + T = 1, every edge has one or two triangles, and two use it in opposite directions.
    assert len(np.unique(found.faces)) == 120
    assert 120 - len(found.edges) + len(found.faces) == 1
    directed = found.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    assert len(np.unique(directed, axis=0)) == len(directed)
    assert np.array_equal(found.edges, edges_of(found.faces))
    longest = np.linalg.norm(points[:, :, found.edges[:, 0]] - points[:, :, found.edges[:, 1]], axis=1).max()
    assert longest < 3.5  # of a grid of step 1


def test_a_closed_surface_is_closed():
    truth = core.simulate("balloon", frames=10, points=80).truth
    count = truth.points.shape[2]
    found = connect(truth.points)
    assert len(found.faces) == 2 * count - 4
    assert len(found.edges) == 3 * count - 6


def test_a_tear_is_not_bridged():
    points = sheet()
    left = np.arange(120) % 12 < 6
    points[:, 0, ~left] += np.linspace(0.0, 12.0, FRAMES)[:, None]
    found = connect(points)
    assert len(found.faces) > 100
    assert not (left[found.faces].any(axis=1) & ~left[found.faces].all(axis=1)).any()


@pytest.mark.parametrize("points", [body()[0], sheet()], ids=["body", "sheet"])
def test_order_motion_size_and_single_wrong_points_change_nothing(points):
    found, random = connect(points), np.random.default_rng(2)
    order = random.permutation(points.shape[2])
    mixed = connect(points[:, :, order])
    assert pairs(np.sort(order[mixed.edges], axis=1)) == pairs(found.edges)
    assert len(mixed.faces) == len(found.faces)
    turns = rotation_from_vector(random.normal(size=(FRAMES, 3)))
    moved = np.exp(random.normal(size=(FRAMES, 1, 1))) * (turns @ points) + random.normal(size=(FRAMES, 3, 1))
    assert np.array_equal(connect(moved).edges, found.edges)
    wrong = points.copy()
    wrong[7, :, 3] += 30.0
    wrong[20, :, 11] = np.nan
    assert np.array_equal(connect(wrong).edges, found.edges)


def test_points_that_are_mostly_unknown_or_too_few_are_not_connected():
    points = sheet()
    points[: FRAMES // 2, :, 5] = np.nan
    found = connect(points)
    assert len(found.faces) > 100 and not (found.edges == 5).any()
    assert connect(points[:, :, :2]).edges.shape == (0, 2)
    assert connect(np.zeros((3, 3, 9))).edges.shape == (0, 2)  # all in one place
    assert connect(np.full((3, 3, 9), np.nan)).faces.shape == (0, 3)


def test_a_cloud_is_no_surface():
    cloud = np.random.default_rng(3).normal(size=(1, 3, 100)) * np.ones((5, 1, 1))
    found = connect(cloud)
    assert len(found.faces) == 0
    assert 99 <= len(found.edges) < 200


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the kernels are of x86-64")
def test_kernels_of_linear_algebra_find_the_same(tmp_path):
    """Lengths of a grid are equal but for rounding: the last bits must not choose."""
    grid = np.stack(np.meshgrid(np.arange(9.0), np.arange(7.0)), -1).reshape(-1, 2)
    time = np.linspace(0.0, 3.0, 8)[:, None]
    u, v = grid.T
    flat = np.stack([u + 0.0 * time, v + 0.0 * time, np.sin(0.3 * u + time)], 1)
    shapes = {"body": body()[0], "sheet": sheet(), "grid": flat}
    np.savez(tmp_path / "shapes.npz", **shapes)
    script = """if True:
        import sys
        import numpy as np
        from core.data import connect
        with np.load(sys.argv[1]) as shapes:
            np.savez(sys.argv[2], **{name: connect(shapes[name]).edges for name in shapes})
    """
    arguments = [sys.executable, "-c", script, tmp_path / "shapes.npz", tmp_path / "found.npz"]
    subprocess.run(arguments, env={**os.environ, "OPENBLAS_CORETYPE": "Prescott"}, check=True)
    with np.load(tmp_path / "found.npz") as other:
        found = {name: connect(each).edges for name, each in shapes.items()}
        assert len(found["grid"]) > 140
        assert all(np.array_equal(found[name], other[name]) for name in found)


def test_what_watches_can_end_the_computation():
    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        connect(sheet(), stop)
