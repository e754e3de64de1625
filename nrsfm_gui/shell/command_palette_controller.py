"""The command palette of a window: actions, parameters, panels, sequences and runs, by typing their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from PyQt6.QtCore import QObject
from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QDockWidget, QMainWindow, QMenu, QMenuBar

from core import CameraModel
from nrsfm_gui.model.names import numbered_title, settings_text
from nrsfm_gui.model.session import Session
from nrsfm_gui.panels.parameters.parameters_panel import ParametersPanel
from nrsfm_gui.sessions.opening import SequenceOpening
from nrsfm_gui.shell.actions import ACTIONS, OUTSIDE_MENUS, STEP, written_keys
from nrsfm_gui.shell.layout import docks
from nrsfm_gui.shell.toolbars import Toolbars
from nrsfm_gui.text.help_pages import panel_texts
from nrsfm_gui.widgets.command_palette import CommandPalette, PaletteEntry
from nrsfm_gui.widgets.labels import known, tip_as_text

PANELS_PLACE = f"View{STEP}Panels"
EXPORTS = "Export"  # the menu of what is exported


class CommandPaletteController(QObject):
    """Owns the palette; the entries are collected each time that it opens."""

    def __init__(
        self,
        toolbars: Toolbars,
        session: Session,
        opening: SequenceOpening,
        parameters: ParametersPanel,
        window: QMainWindow,
        *,
        show_panel: Callable[[QDockWidget], object],
        show_run: Callable[[int], object],
    ) -> None:
        super().__init__(window)
        self._toolbars, self._session, self._opening = toolbars, session, opening
        self._parameters, self._window = parameters, window
        self._show_panel, self._show_run = show_panel, show_run
        self.view = CommandPalette(window)

    def open(self) -> None:
        """Show the palette."""
        self.view.open(self.entries())

    def entries(self) -> tuple[PaletteEntry, ...]:
        """Return all that can be found; what opens the palette itself is left out."""
        found = [*self._of_menus(), *self._parameters.parameter_entries(), *self._of_panels()]
        titles = {entry.title for entry in found if entry.kind == "sequence"}
        found += (entry for entry in self._of_folder() if entry.title not in titles)
        return (*found, *self._of_runs(), *self._parameters.value_entries())

    def _of_menus(self) -> Iterable[PaletteEntry]:
        """Return everything in the menus, in their order, then what is in none."""
        self._toolbars.fill_menus()
        yield from self._of_menu(known(self._window.menuBar()), "")
        for spec in ACTIONS:
            if spec.name in OUTSIDE_MENUS:
                yield self._entry(self._toolbars.actions[spec.name], "", _plain(spec.menu))

    def _of_menu(self, menu: QMenu | QMenuBar, place: str) -> Iterable[PaletteEntry]:
        for action in menu.actions():
            inner = action.menu()
            if inner is not None:
                where = STEP.join(filter(None, (place, _plain(action.text()))))
                if where != PANELS_PLACE:  # they are shown, not switched on and off
                    yield from self._of_menu(inner, where)
            elif not action.isSeparator() and action.isVisible() and action.objectName() != "palette":
                yield self._entry(action, place, place)

    def _entry(self, action: QAction, place: str, section: str) -> PaletteEntry:
        tip = action.whatsThis() or tip_as_text(action.toolTip())
        reason = self._toolbars.needs(action.objectName()) or "Not possible now"
        return PaletteEntry(
            title=_plain(action.text()),
            place=place,
            tip="" if tip == _plain(action.text()) else tip,
            run=action.trigger,
            kind="sequence" if action.data() else "export" if section == EXPORTS else "action",
            keys=written_keys(action.shortcuts()),
            reason="" if action.isEnabled() else reason,
            checked=action.isChecked() if action.isCheckable() else None,
        )

    def _of_panels(self) -> Iterable[PaletteEntry]:
        for dock in docks(self._window):
            title = dock.windowTitle()
            yield PaletteEntry(title, panel_texts().get(title, ""), partial(self._show_panel, dock), "panel")

    def _of_folder(self) -> Iterable[PaletteEntry]:
        """Return the sequences of the open folder."""
        for entry in self._opening.entries:
            camera = " (orthogonal)" if entry.camera is CameraModel.ORTHOGONAL else ""  # as the samples do
            names = ", ".join(name for name in (entry.object_name, entry.path_name) if name)
            tip = f"{entry.frames} frames of {entry.points} points"
            show = partial(self._opening.open_entry, entry)
            yield PaletteEntry(f"{names}{camera}", tip, show, "sequence", reason=entry.problem)

    def _of_runs(self) -> Iterable[PaletteEntry]:
        for run in self._session.runs:
            show = partial(self._show_run, run.number)
            yield PaletteEntry(numbered_title(run), settings_text(run.settings), show, "run")


def _plain(title: str) -> str:
    """Return a title of a menu without its mark of the letter."""
    return title.replace("&", "")
