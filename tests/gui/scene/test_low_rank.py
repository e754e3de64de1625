"""Low-rank problems: their cameras, with and without a metric upgrade, and their numbers."""

from dataclasses import replace

import numpy as np
import pytest

from core import Settings, TruncatedNuclearNorm, iterate, simulate
from core.foundation import rotation_from_vector
from nrsfm_gui.model.run import RunState
from nrsfm_gui.model.session import Session
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.panels.view3d.parts import scene_parts
from nrsfm_gui.scene.cameras import project
from nrsfm_gui.scene.incumbent import incumbent_of, quality
from nrsfm_gui.scene.scene import MOST_CAMERAS, build_scene
from nrsfm_gui.scene.sequence_errors import SceneRequest, make_picture
from nrsfm_gui.scene.shapes import Alignment, build_shapes
from nrsfm_gui.scene.summaries import log_loss, measure
from nrsfm_gui.text.run_numbers import numbers, starts_that_agree
from nrsfm_gui.text.status_text import headline_text

FRAMES, NOISE = 9, 0.3
LOW_RANK = Settings(
    problem="lowrank", rank=4, starts=2, penalty=TruncatedNuclearNorm(mu=1e-3, free=4), eta=1e-4
)


@pytest.fixture(scope="module")
def state(rigid_scene):
    *_, last = iterate(rigid_scene, LOW_RANK)
    return last


@pytest.fixture(scope="module")
def flat(rigid_scene):
    """A solution that cannot be upgraded."""
    *_, last = iterate(rigid_scene, LOW_RANK.with_changes(rank=3))
    return last


def value(rows, label):
    return next(row.value for row in rows if row.label == label)


def test_all_cameras_stand_around_a_scene_that_is_still_and_a_limited_number_of_many(
    rigid_scene, state, flat
):
    shapes = build_shapes(rigid_scene, state, Alignment())
    drawn = build_scene(rigid_scene, shapes, frame=3)
    assert len(drawn.other_cameras) == FRAMES - 1
    turn = np.linspace(-0.6, 0.6, FRAMES)
    true_R = rotation_from_vector(np.stack([0.2 * np.sin(3 * turn), turn, 0.1 * turn], axis=1))
    np.testing.assert_allclose(shapes.cameras.R, true_R, atol=0.02)
    parts = scene_parts(drawn, DARK)
    assert len(parts["other cameras"].positions) == 16 * (FRAMES - 1)
    assert build_scene(rigid_scene, build_shapes(rigid_scene, flat), frame=3).other_cameras == ()
    count = 5 * MOST_CAMERAS
    many = {name: np.repeat(getattr(shapes.cameras, name)[:1], count, axis=0) for name in "RtK"}
    long = replace(shapes, cameras=replace(shapes.cameras, **many))
    assert len(build_scene(rigid_scene, long, frame=0).other_cameras) == MOST_CAMERAS - 1


def test_the_view_that_a_run_ends_with_is_the_one_that_is_shown(rigid_scene, state):
    plain = replace(state, view=None)  # the same point, as it was shown before the end
    requests = [SceneRequest(rigid_scene, each, Alignment()) for each in (plain, state)]
    picture, adjusted = map(make_picture, requests)
    assert state.view is not None
    assert picture.of.shapes_as(SceneRequest(rigid_scene, plain, Alignment()))
    assert not picture.of.shapes_as(requests[1])
    assert adjusted.quality.error < picture.quality.error
    assert adjusted.quality.reprojection < picture.quality.reprojection  # pixels are of the same view
    before, after = picture.quality.figures["projective_rms"], adjusted.quality.figures["projective_rms"]
    assert before == after  # that of what was solved for


def test_without_a_metric_upgrade_the_matrix_is_shown_as_its_cameras_see_it(rigid_scene, flat):
    assert not flat.geometry.figures["metric"]
    shapes = build_shapes(rigid_scene, flat, Alignment())
    assert shapes.truth is None  # coordinates of a camera are not those of the truth
    assert not shapes.alignment.compares
    drawn = build_scene(rigid_scene, shapes, frame=0)
    assert "no metric upgrade" in drawn.caption
    before = build_scene(rigid_scene, build_shapes(rigid_scene, None), frame=0)
    assert drawn.subject != before.subject  # the view fits it
    # The same pictures, by cameras with the K of the views and by the projective ones.
    np.testing.assert_allclose(project(shapes.cameras, shapes.points), shapes.reprojected, rtol=1e-9)
    np.testing.assert_allclose(shapes.cameras.K[0], rigid_scene.intrinsics)
    unknown = replace(rigid_scene, intrinsics=None)
    shapes = build_shapes(unknown, replace(flat, calibration=None))
    np.testing.assert_allclose(project(shapes.cameras, shapes.points), shapes.reprojected, rtol=1e-9)


def test_the_numbers_show_the_result_of_the_metric_upgrade(qapp, rigid_scene, state, flat):
    session = Session()
    session.set_sequence(rigid_scene)
    for last in (state, flat):
        shown = session.add_run(last.settings)
        shown.last, shown.state = last, RunState.FINISHED
        known = quality(build_shapes(rigid_scene, last))
        rows = numbers(shown, incumbent_of(shown, last, known), rigid_scene)
        tip = next(row.tip for row in rows if row.label == "starts that agree").splitlines()
        assert len(tip) == 1 + len(last.starts) and tip[0].startswith("Starts of the bilinear problem")
        assert sorted(line.split(":")[0] for line in tip[1:]) == sorted(start.name for start in last.starts)
        gamma = np.sort(last.best.factors.gamma())[::-1]
        assert value(rows, "singular values") == ", ".join(f"{number:.3g}" for number in gamma)
        if last is state:
            assert value(rows, "metric upgrade") == "K as given"
            # Both numbers above are of the metric view; the projective one is named beside them.
            assert known.reprojection == pytest.approx(known.figures["metric_rms"], rel=1e-6)
            projective = known.figures["projective_rms"]
            assert value(rows, "projective factorization") == measure(projective, rigid_scene.units)
            assert projective < known.reprojection < 3 * NOISE
            assert known.error < 0.02
        else:
            assert value(rows, "metric upgrade") == f"none: {flat.geometry.figures['reason']}"
            assert value(rows, "mean 3-D error") == "needs a metric upgrade"
            reason = "K as given: no metric upgrade: no parallax; K unknown: no metric upgrade: no depth"
            received = replace(known, figures={**known.figures, "reason": reason})
            found = incumbent_of(shown, last, received)
            words = value(numbers(shown, found, rigid_scene), "metric upgrade")
            assert words == "none: K as given: no parallax; K unknown: no depth"
            shown.state = RunState.RUNNING
            assert value(numbers(shown, found, rigid_scene), "metric upgrade") == "none yet"


def test_the_loss_shown_with_the_errors_is_that_of_the_same_point(rigid_scene, state, flat):
    session = Session()
    session.set_sequence(rigid_scene)
    shown = session.add_run(state.settings)
    shown.last, shown.state = state, RunState.RUNNING  # the solver is ahead of what is drawn
    known = make_picture(SceneRequest(rigid_scene, flat, Alignment())).quality
    found = incumbent_of(shown, flat, known)
    loss = flat.best.loss
    assert loss != state.best.loss and found.value == loss
    assert value(numbers(shown, found, rigid_scene), "loss") == f"{loss:.4g} (log10 {log_loss(loss)})"
    headline = headline_text(found, rigid_scene)
    assert headline.small[0].endswith(f"log10 loss {log_loss(loss, digits=3)}")
    assert headline.large[-1] == measure(known.reprojection, rigid_scene.units)


def test_a_continued_run_has_no_starts_that_could_agree():
    sequence = simulate("paper", frames=12, points=20, seed=2)
    settings = Settings(rank=2, rotations="truth", starts=2, objective="wnn")
    *_, last = iterate(sequence, settings)
    assert starts_that_agree(last).split()[1] == "of"
    *_, last = iterate(sequence, settings.with_changes(eta=0.4), start=last)
    assert starts_that_agree(last) == "none: it went on"
