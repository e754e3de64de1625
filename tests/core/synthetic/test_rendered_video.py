"""Rendered videos: what is drawn at a pixel is the material point that the truth has there."""

from dataclasses import replace

import numpy as np
import pytest
from rendering import render


@pytest.fixture(scope="module")
def video():
    """Seven frames of a bending sheet whose texture is its place: red is the way to the right, green down."""
    made = render("paper", frames=7, size=(160, 120), noise=0.0, seed=4)
    down, right = np.mgrid[0:1:200j, 0:1:200j]
    texture = np.stack([0.2 + 0.6 * right, 0.2 + 0.6 * down, np.full_like(right, 0.5)], axis=2)
    return replace(made, texture=texture, table=np.zeros((2, 2, 3)))


@pytest.mark.slow
def test_a_pixel_shows_the_material_point_that_is_located_there(video):
    """Shading multiplies all channels: their ratios with the constant one are those of the texture."""
    for frame, picture in enumerate(video.draw()):
        if frame not in (0, 3, 6):
            continue
        x, y = np.meshgrid(np.arange(4, 156, 3.0), np.arange(4, 116, 3.0))
        places = np.stack([x.ravel(), y.ravel()])
        triangles, weights = video.locate(frame, places)
        on = triangles >= 0
        color = picture[places[1].astype(int), places[0].astype(int)].astype(float)
        assert 0.1 < on.mean() < 0.9
        # Inside, where the four parts of a pixel are all of the sheet or all of the table.
        assert (color[on, 2] > 20).mean() > 0.97 and (color[~on, 2] == 0).mean() > 0.97
        inner = np.flatnonzero(on & (color[:, 2] > 60))
        corners = video.faces[triangles[inner]]
        expected = np.einsum("cnk,kn->cn", video.texture_places[:, corners], weights[:, inner])
        shown = (0.5 * color[inner, :2].T / color[inner, 2] - 0.2) / 0.6
        assert np.median(np.abs(shown - expected)) < 0.01
        assert np.percentile(np.abs(shown - expected), 98) < 0.03


@pytest.mark.slow
def test_what_is_projected_is_located_where_it_was(video):
    random = np.random.default_rng(0)
    triangles = random.integers(len(video.faces), size=80)
    weights = random.dirichlet([1, 1, 1], 80).T
    places, visible = video.project(triangles, weights)
    assert 0.5 < visible.mean() <= 1
    for frame in range(video.frame_count):
        seen = np.flatnonzero(visible[frame])
        found, at = video.locate(frame, places[frame][:, seen])
        same = found == triangles[seen]
        assert same.mean() > 0.95
        assert np.abs(at - weights[:, seen])[:, same].max() < 1e-6
