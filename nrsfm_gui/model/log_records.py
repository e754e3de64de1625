"""The log of the application, line by line: for the panel "Log", and for the report of a defect.

The window adds lines to a logbook. `Logbook.listen` adds the messages of Python's `logging`, of `warnings`
and of Qt. Lines may come from any thread.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum

from PyQt6.QtCore import QMessageLogContext, QObject, QtMsgType, pyqtSignal, qInstallMessageHandler

from core.foundation import printable

LINES = 5000  # kept; older ones are forgotten
LOGGERS = ("core", "nrsfm_gui", "py.warnings")
LONGEST = 20_000  # characters of the details of one line


class Level(IntEnum):
    """How much a line matters, with the numbers of `logging`."""

    DETAIL = logging.DEBUG
    INFO = logging.INFO
    WARNING = logging.WARNING
    ERROR = logging.ERROR


@dataclass(frozen=True)
class LogLine:
    """One line of the log."""

    level: Level
    source: str  # "window", "run 3", "core.io.readers", "qt"
    text: str
    details: str = ""  # a traceback
    time: datetime = field(default_factory=datetime.now)

    def __str__(self) -> str:
        """Return the line as it is copied and saved."""
        stamp = self.time.strftime("%H:%M:%S.%f")[:-3]
        head = f"{stamp}  {self.level.name:<7}  {self.source:<10}  {self.text}"
        return "\n".join([head, *(f"    {line}" for line in self.details.splitlines())])


class Logbook(QObject):
    """The newest lines."""

    added = pyqtSignal(object)  # a line was added
    cleared = pyqtSignal()  # all lines were forgotten
    _arrived = pyqtSignal(object)  # from any thread

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.lines: deque[LogLine] = deque(maxlen=LINES)
        self._handler: _Handler | None = None
        self._levels: dict[str, int] = {}
        self._qt_before: Callable[[QtMsgType, QMessageLogContext, str | None], None] | None = None
        self._arrived.connect(self._add)

    def add(self, level: Level, source: str, text: str, details: str = "") -> None:
        """Add a line; from any thread."""
        escaped = "\n".join(map(printable, text.split("\n")))
        self._arrived.emit(LogLine(level, source, escaped, details[-LONGEST:]))

    def clear(self) -> None:
        """Forget all lines."""
        self.lines.clear()
        self.cleared.emit()

    def text(self) -> str:
        """Return all lines as text."""
        return "".join(f"{line}\n" for line in self.lines)

    def listen(self) -> None:
        """Receive the messages of `logging`, `warnings` and Qt from now on, as the present receivers do."""
        if self._handler is not None:
            return
        self._handler = _Handler(self)
        for name in LOGGERS:
            logger = logging.getLogger(name)
            self._levels[name] = logger.level
            logger.addHandler(self._handler)
            if logger.level == logging.NOTSET:
                logger.setLevel(logging.INFO)
        logging.captureWarnings(True)
        self._qt_before = qInstallMessageHandler(self._on_qt_message)

    def shut_down(self) -> None:
        """Leave `logging`, `warnings` and Qt as they were."""
        if self._handler is None:
            return
        for name in LOGGERS:
            logger = logging.getLogger(name)
            logger.removeHandler(self._handler)
            logger.setLevel(self._levels[name])
        self._handler = None
        logging.captureWarnings(False)
        now = qInstallMessageHandler(self._qt_before)
        if now != self._on_qt_message:  # another one came since, and stays
            qInstallMessageHandler(now)
        self._qt_before = None

    def _add(self, line: LogLine) -> None:
        self.lines.append(line)
        self.added.emit(line)

    def _on_qt_message(self, kind: QtMsgType, context: QMessageLogContext, message: str | None) -> None:
        levels = {
            QtMsgType.QtDebugMsg: Level.DETAIL,
            QtMsgType.QtInfoMsg: Level.INFO,
            QtMsgType.QtWarningMsg: Level.WARNING,
        }
        self.add(levels.get(kind, Level.ERROR), "qt", message or "")
        if self._qt_before is not None:
            self._qt_before(kind, context, message)


class _Handler(logging.Handler):
    """Hands the records of `logging` to a logbook."""

    def __init__(self, logbook: Logbook) -> None:
        super().__init__()
        self._logbook = logbook

    def emit(self, record: logging.LogRecord) -> None:
        try:
            level = max((known for known in Level if known <= record.levelno), default=Level.DETAIL)
            details = "" if record.exc_info is None else logging.Formatter().formatException(record.exc_info)
            source = "python" if record.name == "py.warnings" else record.name
            self._logbook.add(level, source, record.getMessage().strip(), details)
        except Exception:  # a line that cannot be formatted must not end the caller
            self.handleError(record)
