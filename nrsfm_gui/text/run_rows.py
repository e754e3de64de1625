"""The rows of sequences and of runs. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap

from core import METHODS, Sequence
from core.foundation import DEPTHS
from nrsfm_gui.model.names import numbered_title, option_texts, parameters_text, run_title
from nrsfm_gui.model.numbers import NONE
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.scene.comparison import why_losses_differ
from nrsfm_gui.scene.incumbent import Incumbent, Quality
from nrsfm_gui.scene.summaries import measure, objective_value, percent_of, time_left
from nrsfm_gui.text.run_numbers import verdicts_on
from nrsfm_gui.text.status_text import quality_lines

TIP_WIDTH = 90  # letters


@dataclass(frozen=True)
class RunRow:
    """A run; the texts are ready to be shown."""

    number: int
    name: str  # the title, or "recommended", "bilinear, rank 8"
    loss: str
    reprojection: str
    error: str
    tip: str
    note: str = ""
    pinned: bool = False
    compared: bool = False  # whether it is compared with the shown run
    origin: str = ""  # "← 1" of one that went on from run 1, "stopped"
    why_other_loss: str = ""  # why its loss does not compare with that of the run shown


@dataclass(frozen=True)
class SequenceRow:
    """A sequence that the session holds, and its runs."""

    sequence: Sequence
    open: bool
    runs: tuple[RunRow, ...]  # the newest first


def run_row(
    run: Run, found: Incumbent | None, *, shown: Run | None = None, compared: Run | None = None
) -> RunRow:
    """Return the row of a run with its incumbent; the shown run and the compared one change it."""
    why = "" if shown is None or shown is run else why_losses_differ(run, shown)
    known = None if found is None else found.errors
    loss = NONE if found is None else objective_value(found.value, found.objective, digits=3)
    error = NONE if known is None else _error(known, run.sequence.units)
    if error == NONE and found is not None and found.objective == DEPTHS:
        error = ""  # a refined shape keeps the observed rays: its reprojection error says nothing
    return RunRow(
        number=run.number,
        name=run_title(run),
        loss=loss,
        reprojection=NONE if known is None else measure(known.reprojection, run.sequence.units),
        error=error,
        tip="\n".join(_run_tip(run, known, shown, why)),
        note=run.note,
        pinned=run.pinned,
        compared=run is compared,
        origin=_origin(run),
        why_other_loss=why,
    )


def _error(known: Quality, pixels: str) -> str:
    """Return the 3-D error; without one, that of the observations that are held out, or the uncertainty."""
    if known.error is not None:
        return measure(known.error, known.unit)
    if known.held_out is not None:
        return f"{measure(known.held_out, pixels)} held out"
    share = percent_of(known.uncertainty, known.size)
    return f"± {share}" if share else NONE


def _origin(run: Run) -> str:
    """Return what distinguishes runs of the same name: what it continues, how far it is, remarks."""
    parts = [] if run.warm_from is None else [f"← {run.warm_from}"]
    if run.state in (RunState.STOPPED, RunState.FAILED):
        parts.append(run.state.value)
    left = time_left(run)
    if left:
        parts.append(left)
    count = len(verdicts_on(run))
    if count:
        parts.append(f"{count} remark{'s' if count > 1 else ''}")
    return ", ".join(parts)


def _run_tip(run: Run, known: Quality | None, shown: Run | None, why_other_loss: str) -> list[str]:
    lines = [
        numbered_title(run),
        *([f"Note: {run.note}"] if run.note else []),
        parameters_text(run.settings),
        ", ".join((METHODS[run.settings.method].meaning, *option_texts(run.settings))),
        f"{run.state.value}, {len(run.history)} records" + (", pinned" if run.pinned else ""),
    ]
    lines += [line for verdict in verdicts_on(run) for line in wrap(verdict.sentence, TIP_WIDTH)]
    if run.warm_from is not None:
        lines.append(f"went on from run {run.warm_from}")
    if why_other_loss and shown is not None:
        lines.append(f"its loss does not compare with that of run {shown.number}: {why_other_loss}")
    if known is not None:
        lines += quality_lines(known, run.sequence)
    return lines
