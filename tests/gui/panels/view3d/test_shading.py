"""How points and surfaces are drawn, by pixels of both renderers: light, size, depth, the truth."""

from dataclasses import replace

import numpy as np
import pytest
from PyQt6.QtGui import QColor
from reconstructions import build_shapes

from core.io.writers import SHADING
from nrsfm_gui.model.appearance import Appearance
from nrsfm_gui.model.mesh import vertex_normals
from nrsfm_gui.model.theme import DARK, LIGHT
from nrsfm_gui.panels.view3d.parts import (
    MOST_PIXELS,
    PointCloud,
    RenderRequest,
    TriangleMesh,
    scene_parts,
    without_covered,
)
from nrsfm_gui.scene.orbit_camera import Orbit
from nrsfm_gui.scene.scene import build_scene
from nrsfm_gui.widgets.colors import filled

SIZE = (240, 200)
BLUE = "#4080ff"
FRONT = Orbit(distance=10.0, azimuth=0.0, elevation=0.0)


@pytest.fixture(params=["software", "opengl"])
def renderer(request, make_renderer):
    return make_renderer(request.param)


def picture(renderer, parts, orbit=FRONT, *, background="#000000", opacity=255, smooth=True):
    """Return the colors (H, W, 4) of parts on a background, as red, green, blue and opacity."""
    color = QColor(background)
    color.setAlpha(opacity)
    image = renderer.image(parts, RenderRequest(orbit.projection(*SIZE), color, SIZE, smooth=smooth))
    bits = image.constBits().asstring(image.sizeInBytes())
    return np.frombuffer(bits, dtype=np.uint8).reshape(*SIZE[::-1], 4)[..., [2, 1, 0, 3]].astype(int)


def cloud(*places, color=BLUE, diameter=1.0, least=4.0, shape="sphere"):
    positions = np.array(places, dtype=float)
    return {"points": PointCloud(positions, filled(color, len(positions)), diameter, least, shape)}


def width_of(seen):
    """Return the number of columns that are not background."""
    return int((seen[..., :3].sum(axis=2) > 60).any(axis=0).sum())


def sheet(*, fold=0.0):
    """Return two squares in front of the camera, the right one turned away by an angle."""
    x, z = np.cos(fold), np.sin(fold)
    middle = [[0, -1, 0], [0, 1, 0]]
    points = np.array([[-1, -1, 0], [-1, 1, 0], *middle, *middle, [x, -1, z], [x, 1, z]])
    faces = np.array([[0, 2, 1], [1, 2, 3], [4, 6, 5], [5, 6, 7]])
    return TriangleMesh(points, filled(BLUE, 8), faces, True, vertex_normals(points, faces))


def test_a_sphere_is_brighter_towards_the_light_than_at_its_rim(renderer):
    sphere = picture(renderer, cloud((0, 0, 0), diameter=1.2))
    seen, radius = sphere[..., :3].sum(axis=2), width_of(sphere) / 2
    middle_y, middle_x = np.array(SIZE[::-1]) // 2
    place = round(0.3 * radius)
    toward, away = seen[middle_y - place, middle_x - place], seen[middle_y + place, middle_x + place]
    rim = seen[middle_y + round(0.63 * radius), middle_x + round(0.63 * radius)]
    assert toward > away > rim > 0
    assert rim < 0.75 * away


def test_what_faces_the_viewer_has_its_own_color(renderer):
    seen = picture(renderer, cloud((0, 0, 0), diameter=1.2))
    assert np.abs(seen[SIZE[1] // 2, SIZE[0] // 2, :3] - QColor(BLUE).getRgb()[:3]).max() < 24
    flat = picture(renderer, {"mesh": sheet()})
    assert np.abs(flat[SIZE[1] // 2, SIZE[0] // 2 - 10, :3] - QColor(BLUE).getRgb()[:3]).max() < 6


def test_the_shading_of_spheres_is_that_of_the_formula():
    y, x = np.mgrid[-0.9:0.9:7j, -0.9:0.9:7j]
    inside = np.hypot(x, y) < 1
    factor, added = SHADING.on_sphere(x, y)
    assert SHADING.on_sphere(np.zeros(1), np.zeros(1))[0] == pytest.approx(1.0)
    assert (factor[inside] <= 1).all()
    assert (added >= 0).all()
    normal = np.array([0.6, 0.0, -0.8])
    light = np.array([-0.34, -0.52, -0.78]) / np.sqrt(0.34**2 + 0.52**2 + 0.78**2)
    expected = SHADING.ambient + (1 - SHADING.ambient) * (normal @ light) / -light[2]
    assert SHADING.brightness(normal[None]) == pytest.approx(expected)


def test_nearer_spheres_are_larger_and_far_ones_keep_a_least_size(renderer):
    widths = [width_of(picture(renderer, cloud((0, 0, z), diameter=0.5))) for z in (-5.0, 0.0, 5.0)]
    assert widths[0] > 1.6 * widths[1] > 2.0 * widths[2]
    far = Orbit(distance=4000.0, azimuth=0.0, elevation=0.0)
    assert 5 <= width_of(picture(renderer, cloud((0, 0, 0), least=6.0), far)) <= 8
    assert width_of(picture(renderer, cloud((0, 0, 0), diameter=50.0))) <= MOST_PIXELS + 2


def test_the_nearer_sphere_hides_the_other_whatever_the_order(renderer):
    red = cloud((0.4, 0, -2), color="#ff2020", diameter=1.2)["points"]
    blue = cloud((0, 0, 0), diameter=1.2)["points"]
    for parts in ({"a": red, "b": blue}, {"a": blue, "b": red}):
        seen = picture(renderer, parts)
        where, _ = FRONT.projection(*SIZE).pixels(red.positions)
        x, y = np.round(where[0]).astype(int)
        assert seen[y, x, 0] > seen[y, x, 2] + 80


def test_spheres_that_intersect_are_cut_where_they_meet(make_renderer):
    renderer = make_renderer("opengl")
    a = cloud((-0.25, 0, 0.0), color="#ff2020", diameter=1.2)["points"]
    b = cloud((0.25, 0, 0.0), color="#2020ff", diameter=1.2)["points"]
    seen = picture(renderer, {"a": a, "b": b})
    row = seen[SIZE[1] // 2]
    red, blue = (np.flatnonzero(row[:, one] > row[:, other] + 40) for one, other in ((0, 2), (2, 0)))
    assert np.abs([red.max() - SIZE[0] // 2, blue.min() - SIZE[0] // 2]).max() <= 2  # the plane between them


def test_both_renderers_draw_the_same(make_renderer):
    rng = np.random.default_rng(1)
    parts = {
        "mesh": sheet(fold=0.7),
        **cloud(*rng.uniform(-1.5, 1.5, (25, 3)) - [0, 0, 2.5], diameter=0.4),
        "truth": cloud(*rng.uniform(-1.5, 1.5, (10, 3)) - [0, 0, 2.5], diameter=0.6, shape="ring")["points"],
    }
    orbit = Orbit(distance=10.0, azimuth=20.0, elevation=15.0)
    one, two = (picture(make_renderer(name), parts, orbit) for name in ("software", "opengl"))
    apart = np.abs(one - two)[..., :3].max(axis=2)
    assert (apart > 60).mean() < 0.02
    assert np.abs(one.mean(axis=(0, 1)) - two.mean(axis=(0, 1))).max() < 2.0
    assert (one[..., 2] > 100).mean() > 0.08  # there is something to compare


def test_both_sides_of_a_surface_are_lit_and_a_fold_is_seen(renderer):
    seen = picture(renderer, {"mesh": sheet(fold=0.9)})
    middle, half = SIZE[1] // 2, SIZE[0] // 2
    assert seen[middle, half - 8, 2] > seen[middle, half + 6, 2] + 40
    behind = Orbit(distance=10.0, azimuth=180.0, elevation=0.0)
    back = picture(renderer, {"mesh": sheet()}, behind)[middle, half]
    assert back[2] > 230


def test_a_solid_surface_hides_points_behind_it(renderer):
    red = cloud((0.3, 0.2, 2.0), color="#ff2020", diameter=0.4)
    assert (picture(renderer, red)[..., 0] > 150).any()
    assert not (picture(renderer, {"mesh": sheet()} | red)[..., 0] > 150).any()
    before = cloud((0.3, 0.2, -2.0), color="#ff2020", diameter=0.4)
    assert (picture(renderer, {"mesh": sheet()} | before)[..., 0] > 150).any()


def test_a_picture_with_a_transparent_background_holds_only_what_is_drawn(renderer):
    opaque = picture(renderer, cloud((0, 0, 0)), background="#000000")
    clear = picture(renderer, cloud((0, 0, 0)), background="#ff0000", opacity=0)
    assert clear[2, 2, 3] == 0
    assert clear[SIZE[1] // 2, SIZE[0] // 2, 3] == 255
    assert (clear[..., :3] <= clear[..., 3:]).all()  # colors are multiplied by the opacity
    assert np.abs(clear - opaque)[..., :3].max() <= 2


def test_the_truth_is_gray_and_hollow_beside_the_estimate_and_solid_alone(renderer, known, scene_of):
    for theme in (LIGHT, DARK):
        truth, estimate = (QColor(color).hsvSaturationF() for color in (theme.truth_shape, theme.estimate))
        assert truth < 0.2 < 0.5 < estimate
    both = scene_parts(scene_of(layers={"estimate", "truth"}), theme)
    assert (both["truth"].shape, both["estimate"].shape) == ("ring", "sphere")
    alone = build_scene(known.sequence, build_shapes(known.sequence, None), frame=2)
    assert scene_parts(alone, theme)["truth"].shape == "sphere"
    ring = cloud((0, 0, 0), color=theme.truth_shape, shape="ring")
    seen = picture(renderer, ring, background=theme.panel)[..., :3]
    apart = np.abs(seen - QColor(theme.panel).getRgb()[:3]).max(axis=2)
    assert apart[SIZE[1] // 2, SIZE[0] // 2] == 0
    assert (apart > 60).sum() > 30


def test_the_shape_casts_a_soft_shadow_on_the_floor(renderer, scene_of):
    theme, scene = LIGHT, scene_of(layers={"estimate", "grid"})
    floor = {"floor": scene_parts(scene, theme)["floor"]}
    places, dark = scene.floor.shadow(scene.estimate)
    orbit = Orbit(tuple(scene.floor.center), 5 * scene.floor.radius, 20.0, 40.0, up=tuple(scene.floor.up))
    seen = picture(renderer, floor, orbit, background=theme.panel)[..., :3].sum(axis=2)
    away = np.linalg.norm(places - scene.floor.center, axis=1)
    lit = int(np.argmin(dark + 10 * (away > 0.4 * scene.floor.radius)))
    where, _ = orbit.projection(*SIZE).pixels(places[[int(dark.argmax()), lit]])
    (x, y), (lit_x, lit_y) = np.round(where).astype(int)
    assert seen[y, x] < seen[lit_y, lit_x] - 20
    assert abs(seen[2, 2] - sum(QColor(theme.panel).getRgb()[:3])) <= 3  # it fades out
    assert np.abs(np.diff(seen, axis=1)).max() < 40  # no edge


def test_a_dense_cloud_is_darker_behind_a_step_in_depth_at_rest(make_renderer):
    x, y = np.meshgrid(np.linspace(-2, 2, 70), np.linspace(-2, 2, 70))
    step = np.where(x < 0, -0.3, 0.3)
    parts = cloud(*np.stack([x, y, step], axis=-1).reshape(-1, 3), diameter=0.12, least=2.0)
    renderer, orbit = make_renderer("opengl"), replace(FRONT, orthographic=True)
    resting, moving = (
        picture(renderer, parts, orbit, smooth=smooth)[60:140, :, 2].mean(axis=0) for smooth in (True, False)
    )
    middle = SIZE[0] // 2
    behind, before, far = slice(middle + 1, middle + 3), slice(middle - 8, middle - 3), slice(150, 165)
    assert resting[behind].mean() < 0.85 * moving[behind].mean()
    for place in (before, far):
        assert resting[place].mean() > 0.9 * moving[place].mean()


def test_a_fine_surface_is_drawn_without_its_points_and_edges_but_with_those_beside_it(make_known):
    known = make_known(frames=3, rows=45, columns=45)
    appearance = Appearance(frozenset({"estimate", "edges", "faces"}), mesh_source="tracks")
    scene = build_scene(
        known.sequence, build_shapes(known.sequence, known.result), frame=1, appearance=appearance
    )
    parts = scene_parts(scene, DARK)
    mesh = parts["estimate mesh"]
    assert len(mesh.faces) > 2000
    kept = without_covered(parts)
    assert "estimate edges" not in kept
    beside = np.setdiff1d(np.arange(len(scene.estimate)), mesh.faces)  # those that are not tracked
    np.testing.assert_array_equal(kept["estimate"].positions, scene.estimate[beside])
    torn = replace(mesh, faces=mesh.faces[(mesh.faces != 7).all(axis=1)])
    kept = without_covered(parts | {"estimate mesh": torn})
    np.testing.assert_array_equal(kept["estimate"].rows, np.union1d(beside, [7]))
    coarse = replace(mesh, faces=mesh.faces[:2000])
    assert without_covered(parts | {"estimate mesh": coarse}).keys() == parts.keys()
