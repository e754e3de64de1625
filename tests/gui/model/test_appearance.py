"""The appearance, what colors stand for, and where their scale ends."""

from dataclasses import replace

import numpy as np
import pytest
from reconstructions import build_shapes

from core import InputError
from nrsfm_gui.model.appearance import COLOR_MAPS, COLORINGS, LAYERS, MESH_MODES, Appearance
from nrsfm_gui.model.theme import DARK, LIGHT
from nrsfm_gui.scene.coloring import coloring
from nrsfm_gui.scene.scene import build_scene
from nrsfm_gui.scene.shapes import Frame
from nrsfm_gui.widgets.colors import color_table, value_colors, value_levels


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"layers": frozenset({"walls"})}, "layer 'walls' is not known; accepted are estimate"),
        ({"color_map": "jet"}, "color_map is 'jet'; accepted are viridis"),
        ({"limits": (float("nan"), 2.0)}, "low end must be finite and below"),
        ({"trail_frames": 0}, "trail_frames is 0; accepted are 1 to"),
        ({"point_size": float("nan")}, "point_size is nan"),
    ],
)
def test_values_that_are_not_accepted_are_named(changes, sentence):
    with pytest.raises(InputError, match=sentence.replace("(", r"\(")):
        Appearance(**changes)


def test_limits_go_with_what_they_belong_to():
    chosen = Appearance(color_by="error", limits=(0.0, 3.0))
    assert chosen.changed(color_map="magma").limits == (0.0, 3.0)
    assert chosen.changed(color_by="depth").limits is None


def test_mesh_modes_are_the_two_layers():
    for mode in MESH_MODES:
        appearance = Appearance().with_mesh_mode(mode)
        assert appearance.mesh_mode == mode
        assert appearance.layers - {"edges", "faces"} == Appearance().layers - {"edges", "faces"}


def test_colors_stand_for_what_a_loop_finds(known, shapes):
    other = shapes.points[5].T + np.array([3.0, 0.0, 4.0])
    mean = [shapes.points[:, :, p].mean(axis=0) for p in range(known.sequence.point_count)]
    for p in (0, 7, 19):
        Q, before = shapes.points[5, :, p], shapes.points[4, :, p]
        expected = {
            "error": np.linalg.norm(Q - known.sequence.truth.points[5, :, p]),
            "depth": (shapes.cameras.R[5] @ Q + shapes.cameras.t[5])[2],
            "movement": np.linalg.norm(Q - before),
            "deviation": np.linalg.norm(Q - mean[p]),
            "index": p + 1,
            "difference": 5.0,
        }
        for key, value in expected.items():
            found = coloring(Frame(shapes, 5), key, track_unit="px", other=other)
            assert found.values[p] == pytest.approx(value, rel=1e-9), key
    assert {"role", "reprojection", "uncertainty", *expected} == set(COLORINGS)
    exact = coloring(Frame(build_shapes(known.sequence, known.result), 5), "depth", track_unit="px")
    seen = known.sequence.rotations[5] @ known.sequence.truth.points[5]
    np.testing.assert_allclose(exact.values, seen[2] + known.sequence.translations[5, 2])
    residuals = coloring(Frame(shapes, 5), "reprojection", track_unit="px")
    np.testing.assert_array_equal(residuals.values, shapes.residuals[5])
    assert residuals.label == "reprojection error (px)"


@pytest.mark.parametrize("key", ["error", "movement", "index"])
def test_a_scale_is_the_same_in_all_frames(known, shapes, key):
    found = [coloring(Frame(shapes, f), key, track_unit="px") for f in range(known.sequence.frame_count)]
    assert len({each.limits for each in found}) == 1
    low, high = found[0].limits
    values = np.stack([each.values for each in found])
    inside = np.nanmean((values >= low) & (values <= high) | np.isnan(values))
    assert low < high
    assert inside > 0.95


def test_what_is_not_known_has_no_color_or_another_one(known, shapes):
    assert np.isnan(coloring(Frame(shapes, 0), "movement", track_unit="px").values).all()
    sequence = replace(known.sequence, truth=None)
    shapes = build_shapes(sequence, known.result)
    assert coloring(Frame(shapes, 3), "error", track_unit="px").label == "reprojection error (px)"
    bare = replace(sequence, rotations=None, translations=None)
    for key in set(COLORINGS) - {"role"}:
        scene = build_scene(bare, build_shapes(bare, None), frame=2, appearance=Appearance(color_by=key))
        assert not scene.colored
        assert scene.color_missing or key == "index"


@pytest.mark.parametrize(("theme", "panel"), [(DARK, 0.008), (LIGHT, 1.0)])
def test_color_maps_grow_steadily_and_stand_out_from_both_panels(theme, panel):
    for name in COLOR_MAPS:
        table = color_table(name)[:, :3] / 255.0
        linear = np.where(table <= 0.04045, table / 12.92, ((table + 0.055) / 1.055) ** 2.4)
        light = linear @ [0.2126, 0.7152, 0.0722]
        # Lightness as the eye has it; each of these maps has a straight line of it.
        lightness = np.where(light > 0.008856, 116 * np.cbrt(light) - 16, 903.3 * light)
        steps = np.diff(lightness[::16])
        assert (steps > 0).all()
        assert steps.max() < 2.5 * steps.min() + 1.0
        nearest = light[0] if theme is DARK else light[-1]
        assert (max(nearest, panel) + 0.05) / (min(nearest, panel) + 0.05) > 1.2


def test_values_outside_the_limits_have_the_color_of_the_ends_and_unknown_ones_their_own():
    values = np.array([-5.0, 0.0, 0.5, 1.0, 9.0, np.nan, np.inf])
    levels = value_levels(values, (0.0, 1.0))
    assert levels.tolist()[:5] == [0, 0, 127, 255, 255]
    colors = value_colors(values, (0.0, 1.0), "viridis", DARK)
    assert "#{:02x}{:02x}{:02x}".format(*colors[5, :3]) == DARK.muted
    assert colors[4].tolist() == color_table("viridis")[255].tolist()


def test_the_layers_of_a_scene_are_those_of_its_appearance(known):
    shapes = build_shapes(known.sequence, known.result)
    scene = build_scene(known.sequence, shapes, frame=2, appearance=Appearance(frozenset(LAYERS)))
    assert scene.layers == frozenset(LAYERS)
    assert scene.path.shape == (known.sequence.frame_count, 3)
    centers = [-R.T @ t for R, t in zip(known.sequence.rotations, known.sequence.translations, strict=True)]
    np.testing.assert_allclose(scene.path, centers, atol=1e-6)
