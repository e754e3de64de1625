"""Names, units and notes of files are shown as they are: not as rich text, nor with control characters."""

from dataclasses import replace

import pyqtgraph as pg
import pytest
from PyQt6.QtCore import QAbstractListModel, QModelIndex, Qt
from PyQt6.QtWidgets import QAbstractItemView, QGraphicsTextItem, QLabel, QMenu, QWidget

TAGS = "<b>x</b><img src=file:///etc/passwd>"
TURNED = "\u202etxt\x1b[31m"
HOSTILE = TAGS + TURNED


@pytest.fixture
def window(make_window, known, qtbot, tmp_path):
    """A window with a sequence, a run and a file whose names are hostile."""
    names = tuple(f"{HOSTILE}{point}" for point in range(known.sequence.point_count))
    texts = dict.fromkeys(("name", "units", "truth_name", "truth_units"), HOSTILE)
    window = make_window(replace(known.sequence, point_names=names, provenance=HOSTILE, **texts))
    result = replace(known.result, meta=known.result.meta | texts)
    file = tmp_path / f"{TAGS.replace('/', '_')}.npz"
    result.save(file)
    with qtbot.waitSignal(window.sequence_opening.shown):
        window.sequence_opening.open(file)
    run = window.session.shown
    assert run is not None
    run.title = run.note = HOSTILE
    window.session.set_selection([1, 2], 1)
    window.session.notifier.warn(HOSTILE)
    window.display.refresh()
    return window


def _tips_of(model, parent):
    if model is None:
        return
    columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount(parent)
    for row in range(min(model.rowCount(parent), 5)):
        for column in range(columns):
            index = model.index(row, column, parent)
            yield str(model.data(index, Qt.ItemDataRole.ToolTipRole) or "")
            yield from _tips_of(model, index)
    for column in range(columns):
        yield str(model.headerData(column, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole) or "")


def _rich_texts(window):
    """Yield where and what Qt may interpret as rich text: labels, tips, explanations, labels of plots."""
    for widget in window.findChildren(QWidget):
        where = f"{type(widget).__name__} {widget.objectName()} {widget.accessibleName()[:30]}"
        yield f"tip of {where}", widget.toolTip()
        yield f"explanation of {where}", widget.whatsThis()
        yield f"status of {where}", widget.statusTip()
        if isinstance(widget, QLabel) and widget.textFormat() is not Qt.TextFormat.PlainText:
            yield where, widget.text()
        if isinstance(widget, QAbstractItemView):
            yield from ((f"row of {where}", tip) for tip in _tips_of(widget.model(), QModelIndex()))
        if isinstance(widget, QMenu):
            yield from ((f"tip of {action.text()}", action.toolTip()) for action in widget.actions())
        if isinstance(widget, pg.PlotWidget):
            texts = (item for item in widget.scene().items() if isinstance(item, QGraphicsTextItem))
            yield from ((f"text in {where}", item.toHtml()) for item in texts)


def test_no_widget_shows_names_of_files_as_rich_text_or_with_control_characters(window, qtbot):
    """Whatever shows such a name shows its tags as text, and nothing turns or colors what follows it."""
    window.toolbars.fill_menus()
    window.command_palette_controller.open()

    def shown():  # panels follow one after the other
        texts = dict.fromkeys(_rich_texts(window))
        assert [(where, text[:300]) for where, text in texts if "<img" in text] == []
        return sum("passwd" in text for _where, text in texts) >= 5  # in tips and plots at all

    qtbot.waitUntil(shown)
    labels = [label.text() for label in window.findChildren(QLabel)]
    assert any("passwd" in text for text in labels)
    assert [text for text in labels if set(text) & set(TURNED) - set("txt[31m")] == []
    assert "\u202e" not in window.windowTitle() and "\x1b" not in window.windowTitle()
