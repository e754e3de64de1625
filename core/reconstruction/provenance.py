"""How an update came to be, so that it can be made again: the settings that led to it, one after the other.

A run that was steered ends in the minimum next to where it was, which need not be the one that its last
settings lead to from nothing. Every update therefore knows the stream that it is of, how far that had come,
and the update which that stream went on from. The way back through these is a recipe: so many updates under
these settings, then so many under those. Streams are deterministic, so that it gives the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from .settings import Settings


@dataclass(frozen=True)
class Step:
    """Solving on under some settings, from nothing at first and then from where it was."""

    settings: Settings
    updates: int | None = None  # so many, 1 or more; None is to the end


@dataclass(frozen=True)
class Recipe:
    """Steps that make a reconstruction, from nothing or from a result in a file."""

    steps: tuple[Step, ...]
    start: Path | None = None

    @property
    def settings(self) -> Settings:
        """The settings that it ends with."""
        return self.steps[-1].settings

    @property
    def plain(self) -> bool:
        """Whether it is one solution from nothing to its end, which the settings alone describe."""
        return self.start is None and len(self.steps) == 1 and self.steps[0].updates is None


@dataclass(frozen=True, eq=False, repr=False)
class Lineage:
    """Where an update stands: a link of a chain that may be thousands long, shared by all that follow."""

    step: Step  # up to this update
    before: Lineage | None = None  # of the update that its stream went on from
    source: Path | None = None  # the file of a result, where that is what is gone on from
    made: Recipe | None = None  # and how that result was made itself, where it says so

    def recipe(self) -> Recipe | None:
        """Return the steps that lead here, None where they are not known."""
        if self.source is not None:
            return self.made
        steps: list[Step] = []
        link: Lineage | None = self
        while link is not None and link.source is None:
            steps.append(link.step)
            link = link.before
        return Recipe(tuple(reversed(steps)), None if link is None else link.source)
