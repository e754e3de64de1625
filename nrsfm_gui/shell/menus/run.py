"""Rows of the menu Run: starting, holding, stopping and steering the solver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nrsfm_gui.shell.actions import ActionSpec, alive, with_reconstruction, with_runs, with_sequence

if TYPE_CHECKING:
    from nrsfm_gui.main_window import MainWindow


def run_rows(w: MainWindow) -> tuple[ActionSpec, ...]:
    """Return the rows of the menu Run."""
    control = w.control
    return (
        ActionSpec("run", "&Run", "&Run",
                   "New run with these parameters: it goes on from what is shown, the runs so far stay",
                   w.run, ("Ctrl+R",), with_sequence, icon="run"),
        ActionSpec("run_cold", "&Run", "New run from &scratch",
                   "New run with these parameters that uses nothing of those before, as the command does",
                   w.run_from_scratch, ("Ctrl+Shift+R",), with_sequence),
        ActionSpec("pause", "&Run", "Pa&use", "Hold the solver between two iterations", control.set_paused,
                   ("Ctrl+P",), alive, checkable=True, icon="pause"),
        ActionSpec("step", "&Run", "S&tep", "Do one iteration, then hold", w.step, ("Ctrl+T",), with_sequence,
                   icon="step"),
        ActionSpec("stop", "&Run", "Sto&p", "Stop; the best point so far is kept", control.cancel,
                   ("Ctrl+.",), alive, icon="stop"),
        ActionSpec("reset", "&Run", "&Forget runs",
                   "Forget the runs of this sequence, but for pinned ones; Ctrl+Z takes them back",
                   w.run_history.forget_all, ("Ctrl+Shift+Backspace",), with_runs, icon="forget",
                   separated=True),
        ActionSpec("compare", "&Run", "&Compare two runs",
                   "Lay the run before it beside the one that is shown, or stop comparing",
                   w.comparing.toggle, ("Ctrl+D",), with_runs, separated=True),
        ActionSpec("live", "&Run", "&Live parameters",
                   "While on, the reconstruction follows weights, penalty, eta and rank as you change them: "
                   "in a run of its own, so that a run that is done stays as it is",
                   control.set_live, ("Ctrl+L",), checkable=True, checked=control.live, icon="live",
                   separated=True),
        ActionSpec("guidance", "&Run", "&Guidance without truth",
                   "Find the value of a parameter that predicts best what was hidden from the solver",
                   lambda: w.guidance.show(), (), with_reconstruction),
        ActionSpec("earlier", "&Run", "&Earlier iteration", "Look at the run as it was before",
                   lambda: w.steering.step_moment(-1), ("Ctrl+Left",), with_reconstruction, separated=True),
        ActionSpec("later", "&Run", "Later &iteration", "Look at the run as it was after that",
                   lambda: w.steering.step_moment(1), ("Ctrl+Right",), with_reconstruction),
        ActionSpec("newest", "&Run", "&Newest iteration", "Look at the run as it is now",
                   lambda: w.steering.look_at(None), ("Ctrl+End",), with_reconstruction),
        ActionSpec("slow", "&Run", "Slow &motion", "Wait a tenth of a second after every iteration",
                   control.set_slow, ("Ctrl+M",), checkable=True),
    )  # fmt: skip
