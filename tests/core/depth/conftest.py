"""What the tests of the depth refinement share."""

import numpy as np
import pytest

from core import CameraModel, simulate
from core.cameras import calibrate
from core.depth import DepthPoint, DepthProblem
from core.foundation import procrustes


@pytest.fixture(scope="session")
def error():
    """Return the mean distance of two points' shapes after a similarity for each frame, over their size."""

    def measure(problem, point, truth):
        source, target = problem.shapes(point), problem.shapes(truth)
        apart = np.linalg.norm(procrustes(source, target).apply(source) - target, axis=1)
        return float(apart.mean() / np.linalg.norm(target, axis=1).mean())

    return measure


@pytest.fixture(scope="session")
def simulated():
    """Return the problem of a simulated sequence and its true point."""

    def make(kind="paper", *, affine=False, frames=24, points=60, occlusion=0.0, noise=0.1):
        camera = CameraModel.ORTHOGONAL if affine else CameraModel.PERSPECTIVE
        scene = simulate(kind, camera=camera, frames=frames, points=points, noise=noise, occlusion=occlusion)
        Y = scene.rotations @ scene.truth.points + scene.translations[:, :, None]
        tracks = scene.tracks if affine else calibrate(scene.observations, scene.intrinsics, scene.camera)
        problem = DepthProblem(tracks, scene.visible, affine)
        return problem, DepthPoint.from_camera_points(problem, Y, scene.rotations)

    return make
