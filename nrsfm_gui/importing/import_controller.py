"""The import dialog in the window: when it opens, and what an import changes in the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from nrsfm_gui.importing.camera_form import AUTO, CameraAnswer
from nrsfm_gui.importing.import_dialog import ImportDialog
from nrsfm_gui.model.app_store import StoredImport
from nrsfm_gui.widgets.path_dialog import ask_for_path

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PyQt6.QtWidgets import QWidget

    from core.io.readers import FileContents
    from nrsfm_gui.importing.import_dialog import Import
    from nrsfm_gui.model.session import Session
    from nrsfm_gui.sessions.opening import SequenceOpening


class ImportController(QObject):
    """Shows the import dialog for files that are not clear, and opens what it understood."""

    def __init__(
        self, session: Session, opening: SequenceOpening, window: QWidget, *, show_help: Callable[[], object]
    ) -> None:
        super().__init__(window)
        self._session, self._opening, self._window = session, opening, window
        self._show_help = show_help
        self.dialog: ImportDialog | None = None  # made when it is first needed
        opening.inspected.connect(self._on_inspected)

    def ask(self) -> None:
        """Ask for a file, and show how it is understood."""
        start = self._opening.folder
        sequence = self._session.sequence
        if sequence is not None and sequence.source is not None and sequence.source.is_file():
            start = str(sequence.source)
        ask_for_path(self._window, "Import tracks", self.import_as, start=start, filters="All files (*)")

    def import_as(self, path: str | Path) -> None:
        """Show how a file is understood, also where it is clear."""
        self._opening.inspect(path)

    def shut_down(self) -> None:
        """Wait for what is being read."""
        if self.dialog is not None:
            self.dialog.shut_down()

    def _on_inspected(self, contents: FileContents, how: StoredImport) -> None:
        if self.dialog is None:
            self.dialog = ImportDialog(self._window)
            self.dialog.ready.connect(self.dialog.open)
            self.dialog.imported.connect(self._on_imported)
            self.dialog.rejected.connect(self._opening.give_up)
            self.dialog.help_requested.connect(self._show_help)
        answer = CameraAnswer(how.camera_model or AUTO, how.intrinsics or AUTO)
        self.dialog.set_contents(contents, how.reading, answer)

    def _on_imported(self, chosen: Import) -> None:
        answer = {} if chosen.camera is None else vars(chosen.camera)
        self._opening.open_imported(chosen.sequence, StoredImport(chosen.reading, **answer))
