"""Ctrl+K in the complete window: panels, sequences, parameters, exports and runs are found by their names."""

from collections import Counter

import pytest
from hands import entries_of, open_palette
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QApplication

from core import Settings, bundled_samples
from nrsfm_gui.shell.layout import docks


@pytest.fixture(scope="module")
def shared(make_shared_window, known):
    return make_shared_window(known.sequence)


@pytest.fixture
def window(qtbot, shared):
    qtbot.activate(shared)
    shared.session.set_live(False)
    shared.session.set_settings(Settings())
    shared.parameters_panel.set_settings(Settings())
    return shared


def test_panels_sequences_exports_and_runs_are_found(qtbot, window, add_run, make_iterate, known, tmp_path):
    (tmp_path / "mine.npz").touch()
    window.store.add_recent(tmp_path / "mine.npz")
    window.sequence_opening.entries = bundled_samples()
    first, second = (
        add_run(window.session, make_iterate(known, noise=noise), Settings(rank=rank))
        for noise, rank in ((0.01, 2), (0.02, 3))
    )
    entries = window.command_palette_controller.entries()
    kinds = Counter(entry.kind for entry in entries)
    assert kinds["panel"] == len(docks(window)) and kinds["run"] == 2 and kinds["export"] > 8
    titles = Counter(entry.title for entry in entries if entry.kind == "sequence")
    assert set(titles.values()) == {1}
    circles = {title for title in titles if title.startswith("balloon, circle")}
    assert circles == {"balloon, circle", "balloon, circle (orthogonal)"}
    kinds_of = {entry.title: entry.kind for entry in entries}
    assert kinds_of["Forget these"] == "action"
    assert [kind for title, kind in kinds_of.items() if title.endswith("mine.npz")] == ["sequence"]
    palette = open_palette(qtbot, window)
    for text, kind, title in (("loss", "panel", "Loss"), ("glTF", "export", "3-D scene…")):
        palette.field.setText(text)
        assert any((entry.kind, entry.title) == (kind, title) for entry in entries_of(palette)[:3]), text
    palette.field.setText(f"run {first.number}")
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert window.session.shown is first is not second
    palette = open_palette(qtbot, window)
    palette.field.setText("panel points")
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert window.points_panel.isVisible()
    assert window.points_panel.isAncestorOf(QApplication.focusWidget())


def test_a_parameter_is_found_by_its_name_and_symbol_and_its_field_focused(qtbot, window):
    panel, dock = window.parameters_panel, window.parameters_panel.parentWidget()
    symbols = {"xi": "xi", "ξ": "xi", "η": "eta", "K": "rank", "gamma": "gamma"}
    for objective, weights, sigmas in (
        ("depths", "mode_weights", {"mode_weights", "noise"}),
        ("wnn", "weights", {"weights"}),
    ):
        settings = Settings(objective=objective)
        window.session.set_settings(settings)
        panel.set_settings(settings)
        palette = open_palette(qtbot, window)
        palette.field.setText("sigma")
        assert {row.symbols[0] for row in entries_of(palette)[: len(sigmas)]} == sigmas
        for text, key in (symbols | {"weights": weights}).items():
            dock.hide()
            palette = open_palette(qtbot, window)
            palette.field.setText(text)
            assert (entries_of(palette)[0].kind, entries_of(palette)[0].symbols[0]) == ("parameter", key)
            qtbot.keyClick(palette.field, Qt.Key.Key_Return)
            focused = QApplication.focusWidget()
            assert dock.isVisible() and panel.isAncestorOf(focused)
            named = focused.objectName() == key
            assert focused is panel.spectrum_plot.canvas if key == "weights" else named


def test_every_parameter_of_every_problem_is_found_by_its_label(qtbot, window):
    palette = open_palette(qtbot, window)
    for settings in (Settings(), Settings(problem="lowrank", rank=4)):
        window.session.set_settings(settings)
        window.parameters_panel.set_settings(settings)
        entries = list(window.parameters_panel.parameter_entries())
        assert len(entries) > 8 and any(entry.reason for entry in entries)
        window.command_palette_controller.open()
        for entry in entries:
            palette.field.setText(entry.title)
            found = [row for row in entries_of(palette)[:4] if row.symbols == entry.symbols]
            assert found and found[0].reason == entry.reason, entry.title


def test_the_values_of_choices_are_found_and_chosen(qtbot, window):
    def chosen():
        return {each.title for each in window.parameters_panel.value_entries() if each.checked}

    for text, title in (("admm", "Method: ADMM"), ("schatten", "Penalty: Schatten-p")):
        palette = open_palette(qtbot, window)
        palette.field.setText(text)
        first = entries_of(palette)[0]
        assert (first.kind, first.title, first.checked) == ("value", title, False)
        qtbot.keyClick(palette.field, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda title=title: title in chosen())
        palette = open_palette(qtbot, window)
        palette.field.setText(text)
        assert entries_of(palette)[0].checked
