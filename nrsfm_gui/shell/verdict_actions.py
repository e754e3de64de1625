"""What can be done about a verdict on a run: look at its frames, mirror them, or compare another shape."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from PyQt6.QtCore import QObject

from core import Iterate
from core.depth import FrameBlock
from core.foundation import DEPTHS
from core.reconstruction import Verdict
from nrsfm_gui.engine.run_control import RunControl
from nrsfm_gui.model.names import sentence_name
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.model.session import Session
from nrsfm_gui.panels.appearance.appearance_panel import AppearancePanel
from nrsfm_gui.panels.comparison.compare_controller import CompareController
from nrsfm_gui.scene.incumbent import Quality
from nrsfm_gui.scene.run_errors import RunErrors
from nrsfm_gui.scene.summaries import measure, objective_value


class VerdictActions(QObject):
    """Does what a verdict on the shown run offers, and reports what mirrored frames have brought."""

    def __init__(
        self,
        session: Session,
        control: RunControl,
        errors: RunErrors,
        appearance: AppearancePanel,
        compare: CompareController,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._control, self._errors = session, control, errors
        self._appearance, self._compare = appearance, compare
        self._mirrored: dict[Run, tuple[Run, FrameBlock]] = {}  # the runs that have frames of others mirrored
        control.ended.connect(self._on_run_ended)

    def act(self, verdict: Verdict) -> None:
        """Do what a verdict on the shown run offers."""
        run = self._session.shown
        if run is not None and run.last is not None and verdict.action is not None:
            actions = {"look": self._look, "compare": self._compare_other, "mirror": self._mirror}
            actions[verdict.action](verdict, run, run.last)

    def dismiss(self, verdict: Verdict) -> None:
        """Show a verdict on the shown run no more. It can be undone."""
        session, run = self._session, self._session.shown
        if run is None:
            return
        before, after = run.dismissed, run.dismissed | {verdict.sentence}

        def show(dismissed: frozenset[str]) -> None:
            session.change_run(run, dismissed=dismissed)

        session.record_view_change(f"verdict {verdict.sentence}", "remark dismissed", before, after, show)
        show(after)

    def _look(self, verdict: Verdict, _run: Run, _last: Iterate) -> None:
        """Go to the frames, which are played then, and color by the uncertainty where there is one."""
        session = self._session
        if verdict.frames is not None:
            first, last = verdict.frames
            session.set_frame(first)
            session.set_frame_range((first, last) if last > first else None)
        seen = session.seen
        if seen is not None and seen.geometry.std is not None:
            self._appearance.show_uncertainty(True)

    def _compare_other(self, verdict: Verdict, run: Run, last: Iterate) -> None:
        """Compare the end that the verdict names, else the next one, else the bilinear solution."""
        names = list(last.alternatives)
        ends = sorted(names[1:], key=lambda name: name.partition(": ")[2] not in verdict.sentence)
        if not names:
            self._session.notifier.inform(f"Run {sentence_name(run)} holds no other shape to compare with.")
        else:
            self._compare.compare_solution((ends or names)[0])

    def _mirror(self, verdict: Verdict, source: Run, last: Iterate) -> None:
        """Mirror the frames of the refined shape, and refine it again in a run of its own."""
        frames = verdict.frames or (0, source.sequence.frame_count - 1)
        self._session.set_moment(None)
        settings = last.settings.with_changes(mirror=f"{frames[0] + 1}-{frames[1] + 1}")
        run = self._control.start(warm=True, settings=settings)
        self._mirrored[run] = source, FrameBlock(frames[0], frames[1] + 1)

    def _on_run_ended(self, run: Run) -> None:
        """Find the errors before and after frames were mirrored."""
        if run not in self._mirrored:
            return
        source, block = self._mirrored.pop(run)
        if run.state is RunState.FINISHED and run.last is not None and source.last is not None:
            solutions = {"before": source.last, "after": run.last}
            energies = [objective_value(each.energy, DEPTHS) for each in solutions.values()]
            self._errors.find(run, solutions, partial(self._report, run, source, block, energies))

    def _report(
        self, run: Run, source: Run, block: FrameBlock, energies: list[str], found: Mapping[str, Quality]
    ) -> None:
        """Report energies and errors before and after, and offer to compare the two runs."""
        parts = ["energy {} before, {} after".format(*energies)]
        errors = [found[name].error for name in ("before", "after")]
        if None not in errors:
            unit = found["after"].unit
            parts.append("3-D error {} before, {} after".format(*(measure(each, unit) for each in errors)))
        self._session.notifier.inform(
            f"Run {sentence_name(run)} has {block} of run {sentence_name(source)} mirrored: "
            f"{'; '.join(parts)}.",
            action=(f"Compare with run {sentence_name(source)}", lambda: self._compare.compare(source)),
        )
