"""Small problems with a known origin, for the tests of the solvers."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation
from sharing import called_by_tests

from core import Factors, LowRankProblem, NonRigidProblem
from core.depth import DepthPoint, DepthProblem
from core.problem import Problem


def random_rotations(random: np.random.Generator, frames: int) -> np.ndarray:
    """Rotations about a slowly turning axis."""
    axis = np.array([0.2, 1.0, 0.1]) + 0.1 * random.standard_normal((frames, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    return Rotation.from_rotvec(np.linspace(0.0, 1.5 * np.pi, frames)[:, None] * axis).as_matrix()


@called_by_tests
def simulated(
    frames=10, points=14, weights=(1e-3, 4e-3), *, eta=0.05, noise=2e-3, missing=0.0, rank=2, seed=0
) -> tuple[NonRigidProblem, Factors]:
    """Make `(problem, true factors)`: a rank-K object seen by a moving camera, with noise and gaps."""
    random = np.random.default_rng(seed)
    R = random_rotations(random, frames)
    C = 0.3 * random.standard_normal((rank, 3, points))
    B = np.column_stack((np.ones(frames), 0.3 * random.standard_normal((frames, rank - 1))))
    t = np.column_stack((0.1 * random.standard_normal((frames, 2)), 2 + random.random(frames)))
    true = Factors(B, C, np.einsum("fab,fa->fb", R, t))
    Y = np.einsum("fab,fbp->fap", R, true.shapes()) + t[:, :, None]
    tracks = Y[:, :2] if eta == 1 else Y[:, :2] / Y[:, 2:]
    tracks = tracks + noise * random.standard_normal(tracks.shape)
    visible = random.random((frames, points)) >= missing
    return NonRigidProblem(tracks, visible, R, eta, np.asarray(weights, dtype=float)), true


@called_by_tests
def simulated_low_rank(
    frames=8, points=20, weights=(0.0, 0.0, 0.0, 0.0), *, eta=0.05, noise=1e-3, missing=0.0, seed=0
) -> tuple[LowRankProblem, np.ndarray]:
    """Make `(problem, X)`: a rigid scene in projective cameras, with noise and gaps; X is (F, 3, P)."""
    random = np.random.default_rng(seed)
    R = random_rotations(random, frames)
    t = np.column_stack((0.1 * random.standard_normal((frames, 2)), 3 + random.random(frames)))
    cameras = np.concatenate((R, t[:, :, None]), axis=2)
    U = np.concatenate((0.5 * random.standard_normal((3, points)), np.ones((1, points))))
    X = cameras @ U
    tracks = X[:, :2] / X[:, 2:] + noise * random.standard_normal((frames, 2, points))
    visible = random.random((frames, points)) >= missing
    norm = np.linalg.norm(np.where(visible[:, None], tracks, 0.0))
    return LowRankProblem(tracks / norm, visible, eta, np.asarray(weights, dtype=float)), X


@called_by_tests
def random_factors(problem: Problem, seed: int = 1) -> Factors:
    """Make a random point for a problem."""
    random = np.random.default_rng(seed)
    frames, points = problem.shape
    return Factors(
        random.standard_normal((frames, problem.rank)),
        random.standard_normal((problem.rank, 3, points)),
        random.standard_normal((frames, 3)) * problem.offsets,
    )


@called_by_tests
def object_in_view(frames=12, points=18, *, affine=False, hidden=0.0, turn=1.0, bend=0.3, seed=0):
    """Return the problem, with an anchor, and the right point of an object that bends and turns."""
    rng = np.random.default_rng(seed)
    mean, shape = rng.normal(size=(2, 3, points))
    shapes = mean + bend * np.sin(np.arange(frames) / 2.0)[:, None, None] * shape
    turns = Rotation.from_rotvec(np.linspace([0.0, -turn, 0.0], [0.3 * turn, turn, 0.0], frames)).as_matrix()
    Y = turns @ shapes + [[0.0], [0.0], [8.0]]
    visible = rng.random((frames, points)) >= hidden
    problem = DepthProblem(Y[:, :2] if affine else Y[:, :2] / Y[:, 2:], visible, affine)
    point = DepthPoint.from_camera_points(problem, Y, turns)
    return problem.anchored(point), point
