"""What is copied to make a run again, and in words how true it is. No Qt."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from core import Sequence, Settings
    from nrsfm_gui.model.run import Run


def recipe_of(
    sequence: Sequence,
    run: Run | None,
    settings: Settings,
    written: Callable[..., str],
    *,
    past: bool = False,
) -> tuple[str, str]:
    """Return what makes a run again, as `written` says it, and for people whose recipe it is.

    Before any run, it is what the settings make. `past` says that the run is as it was at an earlier moment.
    """
    last = None if run is None else run.last
    if run is None or last is None:
        return written(sequence, settings), "these parameters"
    recipe = None if last.provenance is None else last.provenance.flatten()
    note = ""
    if recipe is None:
        note = "; it solves from nothing, while how this run came to be is not known"
    elif recipe.start is not None:
        note = f"; it goes on from {recipe.start}"
    elif len(recipe.steps) > 1:
        note = f"; it replays the {len(recipe.steps)} steps that led there"
    elif not recipe.plain:
        note = "; it stops where this run stands"
    at = f" as it was at iteration {last.record.iteration}" if past else ""
    best = ", with the best point until there" if past and recipe is not None else ""
    return written(sequence, recipe or run.settings), f"run {run.number}{at}{note}{best}"
