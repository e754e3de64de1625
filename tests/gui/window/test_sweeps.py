"""The window of a sweep: opened from its folder, sorted, filtered, clicked, gone on from, and growing."""

import csv
import json

import numpy as np
import pytest
from PyQt6.QtCore import QPoint, QPointF, Qt
from PyQt6.QtGui import QGuiApplication

from core import load_result
from core.experiments.sweep.rows import read_sweep
from nrsfm_gui.model.run import RunState
from nrsfm_gui.shell.shortcut_sheet import ShortcutSheet
from nrsfm_gui.sweeps import sweep_controller
from nrsfm_gui.sweeps.sweep_window import ALL_FAILED, NO_MATCH, STILL_EMPTY, SweepWindow
from nrsfm_gui.text.sweep_rows import build_rows
from nrsfm_gui.text.table_text import LATEX, MARKDOWN


@pytest.fixture
def window(qtbot, show, rows):
    made = SweepWindow()
    made.set_rows(rows)
    show(made)
    return qtbot.activate(made)


@pytest.fixture
def main(make_window):
    return make_window()


@pytest.fixture
def open_sweep(qtbot, main):
    def open_folder(folder, rows=8):
        main.sequence_opening.open(folder)
        qtbot.waitUntil(lambda: main.sweep_controller.window is not None)
        window = main.sweep_controller.window
        qtbot.waitUntil(lambda: window.rows is not None and len(window.rows) == rows)
        return window

    return open_folder


@pytest.fixture
def rewrite(swept):

    def changed(change):
        file = swept / "runs.jsonl"
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        for number, line in enumerate(lines):
            change(line, number)
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))

    return changed


def click(qtbot, table, row):
    place = table.visualRect(table.model().index(row, 0)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)


def column_of(table, title):
    model = table.model()
    titles = [model.headerData(k, Qt.Orientation.Horizontal) for k in range(model.columnCount())]
    return titles.index(title)


def texts(table, column):
    model = table.model()
    return [model.data(model.index(row, column)) for row in range(model.rowCount())]


# -- the window alone -------------------------------------------------------------------------------------


def test_columns_sort_by_their_numbers_with_what_is_missing_last(window):
    table = window.table
    errors = column_of(table, "3-D error (mm)")
    table.sortByColumn(errors, Qt.SortOrder.AscendingOrder)
    up = texts(table, errors)
    table.sortByColumn(errors, Qt.SortOrder.DescendingOrder)
    down = texts(table, errors)
    numbers = [float(text) for text in up[:-1]]
    assert numbers == sorted(numbers) and up[-1] == down[-1] == "–" and down[:-1] == up[:-1][::-1]


def test_a_filter_shows_the_same_runs_in_table_and_map(qtbot, window):
    def keeps(text, count):
        window.filter.setText(text)
        qtbot.waitUntil(lambda: window.table.model().rowCount() == count)

    assert window.filter.placeholderText().startswith("Filter: rank=")
    keeps("rank=1", 4)
    assert window.map.state.table.counts.sum() == 4
    keeps("rank=7", 0)
    assert window.table.empty.text() == NO_MATCH
    keeps("failed", 1)
    assert window.map.empty.text() == ALL_FAILED and not window.map.empty.isHidden()
    keeps("rnk=1", 0)
    assert window._filter_problem.text() == "No column rnk; rank?" and window._filter_problem.isVisible()
    assert window.filter.property("invalid") is True
    assert window.table.empty.text() == window.map.empty.text() == "No column rnk; rank?"
    keeps("rank = 1", 4)
    assert not window._filter_problem.isVisible() and not window.filter.property("invalid")
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Down, Qt.Key.Key_Escape):
        window.filter.clear()
        window.filter.setFocus()
        qtbot.keyClicks(window.filter, "rank=2")
        qtbot.keyClick(window.filter, key)
        qtbot.waitUntil(lambda: window.table.hasFocus() and window.table.model().rowCount() == 4)
        assert window.filter.text() == "rank=2"
    qtbot.keyClick(window.table, Qt.Key.Key_Escape)
    assert window.filter.text() == "rank=2" and window.table.model().rowCount() == 4


def test_no_run_is_chosen_until_a_row_or_cell_is_and_both_mean_the_same_run(qtbot, window):
    window.table.clearFocus()
    window.table.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(window.table.hasFocus)
    assert window.chosen == -1 and not window.table.currentIndex().isValid()
    assert window._run_title.full_text == "No run is chosen" and window.map._cell is None
    qtbot.keyClick(window.table, Qt.Key.Key_Down)
    assert window.chosen == 0 and window._run_title.full_text.endswith("seed 0 (Enter shows it)")
    window.map.setFocus()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Up):
        qtbot.keyClick(window.map, key)
        (selected,) = window.table.selectionModel().selectedRows()
        assert window.order[selected.row()] == window.chosen
        assert window.map._cell == window.map.state.cell_of(window.chosen)
        assert window._run_title.full_text == f"{window.rows.run_title(window.chosen)} (Enter shows it)"
    assert all(len(frame.getData()[0]) == 5 for frame in window.map._frames)
    window.filter.setText("rank=2")
    qtbot.waitUntil(lambda: window.table.model().rowCount() == 4)
    assert window._run_title.full_text.endswith("(not in the filter)") and window.map._cell is None
    assert not window.table.selectionModel().hasSelection()


def test_s_sorts_by_the_current_column_and_the_arrow_stays_at_its_name(qtbot, window, swept, rewrite):
    table = window.table
    table.setFocus()
    window.choose(0)
    for key in (Qt.Key.Key_Right, Qt.Key.Key_S, Qt.Key.Key_S):
        qtbot.keyClick(table, key)
    header, eta = table.horizontalHeader(), column_of(table, "eta")
    assert header.sortIndicatorSection() == eta and texts(table, eta) == ["0.2"] * 4 + ["0.05"] * 4
    rewrite(lambda line, number: line.update(path="another") if number == 0 else None)
    window.set_rows(build_rows(read_sweep(swept)))
    moved = column_of(table, "eta")
    assert moved == eta + 1 and header.sortIndicatorSection() == moved
    assert header.sortIndicatorOrder() == Qt.SortOrder.DescendingOrder
    assert texts(table, moved) == ["0.2"] * 4 + ["0.05"] * 4


def test_the_axes_of_the_map_never_have_the_same_setting(window):
    assert (window._across.key, window._down.key) == ("eta", "rank")
    window._across.choose("rank")
    assert (window._across.key, window._down.key) == ("rank", "eta")
    window._down.choose("")
    window._down.choose("rank")
    assert window._across.key not in ("rank", "") and window._down.key == "rank"


def test_a_setting_that_begins_to_vary_fills_the_empty_axis(show, rows, swept, lines):
    whole = lines()
    settings = [json.loads(line)["settings"] for line in whole]
    kinds = [(each["rank"], each["seed"]) for each in settings]
    alike = [line for line, kind in zip(whole, kinds, strict=True) if kind == kinds[0]]
    (swept / "runs.jsonl").write_bytes(b"".join(alike))
    (swept / "plan.json").unlink()
    window = show(SweepWindow())
    window.set_rows(build_rows(read_sweep(swept)))
    assert len(window.rows) == 2 and (window._across.key, window._down.key) == ("eta", "")
    window.set_rows(rows)
    assert (window._across.key, window._down.key) == ("eta", "rank")


def test_a_cell_shows_its_best_run_by_mouse_and_keys(qtbot, window):
    state, asked = window.map.state, []
    window.run_requested.connect(lambda *words: asked.append(words))
    box = window.map._plot.getViewBox()
    place = window.map._widget.mapFromScene(box.mapViewToScene(QPointF(1.5, 0.5)))
    qtbot.mouseClick(window.map._widget.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(place))
    assert asked == [(state.best_run(0, 1), False)] and window.chosen == state.best_run(0, 1)
    window.map.setFocus()
    qtbot.keyClick(window.map, Qt.Key.Key_Down)
    qtbot.keyClick(window.map, Qt.Key.Key_Return)
    assert asked[1:] == [(state.best_run(1, 1), False)]


def test_headings_stand_over_their_numbers_and_name_the_metric(window):
    model = window.table.model()
    names = []
    for section in range(model.columnCount()):
        role, first = Qt.ItemDataRole.TextAlignmentRole, model.index(0, section)
        assert model.headerData(section, Qt.Orientation.Horizontal, role) == model.data(first, role)
        tip = model.headerData(section, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
        names.append(model.columns[section].name)
        assert names[-1] in tip and len(tip) > len(names[-1]) + 20
    assert {"procrustes_mm", "procrustes_mm_reference", "procrustes_mm_mirror", "challenge_v02"} <= {*names}


def test_the_best_run_that_is_shown_is_bold(qtbot, window):
    model = window.table.model()

    def bold():
        fonts = [model.data(model.index(row, 0), Qt.ItemDataRole.FontRole) for row in range(model.rowCount())]
        return [int(window.order[row]) for row, font in enumerate(fonts) if font is not None and font.bold()]

    errors = window.rows.column("procrustes_mm").numbers
    assert bold() == [int(np.nanargmin(errors))] == [window.map.state.best]
    window.filter.setText("rank=1")
    qtbot.waitUntil(lambda: model.rowCount() == 4)
    assert bold() == [int(window.order[np.nanargmin(errors[window.order])])]
    x, y = window.map._best.getData()
    assert (y.min(), x.min()) == window.map.state.cell_of(bold()[0])


HOSTILE = "<img src='file:///etc/passwd'>\x1b[31m" + 5000 * "x\n"
NUMBERS = (1e308, -1e308, 5e-324, 10**30, "text", None, True, 0)


@pytest.mark.slow
def test_what_a_file_says_is_shown_as_it_is_and_never_too_long(qtbot, window, swept, rewrite):
    def change(line, k):
        number = NUMBERS[k]
        line.update(object=f"{HOSTILE}{k % 3}", status=HOSTILE, command=HOSTILE, loss=number, seconds=number)
        line["metrics"] = {"procrustes_mm": number, HOSTILE: number}
        line["settings"] |= {HOSTILE: k % 2, "eta": number}
        line["error"] = HOSTILE

    rewrite(change)
    window.set_rows(build_rows(read_sweep(swept)))
    for choice in (window._number, window._across, window._down):
        for index in range(choice.count()):
            choice.setCurrentIndex(index)
            choice.chosen.emit(choice.key)
            qtbot.wait(1)
            assert not window.grab().isNull()
    model = window.table.model()
    for row in range(model.rowCount()):
        for column in range(model.columnCount()):
            text, tip = (
                model.data(model.index(row, column), role)
                for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole)
            )
            assert len(text) <= 300 and "\n" not in text and "\x1b" not in text
            assert "<img" not in tip and len(tip) < 4000
    for column in range(model.columnCount()):
        assert len(model.headerData(column, Qt.Orientation.Horizontal)) <= 300
    window.choose(0)
    assert "<img" in window._run_title.full_text and len(window._run_title.full_text) < 3000
    state = window.map.state
    assert all(state.tip(*cell) for cell in state.members)


# -- beside the main window -------------------------------------------------------------------------------


def test_a_sweep_is_opened_by_its_folder_or_file_and_shows_its_runs(qtbot, main, open_sweep, swept, store):
    session = main.session
    main.first_steps.begin()
    window = open_sweep(swept)
    assert window.isVisible() and window.table.model().rowCount() == 8 and window.map.state is not None
    assert store.recent()[0] == swept and session.sweep == swept
    qtbot.waitUntil(main.toolbars.actions["sweep"].isEnabled)
    window.close()
    main.sequence_opening.open(swept / "runs.jsonl")
    qtbot.waitUntil(window.isVisible)
    window.shortcuts_requested.emit()
    (sheet,) = window.findChildren(ShortcutSheet)
    shown = [section._title for section in sheet.sections if section.isVisible()]
    assert shown == ["Run", "Window of a sweep"]  # of Run the key that shows the window
    sheet.close()
    click(qtbot, window.table, 2)
    qtbot.waitUntil(lambda: session.shown is not None)
    row = window.rows.sweep.row(2)
    assert session.shown.last.settings.eta == row["eta"] == session.settings.eta
    assert session.shown.title == "rank 1, eta 0.2, seed 0"
    assert window._run_title.full_text == window.rows.run_title(2)  # without "(Enter shows it)"
    assert load_result(swept / row["result"]).loss == session.shown.history.records[-1].loss
    assert swept in store.recent() and all(path.suffix != ".npz" for path in store.recent())
    assert main.first_steps.isHidden()  # over a run that was opened
    session.set_frame(4)
    window.table.setFocus()
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Return):
        qtbot.keyClick(window.table, key)
    qtbot.waitUntil(lambda: len(session.runs) == 2)
    assert session.frame == 4  # what is seen stays
    click(qtbot, window.table, 2)
    assert session.shown is session.runs[0] and len(session.runs) == 2
    main.close()
    assert main.sweep_controller.window is None


def test_go_on_live_shows_the_run_in_live_mode_and_follows_a_change(qtbot, main, open_sweep, swept):
    main.session.set_live(False)
    window = open_sweep(swept)
    window.choose(0)
    qtbot.mouseClick(window._live, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: main.session.live)
    first = main.session.shown
    assert first.settings.rank == 1 and first.state is RunState.FINISHED
    main.session.set_settings(first.settings.with_changes(eta=0.1))
    qtbot.waitUntil(lambda: main.session.shown.warm_from == first.number and main.run_control.current is None)
    assert main.session.shown.settings.eta == 0.1


@pytest.mark.slow
def test_a_run_without_a_result_is_solved_again_with_its_settings(qtbot, main, open_sweep, swept):
    window = open_sweep(swept)
    failed = int(np.flatnonzero(window.rows.sweep.failed)[0])
    click(qtbot, window.table, list(window.order).index(failed))
    assert "LinAlgError: <b>the matrix" in window.messages.text and not window._show.isEnabled()
    qtbot.mouseClick(window._again, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: main.session.shown is not None and main.session.shown.state is RunState.FINISHED)
    row, settings = window.rows.sweep.row(failed), main.session.shown.settings
    assert (settings.rank, settings.eta, settings.seed) == (row["rank"], row["eta"], row["seed"])
    assert main.session.sequence.content == row["data"]


@pytest.mark.slow
def test_solving_again_asks_where_data_are_that_were_moved(
    qtbot, main, open_sweep, swept, rewrite, solved_sweep, tmp_path
):
    away = str(tmp_path / "away")
    rewrite(lambda line, _: line.update(sequence=line["sequence"].replace(str(solved_sweep), away)))
    window = open_sweep(swept)
    window.choose(0)
    main.sweep_controller.use_chosen("again")
    assert "is not there any more" in window.messages.text
    made = main.sweep_controller._reader.load_run(window.rows.key(0))
    controller = main.sweep_controller
    controller.use_data(made, solved_sweep / "data/balloon/sequence/perspective/circle.txt")
    qtbot.waitUntil(lambda: main.session.shown is not None and main.session.shown.state is RunState.FINISHED)
    window.choose(1)
    window.messages.hide()
    controller.use_chosen("again")  # of the same folder
    qtbot.waitUntil(lambda: len(main.session.runs) == 2)
    assert window.messages.text == ""


def test_a_sweep_that_is_still_running_grows_also_after_its_files_could_not_be_read(
    qtbot, main, open_sweep, swept, lines, monkeypatch
):
    whole = lines()
    file, other = swept / "runs.jsonl", swept / "other"
    file.write_bytes(b"")
    window = open_sweep(swept, rows=0)
    assert window.table.empty.text() == STILL_EMPTY and window.map.state is None
    file.write_bytes(b"".join(whole[:3]) + whole[3][:40])
    main.sweep_controller.refresh()
    qtbot.waitUntil(lambda: len(window.rows) == 3)
    assert window._count.text() == "3 of 8 runs"
    assert window.rows.sweep.varied == ("rank", "eta", "seed")  # also rank, of which there is one value yet
    window.choose(2)
    key = window.rows.key(2)
    file.write_bytes(b"".join(whole))
    main.sweep_controller.refresh()
    qtbot.waitUntil(lambda: len(window.rows) == 8)
    assert window.rows.key(window.chosen) == key and window._count.text().startswith("8 runs")
    monkeypatch.setattr(sweep_controller, "MOST_SECONDS", 0.02)
    other.symlink_to(swept, target_is_directory=True)
    other.replace(file)  # at once: it is read at any moment
    main.sweep_controller.refresh()
    qtbot.waitUntil(lambda: window.messages.warns)
    assert "runs.jsonl" in window.messages.text and len(window.rows) == 8
    other.write_bytes(b"".join(whole[:5]))
    other.replace(file)
    qtbot.waitUntil(lambda: len(window.rows) == 5)


def test_the_runs_stay_on_view_while_the_folder_of_the_sweep_is_away(
    qtbot, main, open_sweep, swept, monkeypatch
):
    monkeypatch.setattr(sweep_controller, "MOST_SECONDS", 0.02)
    window, away = open_sweep(swept), swept.with_name("away")
    swept.rename(away)
    main.sweep_controller.refresh()
    qtbot.waitUntil(lambda: window.messages.warns)
    assert window.messages.text == f"{swept} is not there any more" and len(window.rows) == 8
    away.rename(swept)
    (swept / "runs.jsonl").write_bytes(b"")
    qtbot.waitUntil(lambda: len(window.rows) == 0)  # it is read again


def test_the_table_is_copied_and_written_as_it_is_shown(qtbot, main, open_sweep, swept, tmp_path, read_pdf):
    window = open_sweep(swept)
    window.filter.setText("rank=2")
    qtbot.waitUntil(lambda: window.table.model().rowCount() == 4)
    window.table.sortByColumn(column_of(window.table, "eta"), Qt.SortOrder.DescendingOrder)
    window.table.setFocus()
    qtbot.keyClick(window.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    text = QGuiApplication.clipboard().text()
    assert [line.split("\t")[1] for line in text.splitlines()] == ["eta", "0.2", "0.2", "0.05", "0.05"]
    place = window.table.mapTo(window, QPoint(0, 0)), window.table.size()
    main.sweep_controller.copy_table(MARKDOWN)
    assert QGuiApplication.clipboard().text().startswith("| rank ")
    window.table.setColumnHidden(0, True)
    main.sweep_controller.copy_table(LATEX)
    assert "toprule\neta & seed" in QGuiApplication.clipboard().text()
    main.sweep_controller.copy_map(MARKDOWN)
    assert "| eta = 0.05 |" in QGuiApplication.clipboard().text()
    qtbot.wait(20)
    assert window.messages.isVisible()
    assert (window.table.mapTo(window, QPoint(0, 0)), window.table.size()) == place
    main.sweep_controller.save_table(tmp_path / "table.csv")
    with (tmp_path / "table.csv").open() as file:
        assert [row["eta"] for row in csv.DictReader(file)] == ["0.2", "0.2", "0.05", "0.05"]
    main.sweep_controller.save_figure(tmp_path / "map.pdf")
    assert "3-Derror(mm)" in read_pdf(tmp_path / "map.pdf")[1]
    before = (swept / "runs.jsonl").read_bytes()
    main.sweep_controller.save_table(swept / "runs.jsonl")
    assert window.messages.warns and (swept / "runs.jsonl").read_bytes() == before


def test_the_window_leaves_the_view_free_and_remembers_its_place(qtbot, main, open_sweep, swept, store):
    main.setGeometry(main.screen().availableGeometry())
    window = open_sweep(swept)
    assert window.geometry().top() > main.geometry().center().y() - 20
    assert window.height() >= window.minimumSizeHint().height()
    window.setGeometry(30, 40, 800, 500)
    qtbot.wait(50)
    place = window.geometry().getRect()
    window.close()
    assert not store.sweep_geometry.isEmpty()
    window.setGeometry(0, 0, 900, 600)
    main.sweep_controller.show()
    qtbot.wait(50)
    assert window.geometry().getRect() == place
