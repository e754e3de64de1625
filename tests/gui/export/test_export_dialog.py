"""The one dialog for all exports: what it offers, refuses and asks for, and that it gets written."""

from dataclasses import replace
from pathlib import Path

import pytest
from hands import choose

from core import WRITERS, Alignment, CameraModel, load_result, simulate
from core.evaluation import Kind
from core.io.writers import KINDS as WRITER_KINDS
from nrsfm_gui.export import export_controller
from nrsfm_gui.export.export_dialog import ExportDialog
from nrsfm_gui.export.export_request import KINDS, ExportContext, context_of
from nrsfm_gui.export.movie_files import FORMATS

ALWAYS = {"what", "format", "path"}


@pytest.fixture
def context(tmp_path):
    return ExportContext(
        name="paper-circle", folder=str(tmp_path), frame=2, frames=(2, 5), frame_count=6, truth=True,
        video=True, align="truth", reconstruction=True,
    )  # fmt: skip


@pytest.fixture
def dialog(qtbot, context):
    dialog = qtbot.addWidget(ExportDialog())
    dialog.set_context(context)
    dialog.show()
    return dialog


def rows(dialog):
    return {name for name in dialog.form.rows if dialog.form.is_row_visible(name)}


def pick(dialog, name, key):
    choose(dialog.form.choices[name], key)


def possible(dialog, name):
    choice = dialog.form.choices[name]
    return {key for key in choice.entries() if not choice.refusal(key)}


def type_path(dialog, text):
    dialog.form.path.line.setText(text)
    dialog.form.path.line.textEdited.emit(text)


def test_rows_are_options_that_the_formats_heed_and_a_file_is_proposed(dialog, context):
    for key, kind in KINDS.items():
        dialog.choose(key)
        assert ALWAYS <= rows(dialog) <= {*ALWAYS, *kind.rows}
        for suffix in kind.formats:
            pick(dialog, "format", suffix)
            path = dialog.form.path.path
            assert path.parent == Path(context.folder) and path.name.startswith("paper-circle")
            assert path.name.endswith(suffix)
            assert dialog._export.isEnabled() or dialog.form.rows["format"].note.text()
            if suffix in WRITERS:
                heeded, shown = WRITERS[suffix].options, rows(dialog) - ALWAYS
                assert set(dialog.options()) <= heeded, suffix
                known = set(kind.rows) & heeded - (
                    {"mirror"} if dialog.form.value("align") == "none" else set()
                )
                assert shown == known, suffix


def test_shapes_are_asked_for_with_their_options(dialog):
    dialog.choose("shapes")
    options = dialog.options()
    assert options.pop("align") == "truth" and options.pop("coordinates") == "upright"
    assert options == {"mirror": False, "frames": "numbered", "frame": None, "text": False}
    dialog.form.set_value("frames", "one")
    assert dialog.options()["frame"] == 2
    dialog.form.set_value("frames", "stacked")
    pick(dialog, "format", ".obj")
    assert dialog.options()["frames"] == "numbered"  # OBJ cannot tell frames apart
    assert dialog.options()["frame"] is None


def test_a_movie_uses_the_loop_range_and_a_turntable(dialog):
    dialog.choose("movie")
    pick(dialog, "turning", "once")
    movie = dialog.options()["options"]
    assert (movie.first, movie.last, movie.one_turn, movie.turn) == (1, 4, True, 0.0)
    pick(dialog, "turning", "speed")
    dialog.form.set_value("speed", -45)
    assert dialog.options()["options"].turn == -45.0 and "speed" in rows(dialog)
    pick(dialog, "view", "2d")
    assert dialog.options()["options"].turn == 0.0 and not {"speed", "turning"} & rows(dialog)
    dialog.form.set_value("range", (3, 3))
    assert "seconds" in rows(dialog) and dialog.options()["options"].count == 90


@pytest.mark.parametrize(
    ("kind", "field", "value", "sentence"),
    [
        ("movie", "fps", "0", "Fps must be above 0."),
        ("movie", "fps", "fast", "'fast' is not a number"),
        ("movie", "fps", "900", "Fps is 900; accepted are numbers above 0, up to 240."),
        ("movie", "range", (2, 9), "There are frames 1 to 6"),
        ("movie", "size", (20, 400), "Width is 20; accepted are 64 to 7680 pixels"),
        ("figure", "paper", (1, 5), "accepted are"),
        ("figure", "paper", (8.5, 101), "accepted are"),
        ("figure", "dpi", 10, "accepted are 50 to 1200 dots per inch"),
    ],
)
def test_what_is_refused_is_reported_below_its_field(dialog, kind, field, value, sentence):
    dialog.choose(kind)
    pick(dialog, "format", ".png")
    before = dialog.form.value(field)
    dialog.form.rows[field].editor.setText(value) if field == "fps" else dialog.form.set_value(field, value)
    assert sentence in dialog.form.rows[field].note.text() and not dialog._export.isEnabled()
    dialog.form.set_value(field, before)
    assert not dialog.form.rows[field].note.text() and dialog._export.isEnabled()


@pytest.mark.parametrize("chosen", ["figure", "movie"])  # when the dialog is opened again
@pytest.mark.parametrize(("field", "text"), [("dpi", "many"), ("dpi", "10"), ("shapes", "0")])
def test_what_was_refused_when_the_dialog_was_closed_does_not_stop_the_next_export(
    dialog, context, field, text, chosen
):
    dialog.choose("figure")
    pick(dialog, "format", ".png")
    before = dialog.form.value(field)
    dialog.form.set_value("paper", (8.0, 6.0))
    dialog.form.rows[field].editor.setText(text)
    type_path(dialog, "/gone/a.png")
    assert not dialog._export.isEnabled()
    dialog.close()
    for kind in (chosen, "figure"):
        dialog.set_context(context)
        dialog.choose(kind)
    assert dialog.form.value(field) == before and dialog._export.isEnabled()
    assert dialog.form.value("paper") == (8.0, 6.0)
    assert dialog.form.path.path.parent == Path(context.folder)


def test_a_file_is_checked_before_it_is_written(dialog, tmp_path):
    dialog.choose("result")
    type_path(dialog, "")
    assert dialog.form.rows["path"].note.text() == "Give a file."
    type_path(dialog, str(tmp_path / "gone" / "a.npz"))
    assert "There is no folder" in dialog.form.rows["path"].note.text() and not dialog._export.isEnabled()
    type_path(dialog, str(tmp_path / ("long" * 100) / "a.npz"))  # the system refuses to look for it
    assert "There is no folder" in dialog.form.rows["path"].note.text()
    (tmp_path / "b.npz").write_text("x")
    type_path(dialog, str(tmp_path / "b.npz"))
    assert "is replaced" in dialog._note.text() and dialog._export.isEnabled()
    type_path(dialog, str(tmp_path / "b"))
    assert "is replaced" in dialog._note.text()
    dialog.choose("table")
    type_path(dialog, str(tmp_path / "mine.trajectories.csv"))
    pick(dialog, "format", ".csv")
    assert dialog.form.path.path == tmp_path / "mine.csv"  # a typed name keeps its stem


def test_what_is_not_there_is_grayed_out(dialog, context):
    dialog.choose("scene")
    assert possible(dialog, "color") == {"plain", "error"}
    dialog.form.set_value("color", "error")
    assert dialog.options()["color"] == "error" and dialog.options()["fps"] == 15.0
    dialog.set_context(replace(context, name="other", truth=False, std=True, fps=29.97))
    assert possible(dialog, "color") == {"plain", "std"} and dialog.options()["color"] == "plain"
    assert dialog.options()["fps"] == 29.97
    missing = {".mp4": "MP4 movie needs PyAV"}
    dialog.set_context(replace(context, truth=False, reconstruction=False, missing=missing))
    assert dialog.form.value("what") == "movie" and dialog.form.value("align") == "none"
    assert possible(dialog, "what") == {"movie", "picture", "figure"}
    assert dialog.form.rows["format"].note.text() == missing[".mp4"] and not dialog._export.isEnabled()


@pytest.mark.parametrize(
    ("kind", "suffix", "typed", "written"),
    [
        ("shapes", ".obj", "a", "a.obj"),
        ("shapes", ".obj", "v1.2", "v1.2.obj"),
        ("shapes", ".obj", "a.PLY", "a.PLY"),
        ("movie", ".png", "a", "a.png"),
    ],
)
def test_a_name_without_a_suffix_gets_that_of_the_format(dialog, tmp_path, kind, suffix, typed, written):
    requested = []
    dialog.requested.connect(lambda _kind, path, _options: requested.append(path))
    dialog.choose(kind)
    pick(dialog, "format", suffix)
    type_path(dialog, str(tmp_path / typed))
    dialog._export.click()
    assert requested == [tmp_path / written]


def test_shapes_are_laid_over_the_truth_as_in_the_views(parts):
    session, exporting = parts.session, parts.export_controller
    session.set_sequence(simulate("paper", frames=6, points=20, seed=2, camera=CameraModel.ORTHOGONAL))
    assert context_of(session, Path()).mirror  # tracks of orthogonal cameras tell no depth from its mirror
    session.set_alignment(Alignment(Kind.SEQUENCE))
    context = context_of(session, Path())
    assert (context.align, context.mirror) == ("sequence", False)
    session.set_alignment(Alignment(Kind.NONE))
    exporting.ask()
    exporting._dialog.choose("scene")
    assert exporting._dialog.options()["align"] == "none"


def test_what_was_written_can_be_opened(qtbot, solved, tmp_path, monkeypatch):
    opened, works = [], [True]
    monkeypatch.setattr(
        export_controller.QDesktopServices,
        "openUrl",
        lambda url: opened.append(Path(url.toLocalFile())) or works[0],
    )
    exporting, notifier = solved.export_controller, solved.session.notifier
    for name, buttons in (("a.usda", ["Open folder"]), ("a.html", ["Open page", "Open folder"])):
        with qtbot.waitSignal(notifier.informed) as reported:
            exporting.save_result(tmp_path / name)
        sentence, actions = reported.args
        assert sentence == f"Saved {tmp_path / name}" and [text for text, _open in actions] == buttons
        for _text, callback in actions:
            callback()
    assert opened == [tmp_path, tmp_path / "a.html", tmp_path]
    works[0] = False
    with qtbot.waitSignal(notifier.failed) as failed:
        actions[-1][1]()
    assert failed.args == [f"No program was found that opens {tmp_path}"]
    with qtbot.waitSignal(notifier.informed) as reported:
        exporting.copy_recipe("command")
    assert reported.args[1] == ()


def test_every_kind_has_a_line_in_the_menu_and_is_written(qtbot, solved, press_action, tmp_path):
    exporting = solved.export_controller
    for kind in (*WRITER_KINDS, "movie", "report"):
        press_action(solved, f"export_{kind}")
        assert exporting._dialog.isVisible() and exporting._dialog.form.value("what") == kind
    dialog = exporting._dialog
    dialog.close()
    press_action(solved, "export")
    assert exporting._dialog is dialog and dialog.form.value("what") == "report"  # choices last
    for kind in KINDS:
        for suffix in KINDS[kind].formats:
            if suffix in FORMATS and FORMATS[suffix].missing:
                continue
            dialog.choose(kind)
            pick(dialog, "format", suffix)
            dialog.form.set_value("size", (200, 120))
            dialog.form.set_value("frames", "one")
            dialog.form.set_value("range", (1, 2))
            dialog.form.set_value("paper", (4, 3))
            dialog.form.rows["shapes"].editor.setText("1")
            type_path(dialog, str(tmp_path / f"{kind}{suffix}"))
            assert dialog._export.isEnabled(), dialog.form.rows["path"].note.text()
            with qtbot.waitSignal(exporting.saved):
                dialog._export.click()
            name = f"{kind}_0001.png" if (kind, suffix) == ("movie", ".png") else f"{kind}{suffix}"
            assert (tmp_path / name).stat().st_size > 200
    assert load_result(tmp_path / "result.npz").loss == solved.session.shown.last.best.loss
    newest = solved.session.shown.last.iteration
    exporting.ask()
    assert "which is shown" not in dialog._note.text()
    solved.session.set_moment(0)
    exporting.ask()
    assert f"Of iteration {solved.session.seen.iteration} of {newest}, which is shown" in dialog._note.text()


def test_buttons_stay_where_they_are_and_fields_end_below_each_other(qtbot, dialog):
    dialog.resize(dialog.minimumSizeHint())
    places = set()
    for kind in KINDS:
        dialog.choose(kind)
        qtbot.wait(1)
        places.add((dialog.size().height(), dialog._export.mapTo(dialog, dialog._export.pos()).y()))
    assert len(places) == 1
    dialog.choose("movie")
    qtbot.wait(1)
    form = dialog.form
    what, frames, size, fps = (form.rows[name].editor for name in ("what", "range", "size", "fps"))
    parts = what, frames.second, size.second, fps
    assert len({part.mapTo(form, part.rect().topRight()).x() for part in parts}) == 1
