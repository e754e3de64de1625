"""The errors of the runs that are not shown: stored as numbers, computed one by one in a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, pyqtSignal

from nrsfm_gui.engine.jobs import Job, Jobs
from nrsfm_gui.scene.sequence_errors import Wanted, find_quality

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nrsfm_gui.model.run import Run
    from nrsfm_gui.scene.shapes import Alignment
    from nrsfm_gui.scene.summaries import Quality


class Qualities(QObject):
    """Knows the errors of runs, and finds out those that are asked for.

    Signals
    -------
    found()
        errors that were asked for are known now.
    failed(str, str)
        a sentence and the traceback of a defect.
    """

    found = pyqtSignal()
    failed = pyqtSignal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._known: dict[Run, tuple[Wanted, Quality]] = {}  # numbers only: pictures of all would be large
        self._asked: dict[Run, Wanted] = {}  # in their order
        self._jobs = Jobs(self)
        self._jobs.ended.connect(self._end)
        self._over = False

    def note(self, run: Run, wanted: Wanted, quality: Quality) -> None:
        """Keep what is known of a run."""
        self._known[run] = wanted, quality

    def of(self, run: Run, alignment: Alignment, *, ask: bool, exact: bool = False) -> Quality | None:
        """Return the errors of a run, or those it had before; None where it had none in this alignment.

        None, too, where they are to be `exact` and only those that it had before are known. Where they are
        not known, `ask` has them computed: `found` tells.
        """
        if run.last is None:
            return None
        known, wanted = self._known.get(run), Wanted(run.sequence, run.last, alignment)
        if known is not None and known[0].shapes_as(wanted):
            return known[1]
        if ask:
            self._asked[run] = wanted
            self._go_on()
        return None if exact or known is None or known[0].alignment != alignment else known[1]

    def keep(self, runs: Iterable[Run]) -> None:
        """Forget all runs but these."""
        kept = set(runs)
        self._known = {run: known for run, known in self._known.items() if run in kept}
        self._asked = {run: wanted for run, wanted in self._asked.items() if run in kept}

    def shut_down(self) -> None:
        """Wait for what is being computed, and compute no more."""
        self._over = True
        self._jobs.wait()

    def _go_on(self) -> None:
        if self._over or self._jobs or not self._asked:
            return
        run = next(iter(self._asked))
        wanted = self._asked.pop(run)
        self._jobs.start(
            Job(
                lambda _job: find_quality(wanted),
                done=lambda quality: self.note(run, wanted, quality),
                failed=self.failed.emit,
            )
        )

    def _end(self) -> None:
        self._go_on()
        if not self._over:
            self.found.emit()
