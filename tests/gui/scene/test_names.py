"""What the truth and the points of a sequence are called, wherever they are named."""

from dataclasses import replace

import pytest
from PyQt6.QtCore import Qt
from reconstructions import build_shapes

from nrsfm_gui.panels.points.points_table import PointsModel
from nrsfm_gui.panels.view2d.tracks_dots import described
from nrsfm_gui.scene.frame_analysis import find
from nrsfm_gui.scene.frame_causes import frame_numbers
from nrsfm_gui.scene.scene import build_scene, error_series
from nrsfm_gui.text.run_numbers import point_numbers, selection_title
from nrsfm_gui.text.status_text import hover


@pytest.fixture
def named(known):
    """Return a sequence whose truth is another program's and whose points have names, with its shapes."""
    names = tuple(f"joint {letter}" for letter in "abcdefghijklmnopqrst")
    sequence = replace(known.sequence, truth_name="TAPIP3D", point_names=names)
    return sequence, build_shapes(sequence, known.result)


def test_a_distance_to_another_program_is_not_called_an_error(named):
    sequence, shapes = named
    scene = build_scene(sequence, shapes, frame=4, selected=5, selection=(5,))
    assert error_series(sequence, shapes)[0].name == "distance to TAPIP3D"
    rows = [*point_numbers(scene, 5), *frame_numbers(find(sequence, shapes), 4)]
    labels = [row.label for row in rows]
    assert {"TAPIP3D", "distance to TAPIP3D"} <= set(labels)
    assert "distance to TAPIP3D" in described(scene, 5)
    assert "from TAPIP3D" in scene.caption
    texts = [*labels, *(row.tip for row in rows), described(scene, 5), scene.caption]
    assert not any("ground truth" in text or "3-D error" in text for text in texts)


def test_names_of_points_are_in_the_tips_the_title_and_the_table(named):
    sequence, shapes = named
    scene = build_scene(sequence, shapes, frame=4, selected=5, selection=(5,))
    assert described(scene, 5).startswith("point 6, joint f · ")
    assert hover(scene, 5).startswith("point 6, joint f · frame 5")
    assert selection_title(scene) == "Point 6, joint f, frame 5"
    model = PointsModel()
    model.set_shapes(sequence, shapes)
    assert model.data(model.index(5, 0)) == "6 joint f"
    tip = model.headerData(2, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
    assert "estimate and TAPIP3D" in tip and "{" not in tip
