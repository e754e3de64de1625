"""The energy of the depth refinement against a slow one written from its formula, and its gradient."""

from dataclasses import replace

import numpy as np
import pytest

from core.depth import (
    DepthLevel,
    DepthPoint,
    DepthProblem,
    LevelEnergy,
    frame_sizes,
    has_parts,
    inflation,
    neighbor_edges,
    rigid_edges,
)
from core.foundation import InputError, rotation_from_vector

SHAPES = [(7, 12), (40, 6)]  # F x P with F below and above 3P: both sides of the determinant
LEVELS = [
    DepthLevel(0.1, 0.15),
    DepthLevel(0.02, 0.03, 0.3, relative=True),
    DepthLevel(0.02, 0.03, weights=(0.0, 0.5, 1.0, 1.0, 4.0)),
    DepthLevel(0.1, 0.15, weights=(0.0, 0.0, 100.0)),
]


def random_energy(frames, points, level, *, affine=False, noise=0.0, hidden=0.2, seed=0, inflates=False):
    """Return the energy of a random sequence about one point, and the unknowns of another one near it."""
    rng = np.random.default_rng(seed)
    R = rotation_from_vector(rng.normal(size=(frames, 3)))
    shapes = rng.normal(size=(3, points)) + 0.1 * rng.normal(size=(frames, 3, points))
    Y = R @ shapes
    if not affine:
        Y[:, 2] += 6.0
    tracks = Y[:, :2].copy() if affine else Y[:, :2] / Y[:, 2:]
    visible = rng.random((frames, points)) >= hidden
    visible[:, 0] = True
    problem = DepthProblem(tracks, visible, affine, noise)
    point = DepthPoint.from_camera_points(problem, Y, R)
    anchored = replace(problem.anchored(point), inflates=inflates)
    energy = LevelEnergy.about(anchored, level, point, neighbors=3)
    x = energy.start(point)
    return energy, x + 0.05 * rng.normal(size=x.shape)


def slow_energy(energy, x):
    """Return the energy, term by term and observation by observation."""
    problem, level, point = energy.problem, energy.level, energy.point(x)
    frames, points = problem.shape
    Y = np.zeros((frames, 3, points))
    for f in range(frames):
        for j in range(points):
            z, (a, b) = point.depths[f, j], point.rays[f, :, j]
            Y[f, :, j] = (a, b, z) if problem.affine else (z * a, z * b, z)
    squares = [
        np.square(problem.tracks[f][:, seen] - problem.tracks[f][:, seen].mean(axis=1, keepdims=True)).ravel()
        for f, seen in enumerate(problem.visible)
    ]
    s = np.sqrt(3.0 * np.concatenate(squares).mean())
    X = np.stack([point.rotations[f].T @ (Y[f] - Y[f].mean(axis=1)[:, None]) / s for f in range(frames)])
    D = (X - X.mean(axis=0)).reshape(frames, -1)
    sigma = np.linalg.svd(D, compute_uv=False)
    total = 0.0
    for k in range(frames):
        value = sigma[k] ** 2 / frames if k < len(sigma) else 0.0
        weight = level.weights[min(k, len(level.weights) - 1)]
        total += frames / 2 * np.log(value + level.eps**2)
        total += frames / 2 * (weight - 1) * np.log(1 + value / level.eps**2)
    edges = energy.edges.T
    reference = problem.edge_reference(energy.edges) if level.relative else np.ones(len(edges))
    sizes = np.ones(frames) if energy.sizes is None else energy.sizes
    for (i, j), r in zip(edges, reference, strict=True):
        lengths = [np.linalg.norm(X[f, :, i] - X[f, :, j]) / sizes[f] for f in range(frames)]
        term = np.log(np.var(lengths) / r + level.edge_eps**2)
        total += level.isometry * frames * points / (2 * len(edges)) * term
    centered = Y - Y.mean(axis=2, keepdims=True)
    extent = np.sqrt(np.mean(centered[:, 2] ** 2) / np.mean(centered[:, :2] ** 2))
    total += 10 * frames * np.log(extent / problem.extent) ** 2
    if problem.noise > 0:
        share = problem.visible.mean()
        price = 6 * frames / (share * (np.sqrt(frames) + np.sqrt(2 * points)) ** 2)
        for f in range(frames):
            for j in range(points):
                if problem.visible[f, j]:
                    left = (point.rays[f, :, j] - problem.tracks[f, :, j]) / problem.noise
                    total += price / 2 * (left @ left)
    return total


@pytest.mark.parametrize("noise", [0.0, 0.01])
@pytest.mark.parametrize(("affine", "inflates"), [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("frames", "points"), SHAPES)
def test_the_energy_is_its_formula_and_the_gradient_that_of_finite_differences(
    frames, points, level, affine, inflates, noise
):
    energy, x = random_energy(frames, points, level, affine=affine, noise=noise, inflates=inflates)
    assert (energy.sizes is not None) == inflates
    value, gradient = energy.value_and_gradient(x)
    assert value == pytest.approx(slow_energy(energy, x), rel=1e-10)
    h = 1e-5
    checked = np.arange(0, len(x), 1 + len(x) // 30)
    numeric = np.full_like(x, np.nan)
    for k in checked:
        ends = [energy.value_and_gradient(x + sign * h * (np.arange(len(x)) == k))[0] for sign in (1, -1)]
        numeric[k] = (ends[0] - ends[1]) / (2 * h)
    depths, turns = frames * points, (points + 3) * frames
    for first, last in ((0, depths), (depths, turns), (turns, len(x))):  # depths, rotation vectors, rays
        block = checked[(first <= checked) & (checked < last)]
        assert len(block)
        np.testing.assert_allclose(
            gradient[block], numeric[block], atol=1e-5 * abs(gradient[first:last]).max()
        )


def test_a_gradient_with_large_rotation_vectors_agrees_with_finite_differences():
    energy, x = random_energy(7, 12, LEVELS[0])
    x[84:105] *= 40.0  # 2 radians
    direction = np.random.default_rng(1).normal(size=x.shape)
    ends = [energy.value_and_gradient(x + step * direction)[0] for step in (1e-6, -1e-6)]
    slope = energy.value_and_gradient(x)[1] @ direction
    assert slope == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)


@pytest.mark.parametrize("affine", [False, True])
def test_the_unknowns_of_a_point_give_it_back(affine):
    energy, x = random_energy(7, 12, LEVELS[0], affine=affine, noise=0.01)
    point = energy.point(x)
    other = energy.point(energy.start(point))
    np.testing.assert_allclose(other.camera_points(), point.camera_points(), atol=1e-12)
    np.testing.assert_allclose(other.rotations, point.rotations, atol=1e-12)


def test_depths_of_points_that_diverge_stay_above_zero_and_what_has_no_energy_has_an_infinite_one():
    energy, x = random_energy(7, 12, LEVELS[0])
    far = x.copy()
    far[:2] = -2000.0, 800.0
    depths = energy.point(far).depths
    assert (depths > 0).all() and np.isfinite(depths).all()
    for bad in (np.nan, 1e4):
        x[3] = bad
        value, gradient = energy.value_and_gradient(x)
        assert value == np.inf and not gradient.any()


@pytest.mark.parametrize("noise", [0.0, 0.01])
@pytest.mark.parametrize(("frames", "points"), [*SHAPES, (103, 5)])  # one run of frames, and three
def test_the_preconditioner_is_symmetric_and_positive_definite(frames, points, noise):
    energy, x = random_energy(frames, points, LEVELS[0], noise=noise)
    M = energy.preconditioner(x)
    first, second = np.random.default_rng(2).normal(size=(2, len(x))).astype(np.float32)
    assert first @ M.apply(first) > 0
    assert first @ M.apply(second) == pytest.approx(second @ M.apply(first), rel=1e-3, abs=1e-3)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("affine", "depth"), [(True, 0.0), (False, 1.0)])
def test_of_flat_shapes_there_is_a_preconditioner_and_of_a_single_point_an_infinite_energy(affine, depth):
    energy, x = random_energy(7, 12, LEVELS[0], affine=affine, noise=0.01)
    flat = replace(energy.point(x), depths=np.full((7, 12), depth))
    M = energy.preconditioner(energy.start(flat))
    first, second = np.random.default_rng(2).normal(size=(2, len(x))).astype(np.float32)
    assert 0 < first @ M.apply(first) < np.inf
    assert first @ M.apply(second) == pytest.approx(second @ M.apply(first), rel=1e-3)
    for rays in (flat.rays, np.zeros_like(flat.rays)):
        value, gradient = energy.value_and_gradient(energy.start(replace(flat, rays=rays)))
        assert value == np.inf and not gradient.any()


def test_where_a_frame_has_diverged_the_variances_are_not_negative():
    energy, x = random_energy(20, 12, LEVELS[1], noise=0.01)
    x[: 12 * 20].reshape(12, 20)[:6, 2] += 25.0
    for variances in energy.conditional_variances(x):
        assert np.isfinite(variances).all() and (variances >= 0).all()


@pytest.mark.parametrize(("affine", "inflates"), [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize("level", [LEVELS[0], LEVELS[2]])
@pytest.mark.parametrize(("frames", "points"), SHAPES)
def test_the_preconditioner_inverts_the_curvature_along_the_depths_of_a_point(
    frames, points, level, affine, inflates
):
    energy, x = random_energy(frames, points, level, affine=affine, inflates=inflates)
    sizes = energy.sizes if inflates else np.ones(frames)
    problem, level, point = energy.problem, energy.level, energy.point(x)
    X, s = problem.shapes(point), problem.unit(point)
    D = (X - X.mean(axis=0)).reshape(frames, -1)
    center = np.eye(frames) - 1.0 / frames
    values, modes = np.linalg.eigh(D @ D.T / frames)
    weights = [level.weights[min(k, len(level.weights) - 1)] for k in range(frames)][::-1]
    W = center @ (modes * (weights / (values + level.eps**2))) @ modes.T @ center
    ray = np.insert(point.rays[:, :, 2], 2, 1.0, axis=1) * point.depths[:, 2, None] / s
    if affine:
        ray = np.tile([0.0, 0.0, problem.size / s], (frames, 1))
    A = np.einsum("fab,fa->fb", point.rotations, ray)
    H = (A @ A.T) * W
    for i, j in energy.edges.T:
        if 2 in (i, j):
            difference = X[:, :, i] - X[:, :, j]
            length = np.linalg.norm(difference, axis=1)
            variance = (length / sizes).var() + level.edge_eps**2
            weight = level.isometry * points / energy.edges.shape[1] / variance
            H += np.diag(weight * ((A * difference).sum(axis=1) / (length * sizes)) ** 2)
    vector = np.zeros(len(x), dtype=np.float32)
    vector[2 * frames : 3 * frames] = np.random.default_rng(3).normal(size=frames)
    solved = np.linalg.solve(H, vector[2 * frames : 3 * frames])
    M = energy.preconditioner(x)
    found = replace(M, motions=np.zeros_like(M.motions)).apply(vector)
    np.testing.assert_allclose(found[2 * frames : 3 * frames], solved, atol=2e-3 * np.abs(solved).max())


@pytest.mark.parametrize(("affine", "inflates"), [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize(("frames", "points"), SHAPES)
def test_the_preconditioner_inverts_the_curvature_along_motions_of_whole_frames(
    frames, points, affine, inflates
):
    energy, x = random_energy(frames, points, LEVELS[0], affine=affine, inflates=inflates)
    x[points * frames : (points + 3) * frames] = 0.0  # where the rotation vectors turn about the rotations
    problem, level, M = energy.problem, energy.level, energy.preconditioner(x)
    sizes = energy.sizes[:, None] if inflates else 1.0

    def shapes_and_lengths(y):
        X = problem.shapes(energy.point(y))
        if not affine:
            X *= np.exp(np.mean(y[: points * frames] - x[: points * frames]))  # in the same unit
        first, second = energy.edges
        return X, np.linalg.norm(X[:, :, first] - X[:, :, second], axis=1) / sizes

    count = len(M.patterns) + 3
    Z = np.zeros((len(x), count, frames))
    for f in range(frames):
        for k, pattern in enumerate(M.patterns):
            Z[np.arange(points) * frames + f, k, f] = pattern[:, f]
        for k in range(3):
            Z[(points + k) * frames + f, count - 3 + k, f] = 1.0
    Z = Z.reshape(len(x), -1)
    X, lengths = shapes_and_lengths(x)
    D = (X - X.mean(axis=0)).reshape(frames, -1)
    center = np.eye(frames) - 1.0 / frames
    W = center @ np.linalg.inv(D @ D.T / frames + level.eps**2 * np.eye(frames)) @ center
    stiffness = level.isometry * points / energy.edges.shape[1] / (lengths.var(axis=0) + level.edge_eps**2)
    ends = [[shapes_and_lengths(x + step * z) for step in (1e-5, -1e-5)] for z in Z.T]
    changes, slopes = (np.stack([(after[k] - before[k]) / 2e-5 for after, before in ends]) for k in range(2))
    of_frame = np.tile(np.arange(frames), count)
    own = changes[np.arange(len(changes)), of_frame].reshape(len(changes), -1)
    H = (own @ own.T) * W[np.ix_(of_frame, of_frame)]
    slopes[-3 * frames :] = 0.0  # rotations keep all lengths
    H += np.einsum("afe,bfe,e->ab", slopes, slopes, stiffness)
    np.testing.assert_allclose(np.linalg.inv(M.motions[0].astype(float)), H, atol=3e-3 * H.max())
    vector = np.random.default_rng(4).normal(size=len(x)).astype(np.float32)
    alone = replace(M, motions=np.zeros_like(M.motions)).apply(vector)
    alone[points * frames : (points + 3) * frames] = 0.0
    expected = alone + Z @ M.motions[0] @ Z.T @ vector
    np.testing.assert_allclose(M.apply(vector), expected, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("count", [5, 300])  # 300 are more than there are modes
def test_weights_of_one_change_no_number(count):
    plain, x = random_energy(7, 12, DepthLevel(0.1, 0.15))
    same = replace(plain, level=replace(plain.level, weights=(1.0,) * count))
    (value, gradient), (other, slope) = (each.value_and_gradient(x) for each in (plain, same))
    assert other == value
    np.testing.assert_array_equal(slope, gradient)


@pytest.mark.parametrize("weights", [(), (-1.0, 1.0), (2.0, 1.0), (0.0,), (1.0, np.inf)])
def test_weights_that_are_not_accepted_are_named(weights):
    with pytest.raises(InputError, match="weights of the modes are"):
        DepthLevel(0.1, 0.15, weights=weights)


def test_neighbors_are_those_of_least_mean_distance():
    rng = np.random.default_rng(3)
    shapes = rng.normal(size=(5, 3, 10))
    distance = np.linalg.norm(shapes[:, :, :, None] - shapes[:, :, None], axis=1).mean(axis=0)
    expected = {
        (min(i, j), max(i, j))
        for i in range(10)
        for j in np.argsort(distance[i] + 99 * (np.arange(10) == i))[:3]
    }
    edges = neighbor_edges(shapes, 3)
    assert {(i, j) for i, j in edges.T.tolist()} == expected
    assert neighbor_edges(shapes, 9).shape == neighbor_edges(shapes, 20).shape == (2, 45)


def test_the_size_of_a_frame_is_what_most_edges_agree_on():
    rng = np.random.default_rng(3)
    sizes = np.exp(0.4 * rng.normal(size=7))
    sizes /= np.exp(np.log(sizes).mean())
    shapes = sizes[:, None, None] * rng.normal(size=(3, 30))
    edges = neighbor_edges(shapes, 4)
    assert inflation(shapes, edges) > 2.0
    shapes[2, :, :4] *= 3.0
    np.testing.assert_allclose(frame_sizes(shapes, edges), sizes, rtol=0.05)
    bending = rng.normal(size=(3, 30)) + 0.2 * rng.normal(size=(7, 3, 30))
    assert inflation(bending, neighbor_edges(bending, 4)) < 0.2


def test_of_two_parts_the_edges_within_each_are_the_rigid_ones():
    rng = np.random.default_rng(3)
    part = np.arange(20) % 2
    mean = rng.normal(size=(3, 20))
    turns = rotation_from_vector(np.linspace(-0.6, 0.6, 9)[:, None] * [0.0, 0.0, 1.0])
    shapes = np.where(part, turns @ mean, mean) + 0.001 * rng.normal(size=(9, 3, 20))
    near, rigid = neighbor_edges(shapes, 14), rigid_edges(shapes, 8, 0.5)
    assert (part[near[0]] != part[near[1]]).any() and (part[rigid[0]] == part[rigid[1]]).all()
    length = np.linalg.norm(shapes[:, :, near[0]] - shapes[:, :, near[1]], axis=1)
    varying = dict(zip(map(tuple, near.T.tolist()), length.var(axis=0) / length.mean(axis=0), strict=True))
    expected = set()
    for point in range(20):
        own = [pair for pair in varying if point in pair]
        expected |= set(sorted(own, key=lambda pair: varying[pair])[:4])
    assert {(i, j) for i, j in rigid.T.tolist()} == expected


@pytest.mark.parametrize("parts", [False, True])
def test_parts_are_seen_where_one_half_of_the_points_moves_against_the_other(simulated, parts):
    problem, point = simulated()
    if parts:
        Y = point.camera_points()
        moved = np.random.default_rng(0).normal(scale=0.1 * np.ptp(Y[:, 2]), size=(len(Y), 3))
        Y[:, :, ::2] += moved[:, :, None]
        problem = replace(problem, tracks=Y[:, :2] / Y[:, 2:])
        point = DepthPoint.from_camera_points(problem, Y, point.rotations)
    assert has_parts(problem.shapes(point), 8) is parts
