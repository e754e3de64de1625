"""The rows of the panel Numbers: of a run, of one selected point, and of several. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from core import METHODS, Iterate, Sequence, Settings
from core.data import GROUND_TRUTH
from core.evaluation import fall_sentence
from core.foundation import DEPTHS
from core.problem import AGREEMENT
from core.reconstruction import CONTINUED, ENOUGH_AGREEING, NEGLIGIBLE, Verdict, run_remarks
from nrsfm_gui.model.changes import differences
from nrsfm_gui.model.excluded import excluded
from nrsfm_gui.model.names import (
    error_name,
    point_label,
    sentence_name,
    settings_text,
    truth_name,
    truth_phrase,
)
from nrsfm_gui.model.numbers import NONE, LabeledValue
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.scene.comparison import length_share
from nrsfm_gui.scene.frame_analysis import along_view_in
from nrsfm_gui.scene.frame_causes import LEAVE_OUT
from nrsfm_gui.scene.incumbent import Incumbent, Quality
from nrsfm_gui.scene.scene import Scene
from nrsfm_gui.scene.summaries import (
    SIZE_MEANING,
    iterations,
    log_loss,
    measure,
    objective_value,
    pair,
    relative_measure,
    seconds,
    signed,
)

length = partial(relative_measure, short=True)
RMS_TIP = "Root mean square over all visible points of all frames."
RESIDUALS_TIP = "Of ADMM, relative: primal |X - Z| / max(|X|, |Z|), and dual |Z - Z before| / |U|."
DEPTH_TIP = "The part of this distance along the ray from the aligned camera to the estimate."
LOSS_TIP = "The objective: squared pOSE residuals plus the weighted singular values."
ENERGY_TIP = (
    "The objective: what the depth refinement makes small, in nats per point and frame, at its finest level."
)
NOISE_TIP = "Standard deviation of a coordinate that the depth refinement expects; 0 keeps the rays exactly."
LENGTHS_TIP = "With this weight all was searched again, and the shapes need fewer modes than with all of it."
REMARK_TIP = "What was assumed of the camera, is degenerate in the best point of this run, or may be wrong."
UNCERTAINTY_TIP = (
    "One standard deviation of the place of the point, from the curvature of the refinement's energy and the "
    "distance of its ends. Two of three errors should be smaller."
)
SIZE_TIP = f"The part beside a length is of the size of the object: {SIZE_MEANING}."
E3D_BASIS = "in the camera's coordinates, measured as published"
E3D_TIP = (
    "The e3D of the tables of BMM and PTA: in the camera's coordinates, every frame centered, one orthogonal "
    "matrix for all frames and no scale; mean distance over the mean standard deviation of a coordinate of "
    "the truth. It does not follow the alignment that is chosen for the mean error. Published values are of "
    "other settings: nrsfm reproduce mocap runs those, and shows both."
)
HELD_OUT_TIP = "Root mean square reprojection error of the observations that are hidden from the solver."
HIDDEN_TIP = "Observations that were hidden from the solver: the run knows nothing of them."
OUTLIERS_TIP = "Outliers are points of the ground truth that are far from their neighbors in single frames."
RANK_TIP = "Basis shapes, or the rank of the matrix, of the best point so far."
TIME_TIP = "Of all phases of this run together; pauses are not counted."
VALUES_TIP = "Of the matrix, divided by the norm of the measurements. 4 are those of a rigid scene."
UPGRADE_TIP = "Where K of the metric upgrade came from."
PROJECTIVE_TIP = (
    "Reprojection of the projective cameras that were solved for; that above is of the metric view, which "
    "the 3-D view shows and the 3-D error is of."
)
LABELED = "no metric upgrade: "  # already in the label
MOST_STARTS = 40  # in the tip
MOST_VALUES = 8  # singular values in one line
STARTS_TIP = (
    "Starts of the bilinear problem, before any depth refinement: those whose loss is within a relative "
    f"{AGREEMENT:g} of the lowest. How many are tried at most: see Parameters."
)


def numbers(
    run: Run | None,
    found: Incumbent | None,
    sequence: Sequence | None,
    settings: Settings | None = None,
    *,
    verdicts: bool = True,
) -> list[LabeledValue]:
    """Return the lines of a run and its incumbent; `settings` are those of the next run."""
    remarks = [LabeledValue("remark", remark, REMARK_TIP) for remark in remarks_on(run, verdicts=verdicts)]
    if found is None:
        return remarks
    last, known = found.iterate, found.errors
    reprojection = measure(known.reprojection, sequence.units) if known and sequence else NONE
    objective = LabeledValue("loss", _loss_text(found.value), LOSS_TIP)
    if found.objective == DEPTHS:
        objective = LabeledValue("energy", objective_value(found.value, DEPTHS), ENERGY_TIP)
    rows = [
        objective,
        *_lowest_on_the_way(run, found),
        LabeledValue("reprojection RMS", reprojection, RMS_TIP),
        *_error_numbers(known, sequence),
    ]
    if known is not None and known.figures and sequence is not None:
        running = run is not None and run.state is RunState.RUNNING
        rows += _low_rank_numbers(last, known.figures, sequence.units, running=running)
    if known is not None and known.uncertainty is not None:
        value = f"± {length(known.uncertainty, known.unit, known.size)}"
        tip = "Mean standard deviation of the places of the points, over all points and frames."
        rows.append(LabeledValue("mean uncertainty", value, tip))
    rank = "rank of the start" if found.objective == DEPTHS else "rank"
    rows += [
        LabeledValue(rank, str(last.best.factors.rank), RANK_TIP),
        LabeledValue("iterations", iterations(found), "Of all phases of this run together."),
        LabeledValue("computing time", seconds(found), TIME_TIP),
        *_residual_numbers(run, found),
    ]
    if last.record.energy is not None:
        unit = "px" if sequence is None else sequence.units
        rows.append(LabeledValue("noise of the tracks", measure(last.noise, unit), NOISE_TIP))
        if (share := length_share(last)) < 1.0:
            weight = f"{last.settings.isometry:g} × {share:.2g}, since lengths do not stay"
            rows.append(LabeledValue("isometry", weight, LENGTHS_TIP))
    if last.settings.searches_starts:
        rows.append(LabeledValue("starts that agree", starts_that_agree(last), _starts_tip(last)))
    if run is not None and settings is not None:
        rows.append(_parameters(run, settings))
    rows += _hidden_numbers(sequence, last)
    if known is not None and known.held_out is not None and sequence is not None:
        rows.append(LabeledValue("held-out RMS", measure(known.held_out, sequence.units), HELD_OUT_TIP))
    rows += remarks
    if last.rotations:
        rows.append(LabeledValue("rotations", last.rotations, "Where the rotation of every frame came from."))
    return rows


def _error_numbers(known: Quality | None, sequence: Sequence | None) -> list[LabeledValue]:
    """Return the 3-D error and what it is measured by, or why there is none."""
    truth = truth_name(sequence)
    name = f"mean {error_name(truth)}"
    tip = f"Mean distance to {truth_phrase(truth)}, over all points and frames that have one."
    if known is None:
        return [LabeledValue(name, NONE, tip)]
    rows = []
    if known.e3d is not None:
        rows.append(LabeledValue("e3D", f"{known.e3d:.4f}, {E3D_BASIS}", E3D_TIP))
    if known.size is not None and (known.error is not None or known.uncertainty):
        rows.append(LabeledValue("size of the object", measure(known.size, known.unit), SIZE_TIP))
    if known.error is None:
        # A truth that nothing was laid over measures nothing.
        why_not = f"no {GROUND_TRUTH} here" if sequence is None or sequence.truth is None else known.alignment
        why_not = why_not if known.figures.get("metric", True) else "needs a metric upgrade"
        return [LabeledValue(name, why_not, tip), *rows]
    if known.without is not None:
        fall = fall_sentence(known.error, known.without, known.outliers, known.known)
        fall = f"{fall[:1].upper()}{fall[1:]}{'. ' if fall else ''}"
        names = None if sequence is None else sequence.point_names
        worst = [f"{point_label(point, names)} in frame {frame + 1}" for frame, point in known.worst_outliers]
        worst += ["and others"] * (known.outliers > len(worst))
        value = f"{length(known.without, known.unit, known.size)} ({known.outliers} of {known.known})"
        why = f"{fall}{OUTLIERS_TIP} Here: {', '.join(worst)}. {LEAVE_OUT}"
        rows.append(LabeledValue("without outliers", value, why))
    how = f"How the estimate was laid over {truth_phrase(truth)}."
    error = LabeledValue(name, length(known.error, known.unit, known.size), f"{tip} {SIZE_TIP}")
    return [error, *rows, LabeledValue("alignment", known.alignment, how)]


def _lowest_on_the_way(run: Run | None, found: Incumbent) -> list[LabeledValue]:
    """Return the lowest loss of a method on the matrix where that of its result, which counts, is higher."""
    if run is None or not (found.complete and found.newest):
        return []
    method, begins, loss = METHODS[run.settings.method], run.history.changes, found.iterate.final_loss
    if loss is None or not method.on_matrix:
        return []
    records = run.history.records[begins[-1] if len(begins) else 0 :]
    lowest = min((record.best for record in records if record.best is not None), default=loss)
    if not lowest < loss or log_loss(lowest) == log_loss(loss):
        return []
    tip = (
        f"{method.title} works on the matrix X. Its iterates are cut to rank K to be shown, and one of them "
        "had this loss. Only the result at its end counts: that is the loss above."
    )
    return [LabeledValue("lowest on the way", _loss_text(lowest), tip)]


def _loss_text(loss: float | None) -> str:
    return NONE if loss is None else f"{loss:.4g} (log10 {log_loss(loss)})"


def _hidden_numbers(sequence: Sequence | None, last: Iterate) -> list[LabeledValue]:
    """Return how many observations were hidden from the solver; nothing where there were none."""
    mask = None if sequence is None else excluded(sequence, last.settings)
    if sequence is None or mask is None:
        return []
    count, seen = int((mask & sequence.visible).sum()), int(sequence.visible.sum())
    return [LabeledValue("held out", f"{count} of {seen} ({100 * count / seen:.2g} %)", HIDDEN_TIP)]


def _parameters(run: Run, settings: Settings) -> LabeledValue:
    """Return whether a run was made with the parameters of the panel, or which of them were others."""
    names = dict.fromkeys(each.name for each in differences(run.settings, settings))
    value = f"not those of the panel: {', '.join(names)}" if names else "those of the panel"
    tip = f"Of run {sentence_name(run)}: {settings_text(run.settings)}. A click on the run shows them."
    return LabeledValue("parameters", value, tip)


def _low_rank_numbers(
    last: Iterate, figures: Mapping[str, Any], unit: str, *, running: bool
) -> list[LabeledValue]:
    """Return what is special about a low-rank solution: its singular values, and how it became metric."""
    values = np.sort(last.best.factors.gamma())[::-1]
    values = np.where(values > NEGLIGIBLE * values[0], values, 0.0)  # a zero but for rounding
    shown = ", ".join(f"{value:.3g}" for value in values[:MOST_VALUES])
    rows = [LabeledValue("singular values", shown + (", …" if len(values) > MOST_VALUES else ""), VALUES_TIP)]
    if figures["metric"]:
        origin = LabeledValue("metric upgrade", str(figures["assumed"]), UPGRADE_TIP)
        rms = measure(figures.get("projective_rms"), unit)
        return [*rows, origin, LabeledValue("projective factorization", rms, PROJECTIVE_TIP)]
    # What an unfinished point lacks is no finding on the data.
    words = "none yet" if running else f"none: {str(figures.get('reason', '')).replace(LABELED, '')}"
    return [*rows, LabeledValue("metric upgrade", words, "Why the scene is shown as its cameras see it.")]


def remarks_on(run: Run | None, *, verdicts: bool = True) -> list[str]:
    """Return sentences on what was assumed, is degenerate or may be wrong in the result of an ended run."""
    if run is None or run.last is None or run.state.alive:
        return []
    sentences = [f"{words[0].upper()}{words[1:]}." for words in run_remarks(run.last)]
    return sentences + [verdict.sentence for verdict in run.last.verdicts if verdicts]


def verdicts_on(run: Run | None) -> tuple[Verdict, ...]:
    """Return what may be wrong with the result of a run that has ended, without what was dismissed."""
    if run is None or run.last is None or run.state.alive:
        return ()
    return tuple(verdict for verdict in run.last.verdicts if verdict.sentence not in run.dismissed)


def _residual_numbers(run: Run | None, found: Incumbent) -> list[LabeledValue]:
    """Return the last residuals of ADMM up to the record of the incumbent, where there are some."""
    if run is None:
        return []
    known = np.flatnonzero(np.isfinite(run.history.log_residuals[0][: found.record + 1]))
    if not known.size:
        return []
    record = run.history.records[int(known[-1])]
    return [LabeledValue("residuals", f"{record.primal:.2g}, {record.dual:.2g}", RESIDUALS_TIP)]


def starts_that_agree(last: Iterate) -> str:
    """Return "2 of 4", or a dash before any start has ended; "3 of 3, enough" where no more were needed."""
    if not last.starts:
        return NONE
    if [start.name for start in last.starts] == [CONTINUED]:
        return "none: it went on"
    agree = sum(start.agrees for start in last.starts)
    return f"{agree} of {len(last.starts)}{', enough' if _ended_early(last) else ''}"


def _ended_early(last: Iterate) -> bool:
    """Whether a low-rank search has found what it looked for before all starts were tried."""
    agree = sum(start.agrees for start in last.starts)
    early = last.settings.problem == "lowrank" and len(last.starts) < last.settings.starts
    return early and last.status.finished and agree >= ENOUGH_AGREEING


def _starts_tip(last: Iterate) -> str:
    """Return what agreeing means, and the result of every start, lowest first."""
    lines = [STARTS_TIP]
    if _ended_early(last):
        lines[0] += f" Of at most {last.settings.starts}, no more were made once {ENOUGH_AGREEING} agreed."
    for start in sorted(last.starts, key=lambda start: start.loss)[:MOST_STARTS]:
        note = f", {start.note}" if start.note else ""
        lines.append(f"{start.name}: {log_loss(start.loss, digits=6)}{note}")
    if len(last.starts) > MOST_STARTS:
        lines.append(f"and {len(last.starts) - MOST_STARTS} more")
    return "\n".join(lines)


def point_numbers(scene: Scene | None, point: int) -> list[LabeledValue]:
    """Return the lines for a selected point in the frame that is shown; none where nothing is selected."""
    if scene is None or point < 0 or point >= len(scene.measured):
        return []
    size = scene.shapes.size
    place = pair(scene.measured[point], scene.sequence.units)
    rows = [LabeledValue("measured", place if scene.visible[point] else "hidden in this frame")]
    if scene.reprojected is not None:
        rows.append(LabeledValue("reprojected", pair(scene.reprojected[point], scene.sequence.units)))
    if scene.residuals_px is not None:
        residual = measure(float(scene.residuals_px[point]), scene.sequence.units)
        rows.append(LabeledValue("reprojection error", residual))
    if scene.estimate is not None:
        rows.append(LabeledValue("estimate", _triple(scene.estimate[point], scene.shapes.unit)))
    if scene.truth is not None:
        rows.append(LabeledValue(scene.sequence.truth_name, _triple(scene.truth[point], scene.shapes.unit)))
    if scene.errors is not None:
        tip = f"Distance to {truth_phrase(scene.sequence.truth_name)}: {scene.shapes.alignment_name}."
        error = length(float(scene.errors[point]), scene.shapes.unit, size)
        rows.append(LabeledValue(error_name(scene.sequence.truth_name), error, tip))
        along = along_view_in(scene.shapes, scene.frame)
        if along is not None and np.isfinite(along[point]):
            way = "too far" if along[point] > 0 else "too near"
            of_depth = length(abs(float(along[point])), scene.shapes.unit, size)
            rows.append(LabeledValue("error along the ray", f"{of_depth} {way}", DEPTH_TIP))
    if scene.std is not None:
        x, y, z = (measure(float(value), scene.shapes.unit) for value in scene.std[point])
        spread = length(float(np.linalg.norm(scene.std[point])), scene.shapes.unit, size)
        rows.append(LabeledValue("uncertainty", f"± {spread}", UNCERTAINTY_TIP))
        rows.append(LabeledValue("uncertainty in depth", f"± {z}", f"Across: ± {x} along x, ± {y} along y."))
    return rows


def _triple(values: np.ndarray, unit: str) -> str:
    if not np.isfinite(values).all():
        return NONE
    return ", ".join(signed(float(value), 2) for value in values) + f"\N{NO-BREAK SPACE}{unit}"


def selection_title(scene: Scene | None) -> str:
    """Return what the lines are about."""
    if scene is None or not scene.selection:
        return "Selected point"
    what = f"{len(scene.selection)} points"
    if len(scene.selection) == 1:
        what = point_label(scene.selection[0], scene.sequence.point_names)
    return f"{what[0].upper()}{what[1:]}, frame {scene.frame + 1}"


def selection_numbers(scene: Scene | None) -> list[LabeledValue]:
    """Return the lines for the selected points in the frame that is shown; none where nothing is selected."""
    if scene is None or not scene.selection:
        return []
    if len(scene.selection) == 1:
        return point_numbers(scene, scene.selection[0])
    chosen = np.array(scene.selection)
    measured = f"{int(scene.visible[chosen].sum())} of {len(chosen)}"
    rows = [LabeledValue("measured", measured, "Selected points that are seen in this frame.")]
    of_object, laid = scene.shapes.size, f" {scene.shapes.alignment_name.capitalize()}."
    spread = None if scene.std is None else np.linalg.norm(scene.std, axis=1)
    for name, values, unit, size, how in (
        ("reprojection error", scene.residuals_px, scene.sequence.units, None, ""),
        (error_name(scene.sequence.truth_name), scene.errors, scene.shapes.unit, of_object, laid),
        ("uncertainty", spread, scene.shapes.unit, of_object, " One standard deviation."),
    ):
        known = chosen[:0] if values is None else chosen[np.isfinite(values[chosen])]
        if values is not None and len(known):
            worst = known[np.argmax(values[known])]
            mean = length(float(values[known].mean()), unit, size)
            largest = f"{length(float(values[worst]), unit, size)} (point {worst + 1})"
            over = f"Over the selected points of this frame that have one.{how}"
            rows.append(LabeledValue(f"mean {name}", mean, over))
            rows.append(LabeledValue(f"worst {name}", largest, f"Of the selected points in this frame.{how}"))
        elif values is not None:
            rows.append(LabeledValue(f"mean {name}", NONE))
    return rows
