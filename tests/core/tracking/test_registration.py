"""Patches that are moved, turned, scaled and dimmed by known amounts are found where they are."""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter, map_coordinates

from core.tracking.registration import WEIGHTS, Sampler, Templates, X, ambiguity, normalized, register

cv2 = pytest.importorskip("cv2", reason="patches are sampled by OpenCV")


@pytest.fixture(scope="module")
def picture():
    noise = np.random.default_rng(3).standard_normal((120, 160))
    smooth = gaussian_filter(noise, 2.0)
    return (128 + 40 * smooth / smooth.std()).astype(np.float32)


CENTERS = np.array([[60.0, 50.0], [90.0, 70.0], [80.0, 40.0]], dtype=np.float32)


def seen_through(picture, linear, shift):
    """Return the picture as it is where p becomes linear (p - c) + c + shift, with c the middle."""
    middle = np.array([80.0, 60.0])
    y, x = np.mgrid[: picture.shape[0], : picture.shape[1]].astype(float)
    back = np.linalg.inv(linear) @ (np.stack([x.ravel(), y.ravel()]) - (middle + shift)[:, None])
    source = back + middle[:, None]
    moved = map_coordinates(picture, [source[1], source[0]], order=3, mode="nearest").reshape(picture.shape)
    places = (linear @ (CENTERS.T - middle[:, None]) + (middle + shift)[:, None]).T
    return moved.astype(np.float32), places


@pytest.mark.parametrize(
    ("linear", "shift"),
    [
        (np.eye(2), (0.7, -0.4)),
        (np.array([[0.9, -0.1], [0.1, 0.95]]), (0.0, 0.5)),
        (np.array([[1.1, 0.08], [0.0, 0.85]]), (0.3, 0.3)),
    ],
)
def test_an_affine_map_is_found_and_its_gain_and_offset_do_not_matter(picture, linear, shift):
    moved, places = seen_through(picture, linear, np.array(shift))
    templates = Templates.at(Sampler(cv2, picture), CENTERS)
    start = np.tile(np.eye(2, dtype=np.float32), (len(CENTERS), 1, 1))
    begin = places.astype(np.float32) + np.float32([0.8, -0.6])
    maps, found, similar = register(templates, Sampler(cv2, 0.6 * moved + 20), start, begin)
    assert np.linalg.norm(found - places, axis=1).max() < 0.05
    assert np.abs(maps - linear).max() < 0.02
    assert similar.min() > 0.99


def test_patches_have_mean_0_and_deviation_1_under_their_weights(picture):
    patches = Templates.at(Sampler(cv2, picture), CENTERS).patches
    assert np.abs(patches @ WEIGHTS).max() < 1e-4
    assert np.abs(patches**2 @ WEIGHTS - 1).max() < 1e-3
    flat, deviation = normalized(np.full((1, len(X)), 7, dtype=np.float32))
    assert np.abs(flat).max() < 1e-3 and deviation[0] < 1e-3


def test_the_uncertainty_is_that_of_registrations_with_noise(picture):
    one = CENTERS[:1]
    templates = Templates.at(Sampler(cv2, picture), one)
    start = np.eye(2, dtype=np.float32)[None]
    random = np.random.default_rng(0)
    found = [
        register(
            templates,
            Sampler(cv2, (picture + random.standard_normal(picture.shape)).astype("f4")),
            start,
            one,
        )
        for _ in range(60)
    ]
    spread = np.linalg.eigvalsh(np.cov(np.concatenate([each[1] for each in found]).T))[1] ** 0.5
    assert 0.7 < spread / templates.uncertainty[0] < 1.4


def test_a_periodic_pattern_is_ambiguous_and_noise_is_not(picture):
    y, x = np.mgrid[:120, :160]
    weave = (128 + 30 * np.sin(2 * np.pi * x / 5) * np.sin(2 * np.pi * y / 5)).astype(np.float32)
    for image, low, high in ((weave, 0.95, 1.01), (picture, -1, 0.85)):
        sampler = Sampler(cv2, image)
        most = ambiguity(Templates.at(sampler, CENTERS), sampler, CENTERS)
        assert (most > low).all() and (most < high).all()


def test_no_patches_are_registered_to_none(picture):
    sampler = Sampler(cv2, picture)
    templates = Templates.at(sampler, CENTERS[:0])
    maps, places, similar = register(templates, sampler, np.zeros((0, 2, 2), np.float32), CENTERS[:0])
    assert maps.shape == (0, 2, 2) and places.shape == (0, 2) and similar.shape == (0,)
    assert ambiguity(templates, sampler, CENTERS[:0]).shape == (0,)
