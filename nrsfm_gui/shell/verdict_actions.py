"""What can be done about a verdict on a run: look at its frames, compare another shape, or repair it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from core.depth import FrameBlock
from nrsfm_gui.model.run import RunState
from nrsfm_gui.model.run_names import sentence_name

if TYPE_CHECKING:
    from core.reconstruction import Verdict
    from nrsfm_gui.engine.run_control import RunControl
    from nrsfm_gui.model.run import Run
    from nrsfm_gui.model.session import Session
    from nrsfm_gui.panels.appearance.appearance_controller import AppearanceController
    from nrsfm_gui.panels.comparison.compare_controller import CompareController


class VerdictActions(QObject):
    """Does what a verdict on the shown run offers, and reports what a repair has brought."""

    def __init__(
        self,
        session: Session,
        control: RunControl,
        appearance: AppearanceController,
        compare: CompareController,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._control = session, control
        self._appearance, self._compare = appearance, compare
        self._repaired: dict[Run, tuple[Run, FrameBlock]] = {}  # the runs that repair others
        control.ended.connect(self._on_run_ended)

    def act(self, verdict: Verdict) -> None:
        """Do what a verdict on the shown run offers."""
        if self._session.shown is None or self._session.shown.last is None:
            return
        actions = {"look": self._look, "compare": self._compare_other, "repair": self._repair}
        if verdict.action is not None:
            actions[verdict.action](verdict)

    def dismiss(self, verdict: Verdict) -> None:
        """Show a verdict on the shown run no more. It can be undone."""
        session, run = self._session, self._session.shown
        if run is None:
            return
        before, after = run.dismissed, run.dismissed | {verdict.sentence}
        show = partial(session.set_dismissed, run)
        session.record_view_change(f"verdict {verdict.sentence}", "remark dismissed", before, after, show)
        show(after)

    def _look(self, verdict: Verdict) -> None:
        """Go to the frames, which are played then, and color by the uncertainty where there is one."""
        session = self._session
        if verdict.frames is not None:
            first, last = verdict.frames
            session.set_frame(first)
            session.set_frame_range((first, last) if last > first else None)
        seen = session.seen
        if seen is not None and seen.geometry.std is not None:
            self._appearance.show_uncertainty(True)

    def _compare_other(self, verdict: Verdict) -> None:
        """Compare the end that the verdict names, else the next one, else the bilinear solution."""
        run = self._session.shown
        assert run is not None and run.last is not None  # `act` has looked
        names = list(run.last.alternatives)
        ends = sorted(names[1:], key=lambda name: name.partition(": ")[2] not in verdict.sentence)
        if not names:
            self._session.notifier.inform(f"Run {sentence_name(run)} holds no other shape to compare with.")
        else:
            self._compare.compare_solution((ends or names)[0])

    def _repair(self, verdict: Verdict) -> None:
        """Mirror the frames of the refined shape, and refine it again in a run of its own."""
        session, source = self._session, self._session.shown
        assert source is not None and source.last is not None  # `act` has looked
        frames = verdict.frames or (0, source.sequence.frame_count - 1)
        session.set_moment(None)
        settings = source.last.settings.with_changes(mirror=f"{frames[0] + 1}-{frames[1] + 1}")
        run = self._control.start(warm=True, settings=settings)
        self._repaired[run] = source, FrameBlock(frames[0], frames[1] + 1)

    def _on_run_ended(self, run: Run) -> None:
        """Report the energies before and after a repair, and offer to compare the two runs."""
        if run not in self._repaired:
            return
        source, block = self._repaired.pop(run)
        if run.state is not RunState.FINISHED or run.last is None or source.last is None:
            return
        now, before = run.last.energy, source.last.energy
        if now is None or before is None:
            return
        change = f"{abs(now - before):.2g} {'lower' if now < before else 'higher'}"
        self._session.notifier.inform(
            f"Run {sentence_name(run)} has {block} of run {sentence_name(source)} mirrored: "
            f"its energy is {change} per point and frame.",
            action=(f"Compare with run {sentence_name(source)}", lambda: self._compare.compare(source)),
        )
