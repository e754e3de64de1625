"""Standard deviations of the points in the coordinates of the scene, as colors, outlines and numbers."""

from dataclasses import replace

import numpy as np
import pytest
from reconstructions import build_shapes

from core.depth import DepthEnd, DepthPoint, DepthStep
from core.evaluation import PER_FRAME, Alignment, Kind, Mirror
from nrsfm_gui.model.appearance import DEFAULT_LAYERS, Appearance
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.panels.view3d.parts import MOST_HALOS, Ellipsoids, scene_parts
from nrsfm_gui.scene.incumbent import quality
from nrsfm_gui.scene.orbit_camera import Orbit
from nrsfm_gui.scene.scene import build_scene, coloring, error_series
from nrsfm_gui.scene.shapes import BILINEAR, FURTHER_END, NO_STD, NOT_REFINED, UNDER_WAY, Frame, why_no_std
from nrsfm_gui.scene.summaries import percent_of
from nrsfm_gui.text.run_numbers import point_numbers, selection_numbers

HALOS = Appearance(DEFAULT_LAYERS | {"halos"})


@pytest.fixture
def known(known):
    return with_std(known)


@pytest.fixture
def shapes(known):
    return build_shapes(known.sequence, known.result)


def with_std(known):
    """Return a case whose result has standard deviations that differ between all axes, frames and points."""
    frames, points = known.result.visible.shape
    std = 1e-3 * np.random.default_rng(5).uniform(0.2, 2.0, (frames, 3, points))
    return replace(known, result=replace(known.result, std=std))


@pytest.mark.parametrize("alignment", [PER_FRAME, Alignment(Kind.SEQUENCE, Mirror.ON)])
@pytest.mark.parametrize("affine", [False, True])
def test_they_follow_the_points_as_an_error_along_an_axis_of_the_camera_does(make_known, alignment, affine):
    known = with_std(make_known(affine=affine))
    result = known.result
    shapes = build_shapes(known.sequence, result, alignment)
    for axis in range(3):
        step = np.zeros_like(result.std)
        step[:, axis] = result.std[:, axis]
        moved = result.points + np.swapaxes(result.rotations, 1, 2) @ step
        drawn = shapes.similarity.apply(moved) - shapes.points  # in the scene, along the axis of its camera
        np.testing.assert_allclose(np.linalg.norm(drawn, axis=1), shapes.std[:, axis], rtol=1e-9)
        along = shapes.cameras.R @ drawn
        np.testing.assert_allclose(np.abs(along[:, axis]), shapes.std[:, axis], rtol=1e-9)
    np.testing.assert_allclose(shapes.uncertainty, np.sqrt((shapes.std**2).sum(axis=1)))


def test_those_of_the_coordinates_are_those_of_samples(shapes):
    found = shapes.std_of_coordinates()
    generator = np.random.default_rng(1)
    drawn = generator.standard_normal((200_000, 3)) * shapes.std[2, :, 7]
    world = drawn @ shapes.cameras.R[2]
    np.testing.assert_allclose(found[2, :, 7], world.std(axis=0), rtol=0.02)
    np.testing.assert_allclose(shapes.std_of_coordinates(7), found[:, :, 7])


def test_points_are_colored_by_them(shapes):
    found = coloring(Frame(shapes, 3), "uncertainty", track_unit="px")
    np.testing.assert_allclose(found.values, np.linalg.norm(shapes.std[3], axis=0))
    assert found.label == "uncertainty, 1 std (mm)"
    assert found.limits == coloring(Frame(shapes, 8), "uncertainty", track_unit="px").limits


def test_without_a_truth_the_timeline_shows_them_first_then_the_reprojection(known):
    bare = replace(known.sequence, truth=None)
    shapes = build_shapes(bare, known.result)
    found, second, *_ = error_series(bare, shapes)
    assert (found.name, found.size) == ("uncertainty", shapes.size)
    np.testing.assert_allclose(found.per_point, shapes.uncertainty)
    assert second.name == "reprojection error"
    assert error_series(known.sequence, build_shapes(known.sequence, known.result))[0].name == "3-D error"


def test_reprojection_errors_of_rounding_count_as_none_and_color_nothing(known):
    result = replace(known.result, std=None)
    reprojected = build_shapes(known.sequence, result).reprojected
    for off, exact in ((9e-7, True), (2e-6, False)):
        tracks = reprojected + np.array([off, 0.0])[:, None]
        bare = replace(known.sequence, truth=None, tracks=tracks)
        shapes = build_shapes(bare, result)
        assert error_series(bare, shapes)[0].zero is exact and (quality(shapes).reprojection == 0) is exact
        found = coloring(Frame(shapes, 3), "error", track_unit="px")
        assert (found.values is None) is exact and ("0 in all frames" in found.missing) is exact


def test_where_there_are_none_the_reason_is_shown(known, make_iterate):
    shapes = build_shapes(known.sequence, replace(known.result, std=None))
    assert coloring(Frame(shapes, 3), "uncertainty", track_unit="px").missing == NOT_REFINED
    scene = build_scene(known.sequence, shapes, frame=3, appearance=HALOS)
    assert scene.color_missing == NOT_REFINED and "halos" not in scene_parts(scene, DARK)
    assert not build_scene(known.sequence, shapes, frame=3).color_missing
    nothing = build_shapes(known.sequence, None)
    assert "run the solver" in coloring(Frame(nothing, 3), "uncertainty", track_unit="px").missing
    end = make_iterate(known, noise=0.1)
    assert why_no_std(replace(end, settings=replace(end.settings, objective="wnn"))) == NOT_REFINED
    assert why_no_std(replace(end, settings=replace(end.settings, objective="depths"))) == BILINEAR
    assert why_no_std(replace(end, record=replace(end.record, energy=-1.0))) == NO_STD
    point = DepthPoint(np.eye(3)[None], np.ones((1, 4)), np.ones((1, 2, 4)), affine=False)
    ends = (DepthEnd("a", point, -2.0, -2.0), DepthEnd("b", point, -1.9, -2.0))
    lowest = DepthStep(point, -3.0, -3.0, "depth, finest", 1.0, finished=True, ends=ends, coarser=point)
    further = replace(lowest, best_energy=ends[1].energy)
    for step, reason in ((lowest, NO_STD), (further, FURTHER_END)):
        refined = replace(end, record=replace(end.record, energy=-3.0), depth=step)
        assert why_no_std(refined) == reason
    depths = replace(end.settings, objective="depths")
    assert why_no_std(replace(end, status=type(end.status).RUNNING, settings=depths)) == UNDER_WAY


def test_an_outline_is_what_projections_of_the_ellipsoid_reach(known, shapes):
    scene = build_scene(known.sequence, shapes, frame=3, appearance=HALOS)
    halos = scene_parts(scene, DARK)["halos"]
    assert isinstance(halos, Ellipsoids) and len(halos.positions) == known.sequence.point_count
    sphere = np.random.default_rng(2).standard_normal((20_000, 3))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    for orthographic in (True, False):
        projection = Orbit((0.0, 0.0, 0.0), 400.0, 30.0, 20.0, orthographic).projection(600, 400)
        outlines = halos.outlines(projection)
        count = len(halos.positions)
        rims = outlines.positions[count:].reshape(-1, count, 3)
        for p in (0, 9):
            center = projection.pixels(halos.positions[p][None])[0]
            reached = projection.pixels(halos.positions[p] + sphere @ halos.axes[p])[0] - center
            drawn = projection.pixels(rims[:, p])[0] - center
            np.testing.assert_allclose(drawn.max(axis=0), reached.max(axis=0), rtol=0.03)
            radii = (np.linalg.norm(offsets, axis=1).max() for offsets in (drawn, reached))
            np.testing.assert_allclose(*radii, rtol=0.03)
        assert outlines.colors[:count, 3].min() > outlines.colors[count:, 3].max() > 0


def test_of_many_points_only_the_selected_ones_have_an_outline(make_known):
    known = with_std(make_known(frames=4, rows=21, columns=25))
    assert known.sequence.point_count > MOST_HALOS
    shapes = build_shapes(known.sequence, known.result)
    scene = build_scene(known.sequence, shapes, frame=1, appearance=HALOS)
    assert "halos" not in scene_parts(scene, DARK)
    scene = replace(scene, selection=(4, 9), hidden=frozenset({9}))
    np.testing.assert_array_equal(scene_parts(scene, DARK)["halos"].positions, scene.estimate[[4]])


def test_an_axis_without_uncertainty_is_drawn_without_warnings(known):
    std = np.array(known.result.std)
    std[:, 2] = std[:, :, 4] = 0.0
    std[:, :, 5] = np.nan
    shapes = build_shapes(known.sequence, replace(known.result, std=std))
    scene = build_scene(known.sequence, shapes, frame=3, appearance=HALOS)
    outlines = scene_parts(scene, DARK)["halos"].outlines(Orbit().projection(300, 200))
    assert np.isfinite(outlines.positions).all()


def test_numbers_have_them(known, shapes):
    scene = build_scene(known.sequence, shapes, frame=3, selected=6, selection=(6, 7))
    rows = [(row.label, row.value) for row in point_numbers(scene, 6)]
    length, depth = np.linalg.norm(shapes.std[3, :, 6]), shapes.std[3, 2, 6]
    assert ("uncertainty", f"± {length:.3f} mm · {percent_of(length, shapes.size)}") in rows
    assert rows[-1] == ("uncertainty in depth", f"± {depth:.3f} mm")
    assert {"mean uncertainty", "worst uncertainty"} <= {row.label for row in selection_numbers(scene)}
    assert quality(shapes).uncertainty == pytest.approx(shapes.uncertainty.mean())
    plain = build_shapes(known.sequence, replace(known.result, std=None))
    assert quality(plain).uncertainty is None
