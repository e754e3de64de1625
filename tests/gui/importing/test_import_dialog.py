"""The import dialog: what it shows of a file, what can be changed, and what it gives back."""

import json
import pickle
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hands import button_of, choose, type_into
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QComboBox, QLabel, QLineEdit, QSlider

from core import CameraModel, Settings, read_sequence, simulate, write_tracks
from core.io.readers import ArrayEntry, inspect_file
from nrsfm_gui.importing.forms import ESTIMATE, KNOWN, NO_COLUMN, ORTHOGONAL, UNKNOWN, ArraysTable
from nrsfm_gui.importing.import_dialog import LEFT, ImportDialog
from nrsfm_gui.model.app_store import StoredImport
from nrsfm_gui.model.theme import DARK, LIGHT
from nrsfm_gui.widgets.labels import tip_as_text
from nrsfm_gui.widgets.style import palette


@pytest.fixture(scope="module")
def tracks():
    """Return pixels `xy` (12, 20, 2) and `visible` (12, 20), of which a sixth is hidden."""
    made = simulate("paper", frames=12, points=20, noise=0.3, seed=2)
    visible = np.random.default_rng(0).uniform(size=(12, 20)) > 1 / 6
    visible[:2] = True
    return SimpleNamespace(xy=made.tracks.transpose(0, 2, 1), visible=visible)


@pytest.fixture
def write(tmp_path):
    """Write arrays to an npz file."""

    def write_npz(name="video.npz", **arrays):
        np.savez(tmp_path / name, **arrays)
        return tmp_path / name

    return write_npz


@pytest.fixture
def make_dialog(qtbot, show):
    """Make a dialog that shows a file."""
    made: list[ImportDialog] = []

    def make(path, **reading):
        dialog = ImportDialog()
        made.append(dialog)
        with qtbot.waitSignal(dialog.ready):
            dialog.set_contents(inspect_file(path, **reading), StoredImport(reading))
        return show(dialog)

    yield make
    for dialog in made:
        dialog.shut_down()


def settled(qtbot, dialog):
    qtbot.waitUntil(lambda: not dialog._jobs)
    QTest.qWait(1)


def summary(dialog):
    return next(
        label.text()
        for label in dialog.findChildren(QLabel)
        if label.accessibleName() == "What was understood"
    )


def imported(qtbot, dialog):
    with qtbot.waitSignal(dialog.imported) as signal:
        qtbot.mouseClick(button_of(dialog, "Import"), Qt.MouseButton.LeftButton)
    sequence, how = signal.args
    return SimpleNamespace(sequence=sequence, reading=how.reading, how=how)


@pytest.fixture
def plain(write, tracks):
    """Return a file whose arrays have plain names."""
    return write(tracks=tracks.xy.astype(np.float32), visibility=tracks.visible)


def test_a_file_is_stated_in_words_and_all_that_can_be_changed_is_named_and_reached_by_tab(
    make_dialog, plain, tracks
):
    dialog = make_dialog(plain)
    text = summary(dialog)
    assert text.startswith(f"12 frames of 20 points, {100 * tracks.visible.mean():.0f} % seen\n")
    low, high = tracks.xy[tracks.visible].min(axis=0), tracks.xy[tracks.visible].max(axis=0)
    for number in (*low, *high):
        assert f"{number:.1f}".removesuffix(".0") in text
    assert "px" in text
    kinds = QComboBox, QLineEdit, QSlider
    editors = [each for kind in kinds for each in dialog.findChildren(kind) if each.isVisible()]
    assert len(editors) >= 5
    for editor in editors:
        assert editor.accessibleName(), editor
        assert editor.toolTip() or editor.parentWidget().toolTip(), editor.accessibleName()
        assert editor.focusPolicy() & Qt.FocusPolicy.TabFocus
    least = dialog.minimumSizeHint()
    assert least.width() <= 1000 and least.height() <= 620  # a small screen


def test_every_array_has_a_row_with_its_size_its_type_and_what_it_is_read_as(make_dialog, write, tracks):
    K = np.array([[900.0, 0, 640], [0, 900.0, 480], [0, 0, 1]])
    dialog = make_dialog(write(tracks=tracks.xy, visibility=tracks.visible, K=K))
    table = dialog._arrays
    rows = {
        table.item(row, 0).text(): (table.item(row, 1).text(), table.item(row, 2).text())
        for row in range(table.rowCount())
    }
    assert rows["tracks"] == ("12 × 20 × 2", "float64") and rows["visibility"] == ("12 × 20", "bool")
    assert table.choices["tracks"].key == "tracks"
    assert table.choices["visibility"].key == "visible"
    assert table.choices["K"].key == "intrinsics"
    assert dialog._camera.isHidden()  # the file answers
    assert "focal length 900 px" in dialog._known_camera.text()


def test_a_long_size_or_type_leaves_room_for_what_the_array_is_read_as(show):
    size, kind = "more than a file of this size may need, and not read", "[('x', '<f8'), ('y', '<f8')]"
    table = ArraysTable()
    table.set_arrays([ArrayEntry("P", size, kind), ArrayEntry("U", "4 x 6", "float64")], {})
    show(table, LEFT, 200)
    viewport = table.viewport()
    choice = table.choices["P"]
    assert choice.mapTo(viewport, choice.rect().topRight()).x() < viewport.width()
    for column, text in ((1, size), (2, kind)):
        assert table.item(0, column).text().startswith(text[:12])
        assert tip_as_text(table.item(0, column).toolTip()) == text
    assert table.item(1, 1).text() == "4 × 6"


def test_another_meaning_of_the_mask_is_read_in_a_job_and_drawn(qtbot, make_dialog, plain, tracks):
    dialog = make_dialog(plain)
    choose(dialog._arrays.choices["visibility"], "hidden")
    assert not button_of(dialog, "Import").isEnabled()  # until it is read
    settled(qtbot, dialog)
    assert dialog._problem.text() == "" or "no visible point" in dialog._problem.text()
    choose(dialog._arrays.choices["visibility"], "")
    settled(qtbot, dialog)
    assert "100 % seen" in summary(dialog)
    assert dialog.reading["visible"] == "none"
    assert len(dialog._picture.view._dots.hidden.positions) == 0
    qtbot.mouseClick(button_of(dialog, "Guess again"), Qt.MouseButton.LeftButton)
    settled(qtbot, dialog)
    assert dialog.reading == {} and "100 % seen" not in summary(dialog)
    assert not button_of(dialog, "Guess again").isEnabled()


def test_axes_in_another_order_are_read_after_a_choice(qtbot, make_dialog, write, tracks):
    dialog = make_dialog(write(data=tracks.xy.swapaxes(0, 1), seen=tracks.visible.T))
    if dialog._problem.text():
        choose(dialog._arrays.choices["data"], "tracks")
        settled(qtbot, dialog)
    choose(dialog._form.order, "ntxy")
    settled(qtbot, dialog)
    assert dialog._problem.text() == ""
    assert summary(dialog).startswith("12 frames of 20 points")
    choose(dialog._form.axes, "yx")
    settled(qtbot, dialog)
    found = imported(qtbot, dialog)
    again = read_sequence(found.sequence.source, **found.reading)
    assert again.content == found.sequence.content
    np.testing.assert_allclose(again.tracks[0, ::-1].T, tracks.xy[0], rtol=1e-6)


def test_scores_count_from_one_half_or_from_what_is_typed_after_a_rest(qtbot, make_dialog, write, tracks):
    dialog = make_dialog(write(tracks=tracks.xy, unnamed=np.where(tracks.visible, 0.9, 0.3)), visible="none")
    choose(dialog._arrays.choices["unnamed"], "visible")
    settled(qtbot, dialog)
    threshold = dialog._form.threshold
    assert dialog.reading == {"visible": "unnamed", "threshold": "0.5"} and threshold.text() == "0.5"
    np.testing.assert_array_equal(dialog._inspected.contents.sequence.visible, tracks.visible)
    type_into(threshold, "0.2")
    qtbot.waitUntil(lambda: dialog.reading.get("threshold") == "0.2")
    settled(qtbot, dialog)
    assert "100 % seen" in summary(dialog)
    type_into(threshold, "half")
    qtbot.waitUntil(lambda: dialog._form.rows["threshold"].note.text() == "'half' is not a number.")


def test_the_size_of_the_picture_is_drawn_and_the_camera_follows_it(qtbot, make_dialog, plain):
    dialog = make_dialog(plain)
    assert "(guessed)" in dialog._camera.rows["camera"].note.text()
    width, height = dialog._form.size_field.first, dialog._form.size_field.second
    qtbot.keyClicks(width, "1920")
    qtbot.keyClicks(height, "1080")
    qtbot.waitUntil(lambda: dialog.reading.get("size") == "1920x1080")
    settled(qtbot, dialog)
    assert dialog._inspected.contents.sequence.image_size == (1920, 1080)
    assert "1.2 × 1920 = 2304 px is assumed" in dialog._camera.rows["camera"].note.text()
    assert "(guessed)" not in dialog._camera.rows["camera"].note.text()
    shown = dialog._picture.view.range_shown
    assert shown.left() < 0 and shown.right() > 1919 and shown.bottom() > 1079


@pytest.mark.parametrize(
    ("kind", "answer", "note"),
    [
        (UNKNOWN, ("auto", "auto"), "1.2 × 1280 = 1536 px is assumed"),
        (ESTIMATE, ("estimate", "auto"), "takes twice as long"),
        (ORTHOGONAL, ("auto", "orthogonal"), "motion capture"),
        (KNOWN, ((900.0, 900.0, 640.0, 480.0), "auto"), ""),
    ],
)
def test_the_answer_about_the_camera_is_for_the_runs_and_is_shown_again(
    qtbot, make_dialog, plain, kind, answer, note
):
    dialog = make_dialog(plain, size="1280x960")
    assert dialog._camera.kind.key == UNKNOWN
    choose(dialog._camera.kind, kind)
    if kind == KNOWN:
        assert dialog._camera.focal.focal_length() == pytest.approx(1536)
        dialog._camera.focal.set_focal_length(900)
        dialog._camera.focal.edited.emit()
    assert note in dialog._camera.rows["camera"].note.text()
    found = imported(qtbot, dialog)
    assert found.how == StoredImport({"size": "1280x960"}, *answer)
    assert found.sequence.camera is CameraModel.PERSPECTIVE and found.sequence.intrinsics is None
    intrinsics, camera_model = answer
    settings = Settings().with_changes(camera_model=camera_model, intrinsics=intrinsics)
    assert (settings.camera_of(CameraModel.PERSPECTIVE).value == ORTHOGONAL) == (kind == ORTHOGONAL)
    with qtbot.waitSignal(dialog.ready):
        dialog.set_contents(dialog._inspected.contents, replace(found.how, reading={}))
    assert dialog._camera.kind.key == kind


def test_a_focal_length_that_is_refused_cannot_be_imported(make_dialog, plain):
    dialog = make_dialog(plain)
    choose(dialog._camera.kind, KNOWN)
    field = dialog._camera.focal.findChild(QLineEdit, "focal length")
    type_into(field, "-3")
    assert "above 0" in dialog._camera.rows["focal"].note.text()
    assert not button_of(dialog, "Import").isEnabled()
    type_into(field, "700")
    assert button_of(dialog, "Import").isEnabled()


def test_what_a_file_states_is_not_asked_for(make_dialog, plain, tmp_path, tracks):
    path = tmp_path / "own.npz"
    write_tracks(path, tracks.xy, tracks.visible, size=(1280, 960))
    dialog = make_dialog(path)
    assert not dialog._arrays.choices["tracks"].isEnabled()
    assert not any(dialog.findChild(object, name).isVisible() for name in dialog._form.rows)
    assert (
        dialog._camera.isVisible() and "Picture 1280 × 960 px:" in dialog._camera.rows["camera"].note.text()
    )
    dialog = make_dialog(plain, camera="orthogonal")
    assert dialog._camera.isHidden() and "Orthogonal" in dialog._known_camera.text()


def test_what_cannot_be_read_is_one_sentence_and_can_be_mended(qtbot, make_dialog, write, tracks):
    broken, seen = tracks.xy.copy(), tracks.visible
    broken[3, 4, 0] = np.inf
    for path, given in (
        (write(tracks=broken, b=tracks.xy, c=seen.astype(float)), {"tracks": "tracks"}),
        (write("plain.npz", a=broken, b=tracks.xy, c=seen.astype(float)), {}),  # names that tell nothing
    ):
        dialog = make_dialog(path, **given)
        assert (
            dialog._problem.text()
            and len(dialog._problem.text().splitlines()) <= 4
            and "--" not in dialog._problem.text()
        )
        assert not button_of(dialog, "Import").isEnabled()
        for name, use in (("b", "tracks"), ("c", "visible")):
            choose(dialog._arrays.choices[name], use)
            settled(qtbot, dialog)
        assert dialog._problem.text() == "" and button_of(dialog, "Import").isEnabled()
        found = imported(qtbot, dialog)
        assert found.reading["tracks"] == "b"
        np.testing.assert_array_equal(found.sequence.visible, seen)
        np.testing.assert_allclose(
            found.sequence.tracks.transpose(0, 2, 1)[seen], tracks.xy[seen], rtol=1e-12
        )


def test_the_columns_of_a_table_are_chosen_by_their_names(qtbot, make_dialog, tmp_path, tracks):
    rows = [
        f"{frame},{point},{xy[1]:.4f},{xy[0]:.4f},{0.9 if frame else 0.3}"
        for frame, points in enumerate(tracks.xy)
        for point, xy in enumerate(points)
    ]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["picture,corner,down,right,trust", *rows]))
    dialog = make_dialog(path)
    assert dialog._problem.text().endswith("; it is not clear which are frame, point, x and y: choose them")
    assert dialog._arrays.isHidden() and not button_of(dialog, "Import").isEnabled()
    choose(dialog._form.columns.choices["visible"], "trust")
    settled(qtbot, dialog)
    assert dialog._problem.text() == "No column is chosen for frame, point, x, y"
    for name, column in (("frame", "picture"), ("point", "corner"), ("x", "right"), ("y", "down")):
        choose(dialog._form.columns.choices[name], column)
        settled(qtbot, dialog)
    assert dialog._problem.text() == "" and "• trust is a score" in dialog._guesses.text()
    choose(dialog._form.columns.choices["visible"], NO_COLUMN)
    settled(qtbot, dialog)
    found = imported(qtbot, dialog)
    np.testing.assert_allclose(found.sequence.tracks, tracks.xy.transpose(0, 2, 1), atol=1e-4)
    assert found.reading == {"columns": "frame=picture,point=corner,x=right,y=down"}


def test_of_several_individuals_the_first_is_drawn_and_another_can_be_chosen(
    qtbot, make_dialog, tmp_path, tracks
):
    path = tmp_path / "videos.pkl"
    one = {"points": tracks.xy.swapaxes(0, 1), "occluded": ~tracks.visible.T}
    other = {name: array[:15] for name, array in one.items()}
    path.write_bytes(pickle.dumps({"horse": one, "cow": other}))
    dialog = make_dialog(path)
    assert dialog._problem.text() == "" and summary(dialog).startswith("12 frames of 20 points")
    assert dialog._form.individual.key == "horse"
    choose(dialog._form.individual, "cow")
    settled(qtbot, dialog)
    assert summary(dialog).startswith("12 frames of 15 points")
    assert imported(qtbot, dialog).reading["individual"] == "cow"


def test_sentences_name_no_options_of_the_command_line(make_dialog, tmp_path, tracks):
    shares = (tracks.xy / 1280).tolist()
    path = tmp_path / "marks.json"
    path.write_text(
        json.dumps([[{"x": x, "y": y, "visibility": 1.0} for x, y in points] for points in shares])
    )
    dialog = make_dialog(path)
    assert "between 0 and 1" in dialog._problem.text()
    texts = [dialog._problem.text(), *(label.text() for label in dialog.findChildren(QLabel))]
    assert not any("--" in text or str(path) in text for text in texts)


def test_the_slider_shows_another_frame_with_its_hidden_points_hollow(make_dialog, plain, tracks, near):
    dialog = make_dialog(plain)
    picture = dialog._picture
    picture.slider.setValue(7)
    seen = int(tracks.visible[7].sum())
    assert picture._label.text().endswith(f"8 / 12, {seen} of 20 seen")
    assert len(picture.view._dots.measured.positions) == seen
    assert len(picture.view._dots.hidden.positions) == 20 - seen
    for theme in (DARK, LIGHT):
        dialog.setPalette(palette(theme))
        assert near(picture.view.grab_image(), theme.measured).any()


def test_the_video_that_a_file_names_is_drawn_behind_its_tracks(qtbot, make_dialog, tmp_path, tracks):
    av = pytest.importorskip("av", reason="a video needs PyAV")
    video = tmp_path / "video.mp4"
    with av.open(str(video), "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width, stream.height = 160, 120
        for frame in range(12):
            pixels = np.full((120, 160, 3), 20 * frame, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode())
    path = tmp_path / "tracks.npz"
    write_tracks(path, tracks.xy / 8, tracks.visible, size=(160, 120), video=video)
    dialog = make_dialog(path)
    picture = dialog._picture
    background = picture.view._background
    for frame in (0, 7):
        picture.slider.setValue(frame)
        qtbot.waitUntil(
            lambda frame=frame: (
                background.isVisible()
                and abs(background.pixmap().toImage().pixelColor(9, 9).red() - 20 * frame) < 6
            )
        )
    dialog.reject()
    assert picture._reader is None and not background.isVisible()
