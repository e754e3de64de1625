"""Recovery of the sessions of windows that ended without closing: killed, crashed, or without power."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from PyQt6.QtCore import QObject, Qt
from PyQt6.QtWidgets import QFrame, QPushButton, QSizePolicy

from core import InputError
from core.foundation import remove_temporaries
from nrsfm_gui.engine.throttle import Debounce
from nrsfm_gui.model.notifier import Notifier
from nrsfm_gui.sessions.autosave import MARK, PREFIX, LockedFile, time_text
from nrsfm_gui.sessions.opening import SequenceOpening
from nrsfm_gui.sessions.session_file import SUFFIX, session_summary
from nrsfm_gui.widgets.fields import row, with_tip
from nrsfm_gui.widgets.labels import PlainLabel

BUTTONS = {
    "Recover": "Open that session as it was last saved automatically; it replaces the open one",
    "Discard": "Delete the file of that session",
    "Later": "Change nothing, and ask again at the next start",
}
SETTLED_MILLISECONDS = 3000  # after which a session that is shown has not ended its window


class Recovery(QObject):
    """Offers lost sessions, one after the other, in a bar over the views."""

    def __init__(self, notifier: Notifier, opening: SequenceOpening, folder: Path, parent: QObject) -> None:
        super().__init__(parent)
        self._notifier, self._opening, self._folder = notifier, opening, folder
        self._lost: list[LostSession] = []  # the first one is offered
        self._chosen: tuple[LostSession, str] | None = None  # being opened, and its description
        self._mark: Path | None = None  # of that one
        self.cautious = False  # whether the window ended when that one was opened before
        self._settled = Debounce(self._remove_mark, SETTLED_MILLISECONDS, self)
        self.bar = RecoveryBar()
        for title, act in zip(BUTTONS, (self._recover, self._discard, self.shut_down), strict=True):
            self.bar.buttons[title].clicked.connect(lambda _checked, act=act: act())
        opening.failed.connect(self._on_opening_failed)

    def offer(self) -> None:
        """Look for lost sessions, and offer the newest."""
        self._lost = lost_sessions(self._folder)
        self._update_bar()

    def shut_down(self) -> None:
        """Release the sessions without an answer, so that another window can offer them."""
        for lost in self._lost:
            lost.release()
        self._lost = []
        self._remove_mark()

    def follow(self, path: Path) -> None:
        """Move the mark of the session that is being opened: its file has another name now."""
        if self._mark is not None:
            with suppress(OSError):
                self._mark = self._mark.replace(path.with_suffix(MARK))

    def _remove_mark(self) -> None:
        if self._mark is not None:
            with suppress(OSError):
                self._mark.unlink()
            self._mark = None

    def _update_bar(self) -> None:
        if not self._lost:
            return
        first, *others = self._lost
        ended = " The window ended when it was opened; it is recovered without its view."
        again = ended if first.mark.exists() else ""
        more = f" {len(others)} more {'are' if len(others) > 1 else 'is'} kept." if others else ""
        self.bar.offer(f"A session was not closed properly: {first.describe()}.{again}{more}")

    def _recover(self) -> None:
        lost = self._lost.pop(0)
        self._chosen = lost, lost.describe()
        self.shut_down()
        self.cautious, self._mark = lost.mark.exists(), lost.mark
        with suppress(OSError):  # a full disk
            lost.mark.touch()
        self._opening.open(lost.path)

    def _discard(self) -> None:
        discarded = self._lost.pop(0)
        discarded.remove()
        discarded.release()
        self._update_bar()

    def report_recovered(self, path: Path) -> None:
        """Report that a recovered session is open; its file belongs to this window now."""
        if self._chosen is not None and path == self._chosen[0].path:
            self._notifier.inform(f"Recovered {self._chosen[1]}.")
            self._release()
            self._settled.request()

    def _on_opening_failed(self, *_: object) -> None:
        self._release()
        self._remove_mark()

    def _release(self) -> None:
        self.cautious = False
        if self._chosen is not None:
            self._chosen[0].release()
            self._chosen = None


class RecoveryBar(QFrame):
    """A bar that offers a lost session, until one of its buttons is pressed."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "banner")
        self.setProperty("edge", "accent")
        self._text = PlainLabel(wraps=True)
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        layout = row((self._text, 1), spacing=6, margins=(12, 6, 8, 6))
        self.setLayout(layout)
        self.buttons = {
            title: with_tip(QPushButton(title), f"{title}: {tip}", tip) for title, tip in BUTTONS.items()
        }
        for button in self.buttons.values():
            button.clicked.connect(self.hide)
            layout.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        self.hide()

    def offer(self, sentence: str) -> None:
        """Show the bar with a sentence about a session."""
        self._text.setText(sentence)
        self._text.setAccessibleName(sentence)
        self.show()


class LostSession(LockedFile):
    """The session of a process that has ended, locked so that no other window offers it."""

    saved = 0.0  # when, in seconds since 1970

    def describe(self) -> str:
        """Return its content and its time: "2 runs of balloon circle, saved at 18:32 today"."""
        time = f"saved at {time_text(self.saved)}"
        try:
            return f"{session_summary(self.path)}, {time}"
        except InputError:
            return time


def lost_sessions(folder: Path) -> list[LostSession]:
    """Return the sessions whose processes ended without closing them, the newest first."""
    remove_temporaries(folder)
    found = []
    for stem in {path.stem for path in folder.glob(f"{PREFIX}*")}:  # of files and of locks
        lost = LostSession(folder / f"{stem}{SUFFIX}")
        if not lost.lock():
            continue
        try:
            lost.saved = lost.path.stat().st_mtime
        except OSError:
            lost.remove()
            lost.release()
        else:
            found.append(lost)
    return sorted(found, key=lambda lost: lost.saved, reverse=True)
