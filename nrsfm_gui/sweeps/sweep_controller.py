"""The window of a sweep: what it reads, and what the main window shows of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, QTimer
from PyQt6.QtWidgets import QWidget

from core import InputError
from core.foundation import printable, protecting
from core.io.readers import named_path, resolve
from nrsfm_gui.engine.jobs import Job, Jobs, Order
from nrsfm_gui.engine.run_control import RunControl
from nrsfm_gui.model.app_store import AppStore
from nrsfm_gui.model.notifier import Notifier
from nrsfm_gui.model.run import Run
from nrsfm_gui.model.session import Session
from nrsfm_gui.sessions.opening import SequenceOpening
from nrsfm_gui.text.table_text import TABS, shortened
from nrsfm_gui.widgets.dialogs import PathKind, ask_for_path, bring_to_front
from nrsfm_gui.widgets.fields import copy_text
from nrsfm_gui.widgets.plots.plot_export import FIGURE_FORMATS, FigureSize, save_figure

if TYPE_CHECKING:
    from core.experiments.sweep.rows import SweepReader, SweepRun
    from nrsfm_gui.sweeps.sweep_window import SweepWindow
    from nrsfm_gui.text.sweep_rows import SweepRows

LEAST_SECONDS = 2.0  # between two looks at the files of a sweep
SHARE = 10.0  # and at least so many times as long as the last one took
MOST_SECONDS = 30.0  # and at most, also where the files could not be read
MOST_COPIED = 20_000  # rows: a clipboard is no place for more
LOWER_PART = 0.45  # of the main window, which the window covers where the screen has no room beside it
FIGURE_SIZE = FigureSize(14.0, 10.0)


class SweepController(QObject):
    """Shows the window of a sweep, reads what its runs append, and opens the run that is wanted."""

    def __init__(
        self,
        session: Session,
        control: RunControl,
        opening: SequenceOpening,
        store: AppStore,
        main: QWidget,
        *,
        solve: Callable[[], object],
        show_parameters: Callable[[], object],
        show_shortcuts: Callable[[QWidget], object],
        show_palette: Callable[[], object],
    ) -> None:
        super().__init__(main)
        self._session, self._control, self._opening, self._store = session, control, opening, store
        self._main, self._solve, self._show_parameters = main, solve, show_parameters
        self._show_shortcuts, self._show_palette = show_shortcuts, show_palette
        self.notifier = Notifier(self)  # of the window of the sweep
        self.window: SweepWindow | None = None  # made when it is first needed
        self._reader: SweepReader | None = None
        self._jobs = Jobs(self, Order.NEWEST)
        self._shown: dict[str, Run] = {}  # the runs of the session that were read, by key
        self._moved: dict[str, str] = {}  # where folders of data are now
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.refresh)
        self._refusal = ""  # the sentence of the last read, where it failed
        opening.sweep_found.connect(self.open)
        session.shown_changed.connect(lambda _run: self._mark_shown())

    # -- what the actions call ------------------------------------------------------------------------------

    def open(self, folder: Path) -> None:
        """Show the runs of a sweep."""
        from core.experiments.sweep.rows import SweepReader

        window = self._made_window()
        if self._reader is None or self._reader.folder != folder:
            self._reader, self._shown = SweepReader(folder), {}
            self._jobs.cancel()
            window.set_folder(folder)
            window.set_rows(None)
            window.table.empty.show_text("Reading the runs…")
        self._session.set_sweep(folder)
        self.show()

    def show(self) -> None:
        """Show the window of the open sweep."""
        if self.window is not None:
            if not self.window.isVisible():
                self._place(self.window)
            bring_to_front(self.window)
            self.window.table.setFocus()
            self.refresh()

    def _place(self, window: SweepWindow) -> None:
        """Put the window where it was, else beside the main one, or over its lower part without room."""
        screen, frame = self._main.screen(), self._main.frameGeometry()
        if window.restoreGeometry(self._store.sweep_geometry) or screen is None:
            return
        area = screen.availableGeometry()
        if area.right() - frame.right() >= window.width():
            window.move(frame.right() + 1, frame.top())
        elif frame.left() - area.left() >= window.width():
            window.move(frame.left() - window.width(), frame.top())
        elif area.bottom() - frame.bottom() >= window.height():
            window.move(frame.left(), frame.bottom() + 1)
        else:
            part = frame.intersected(area)
            height = max(round(LOWER_PART * part.height()), window.minimumHeight())
            window.setGeometry(part.left(), part.bottom() + 1 - height, part.width(), height)

    def use_chosen(self, how: str) -> None:
        """Show the chosen run, go on live from it, or solve it again."""
        uses: dict[str, Callable[[int], object]] = {
            "show": lambda run: self._on_run_requested(run, in_front=True),
            "live": self._on_live_requested,
            "again": self._solve_run,
        }
        if self.window is not None and self.window.chosen >= 0:
            uses[how](self.window.chosen)
        else:
            self._session.notifier.inform(
                "No run of the sweep is chosen", action=("Show the sweep", self.show)
            )

    def refresh(self) -> None:
        """Read what was appended since; later again while the window is on view."""
        from nrsfm_gui.text.sweep_rows import build_rows

        reader, window = self._reader, self.window
        if reader is None or window is None or self._jobs:
            return
        before = None if window.rows is None else window.rows.sweep
        began = time.monotonic()

        def read() -> SweepRows | None:
            if not reader.folder.is_dir():  # else it would have no run; it may be mounted again
                raise InputError(f"{reader.folder} is not there any more")
            sweep = reader.read()
            return None if sweep is before else build_rows(sweep)

        self._jobs.start(
            Job(
                lambda _job: read(),
                done=lambda rows: self._on_read(reader, rows, time.monotonic() - began),
                failed=lambda sentence, details: self._on_failed(reader, sentence, details),
            )
        )

    def copy_table(self, form: str = TABS) -> None:
        """Put the rows of the table onto the clipboard, in one of TABLE_FORMS."""
        window = self.window
        if window is None or window.rows is None or not len(window.order):
            self.notifier.inform("There is no row to copy")
            return
        order = window.order[:MOST_COPIED]
        part = f" of {len(window.order)}; Export writes all of them" if len(order) < len(window.order) else ""
        self._copy(window.rows.text(window.table.columns, order, form), f"{len(order)} rows{part}")

    def copy_map(self, form: str = TABS) -> None:
        """Put the heat map as a table onto the clipboard, in one of TABLE_FORMS."""
        from nrsfm_gui.text.sweep_map import map_text

        state = None if self.window is None else self.window.map.state
        if state is None:
            self.notifier.inform("There is no heat map to copy")
        else:
            self._copy(map_text(state, form), "the heat map as a table")

    def _copy(self, text: str, what: str) -> None:
        copy_text(text)
        self.notifier.inform(f"Copied {what}")

    def ask_for_table(self) -> None:
        """Ask for a file, and write the rows of the table."""
        self._ask("Save the table", ".csv", "CSV (*.csv)", self.save_table)

    def save_table(self, path: Path) -> None:
        """Write the rows of the table as csv, as they are sorted and filtered."""
        from core.experiments.report import write_frame

        window = self.window
        if window is not None and window.rows is not None:
            table = window.rows.table(window.rows.columns, window.order)
            self._write(path, lambda: write_frame(path, table))

    def ask_for_figure(self) -> None:
        """Ask for a file, and write the heat map."""
        missing = "" if self.window is None else self.window.map.figure.missing
        if missing:
            self.notifier.inform(f"There is no heat map to save: {missing}")
            return
        kinds = ";;".join(f"{suffix[1:].upper()} (*{suffix})" for suffix in FIGURE_FORMATS)
        self._ask("Save the heat map", ".png", kinds, self.save_figure)

    def save_figure(self, path: Path) -> None:
        """Write the heat map as a figure for a paper."""
        if self.window is not None:
            figure = self.window.map.figure
            self._write(path, lambda: save_figure(figure, path, FIGURE_SIZE))

    def _ask(self, title: str, suffix: str, filters: str, save: Callable[[Path], object]) -> None:
        if self.window is not None and self._reader is not None:
            start = self._store.writing_folder / f"{self._reader.folder.name}_sweep{suffix}"
            ask_for_path(self.window, title, save, kind=PathKind.NEW_FILE, start=start, filters=filters)

    def shut_down(self) -> None:
        """Wait for what is being read, and close the window."""
        self._timer.stop()
        self._jobs.shut_down()
        self.notifier.close()
        if self.window is not None:
            self.window.close()
            self.window.deleteLater()
            self.window = None

    # -- reading --------------------------------------------------------------------------------------------

    def _made_window(self) -> SweepWindow:
        if self.window is None:
            from nrsfm_gui.sweeps.sweep_window import SweepWindow

            self.window = window = SweepWindow()
            window.messages.listen_to(self.notifier)
            window.run_requested.connect(self._on_run_requested)
            window.live_requested.connect(self._on_live_requested)
            window.solve_requested.connect(self._solve_run)
            window.copy_requested.connect(self.copy_table)
            window.map_copy_requested.connect(self.copy_map)
            window.table_export_requested.connect(self.ask_for_table)
            window.figure_export_requested.connect(self.ask_for_figure)
            window.refresh_requested.connect(self.refresh)
            window.shortcuts_requested.connect(lambda: self._show_shortcuts(window))
            window.palette_requested.connect(self._on_palette_requested)
            window.closed.connect(lambda: setattr(self._store, "sweep_geometry", window.saveGeometry()))
        return self.window

    def _on_read(self, reader: SweepReader, rows: SweepRows | None, seconds: float) -> None:
        window = self.window
        if reader is not self._reader or window is None:
            self.refresh()
            return
        if rows is not None:
            window.set_rows(rows)
        self._refusal = ""
        self._read_again_after(max(LEAST_SECONDS, SHARE * seconds))

    def _on_failed(self, reader: SweepReader, sentence: str, details: str) -> None:
        window = self.window
        if reader is self._reader and window is not None:
            if window.rows is None:
                window.table.empty.show_text(printable(sentence))
            elif sentence != self._refusal:
                self.notifier.warn(sentence)
            self._refusal = sentence
        if details:
            self._session.notifier.fail(sentence, details)
        else:
            self._read_again_after(MOST_SECONDS)

    def _read_again_after(self, seconds: float) -> None:
        if self.window is not None and self.window.isVisible():
            self._timer.start(round(1000 * min(seconds, MOST_SECONDS)))

    # -- runs -----------------------------------------------------------------------------------------------

    def _on_run_requested(self, run: int, in_front: bool) -> None:
        if self._show_result(run) and in_front:
            self._raise_main()

    def _on_live_requested(self, run: int) -> None:
        if not self._show_result(run, self._begin_live):
            self._solve_run(run, live=True)

    def _show_result(self, run: int, then: Callable[[], object] | None = None) -> bool:
        """Show the reconstruction of a run; return False, with an offer to make it, where it was not kept."""
        assert self.window is not None and self.window.rows is not None
        rows = self.window.rows
        key, path = rows.key(run), rows.sweep.result(run)
        known = self._shown.get(key)
        if known is not None and known in self._session.runs_of(known.sequence):
            if self._session.sequence is not known.sequence:
                self._opening.open_sequence(known.sequence)
            self._control.select(known)
            if then is not None:
                then()
            return True
        if path is None:
            if then is None:
                reason = shortened(rows.sweep.runs["error"].iat[run]) or "its result was not kept"
                self.notifier.inform(
                    f"This run has no reconstruction: {reason}",
                    action=("Solve again", lambda: self._solve_run(run)),
                )
            return False
        title, name = rows.run_title(run, sequence=False), rows.run_title(run)
        self._opening.open_result(path, title=title, name=name, then=lambda: self._remember(key, then))
        return True

    def _remember(self, key: str, then: Callable[[], object] | None) -> None:
        if self._session.shown is not None:
            self._shown[key] = self._session.shown
            self._mark_shown()
        if then is not None:
            then()

    def _mark_shown(self) -> None:
        """Tell the window which of its runs is shown."""
        if self.window is not None:
            shown = self._session.shown
            self.window.set_shown(next((key for key, run in self._shown.items() if run is shown), ""))

    def _begin_live(self) -> None:
        self._session.set_live(True)
        self._raise_main()
        self._show_parameters()
        self._session.notifier.inform("Live: change a parameter, and another run goes on from this one.")

    def _raise_main(self) -> None:
        self._main.raise_()
        self._main.activateWindow()

    def _solve_run(self, run: int, *, live: bool = False) -> None:
        """Open the sequence of a run, and solve it with its settings."""
        assert self.window is not None and self.window.rows is not None and self._reader is not None
        try:
            made = self._reader.load_run(self.window.rows.key(run))
        except InputError as error:
            self.notifier.warn(str(error))
            return
        source = self._found(made.source)
        if source is None:
            self.notifier.warn(
                f"{made.source} is not there any more, or is on another computer",
                action=("Show where it is…", lambda: self._ask_where(made, live=live)),
            )
            return
        self._opening.open(source, made.reading, then=lambda: self._start(made, live=live))

    def _ask_where(self, made: SweepRun, *, live: bool) -> None:
        """Ask for a sequence that was moved."""
        assert self.window is not None
        name = Path(made.source).name
        title, filters = f"Where is {printable(name)}?", f"{name} ({name});;All files (*)"
        ask_for_path(self.window, title, lambda path: self.use_data(made, path, live=live), filters=filters)

    def use_data(self, made: SweepRun, path: Path, *, live: bool = False) -> None:
        """Solve a run again with a sequence that was moved; others that were moved with it are found, too."""
        old, new = Path(made.source).parts, path.parts
        same = 0
        while same < min(len(old), len(new)) and old[-1 - same] == new[-1 - same]:
            same += 1
        self._moved[str(Path(*old[: len(old) - same]))] = str(Path(*new[: len(new) - same]))
        self._opening.open(path, made.reading, then=lambda: self._start(made, live=live))

    def _found(self, source: str) -> str | None:
        """Return where a sequence is now, None where that is not known, or it is on another computer."""
        assert self._reader is not None  # it has read the run
        with suppress(InputError):  # of a bundled sequence that is not installed
            found: Path | None = resolve(Path(source))
            if found == Path(source):
                found = named_path(source, self._reader.folder / "runs.jsonl")
            if found is not None and found.exists():
                return source
        for old, new in self._moved.items():
            if Path(source).is_relative_to(old):
                moved = Path(new) / Path(source).relative_to(old)
                if moved.exists():
                    return str(moved)
        return None

    def _start(self, made: SweepRun, *, live: bool) -> None:
        session = self._session
        sequence = session.sequence
        self._control.ignore_settings(made.settings)  # they are set for the run that follows
        session.set_settings(made.settings)
        self._raise_main()
        self._solve()
        if live:
            session.set_live(True)
            self._show_parameters()
        if sequence is not None and sequence.content != made.content:
            session.notifier.warn(
                f"{sequence.name} is not what it was when the sweep was run: the numbers will be other ones"
            )

    def _on_palette_requested(self) -> None:
        self._raise_main()
        self._show_palette()

    # -- writing --------------------------------------------------------------------------------------------

    def _write(self, path: Path, write: Callable[[], object]) -> None:
        from core.experiments.job_store import RUNS

        folder = None if self._reader is None else self._reader.folder
        own = {} if folder is None else {folder / RUNS: "a file of the sweep"}
        try:
            with protecting(self._session.inputs() | own):
                write()
        except (InputError, OSError) as refusal:
            self.notifier.warn(str(InputError.of(refusal)))
        else:
            self._store.writing_folder = path.parent
            self.notifier.inform(f"Saved {path}")
