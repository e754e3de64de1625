"""Where nothing gives K the focal length is assumed, and described; a thin ground truth gives an interval."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import core
from core import CameraModel, GroundTruth, InputError, Sequence
from core.cameras import IntrinsicsOrigin, resolve_intrinsics, to_pixels

SIZE = (1280, 960)
QUICK = {"rank": 2, "starts": 1, "rotations": "tracks", "rotation_rank": 1, "objective": "wnn"}


@pytest.fixture(scope="module")
def scene() -> Sequence:
    return core.simulate("balloon", frames=12, points=40, noise=0.3, occlusion=0.0)


def without_camera(scene: Sequence, **changes) -> Sequence:
    return replace(scene, **({"intrinsics": None, "truth": None} | changes))


def flattened(scene: Sequence, thickness: float) -> Sequence:
    """The scene with the points of its ground-truth frame, and their picture, flattened along one axis."""
    frame = scene.truth.reference
    X = np.array(scene.truth.at(frame))
    center = X.mean(axis=1, keepdims=True)
    X = center + np.diag([1.0, 1.0, thickness]) @ (X - center)
    Y = scene.rotations[frame] @ X + scene.translations[frame][:, None]
    tracks = np.array(scene.tracks)
    tracks[frame] = to_pixels((Y[:2] / Y[2])[None], scene.intrinsics)[0]
    tracks[frame] += 0.3 * np.random.default_rng(0).normal(size=tracks[frame].shape)
    truth = GroundTruth(np.array([frame]), X[None], frame)
    return replace(scene, tracks=tracks, truth=truth, intrinsics=None)


@pytest.mark.parametrize(("size", "center"), [(SIZE, (640.0, 480.0)), (SIZE[::-1], (480.0, 640.0))])
def test_without_anything_the_focal_length_is_that_of_a_usual_camera(scene, size, center):
    found = resolve_intrinsics(without_camera(scene, image_size=size), "auto")
    np.testing.assert_allclose(found.K, [[1536.0, 0.0, center[0]], [0.0, 1536.0, center[1]], [0.0, 0.0, 1.0]])
    remark = "focal length unknown: 1536 px assumed = 1.2 x 1280 px"
    assert found.origin == IntrinsicsOrigin("assumed", remark)
    guessed = resolve_intrinsics(without_camera(scene, image_size=None), "auto")
    assert guessed.origin.remark.endswith("guessed from the tracks")


def test_what_is_known_of_the_camera_comes_first(scene):
    assert resolve_intrinsics(scene, "auto").origin == IntrinsicsOrigin("sequence")
    assert resolve_intrinsics(scene, (900.0, 900.0, 1.0, 2.0)).origin.source == "given"
    for known in (replace(scene, intrinsics=None), flattened(scene, 0.05)):
        origin = resolve_intrinsics(known, "auto").origin
        low, high = origin.interval
        assert origin.source == "truth" and low < scene.intrinsics[0, 0] < high
    assert "thin in depth" in origin.remark and f"{low:.0f} and {high:.0f} px" in origin.remark


def test_a_planar_ground_truth_is_not_used_and_that_is_described(scene):
    planar = replace(flattened(scene, 0.0), image_size=SIZE)
    found = resolve_intrinsics(planar, "auto")
    assert found.K[0, 0] == 1536.0
    assert found.origin.remark.startswith("focal length unknown (the points of the ground-truth frame")
    with pytest.raises(InputError, match="planar"):
        resolve_intrinsics(planar, "gt")


def test_tracks_that_are_not_in_pixels_are_not_given_a_focal_length(scene):
    small = without_camera(scene, tracks=scene.tracks / 1000.0 - 0.5)
    with pytest.raises(InputError, match="not in pixels"):
        resolve_intrinsics(small, "auto")


def test_the_camera_model_of_the_settings_overrules_that_of_the_sequence(scene, tmp_path):
    orthogonal = core.reconstruct(scene, **QUICK, camera_model="orthogonal")
    assert orthogonal.camera is CameraModel.ORTHOGONAL
    assert orthogonal.eta == 1.0
    own = replace(scene, camera=CameraModel.ORTHOGONAL)
    same = core.reconstruct(own, **QUICK)
    assert orthogonal.loss == same.loss
    start = core.load_start(orthogonal.save(tmp_path / "result.npz"), scene)
    back = core.reconstruct(scene, start.settings.with_changes(camera_model="perspective"), start=start)
    assert back.camera is CameraModel.PERSPECTIVE
    assert back.eta < 1.0
    again = core.reconstruct(own, start.settings.with_changes(camera_model="perspective"))
    assert back.loss == again.loss


def test_a_result_describes_the_focal_length_that_was_assumed(scene, tmp_path):
    unknown = without_camera(scene, image_size=SIZE)
    result = core.reconstruct(unknown, **QUICK)
    assert result.meta["remarks"][0] == "focal length unknown: 1536 px assumed = 1.2 x 1280 px"
    start = core.load_start(result.save(tmp_path / "result.npz"), unknown)
    assert start.origin.source == "assumed"
    continued = core.reconstruct(unknown, start.settings.with_changes(eta=0.1), start=start)
    assert continued.meta["intrinsics"]["source"] == "assumed"
