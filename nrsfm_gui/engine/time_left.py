"""How long a run still takes by the clock, estimated from the share of it that is done. No Qt.

With a share f done after t seconds, t (1 - f) / f seconds are left where the rest is as fast. The share grows
in steps, from phase to phase: f is exact where it grows. From then on the time that is left falls by a second
per second, but not below t (1 - g) / g, where g is the share after another step like the last one: what will
be right when that step is done. So it grows where nothing gets done. Phases differ in speed, so that this
estimate jumps, too: what is shown approaches it at the rate 1 / SMOOTHING. Pauses are not counted.
"""

from __future__ import annotations

import math

SMOOTHING = 2.0  # seconds
LEAST_SHARE = 0.02  # that must be done before anything is estimated
LEAST_SECONDS = 1.0  # that must have passed before


class TimeLeft:
    """The estimate for one run.

    >>> left = TimeLeft()
    >>> left.update(100.0, 0.0), left.update(110.0, 0.25)
    (None, 30.0)
    """

    def __init__(self) -> None:
        self._elapsed = 0.0
        self._at: float | None = None
        self._left: float | None = None
        self._share = self._growth = self._grown_at = 0.0  # at the last step: the share, its growth, the time

    def update(self, now: float, share: float, *, running: bool = True) -> float | None:
        """Return the seconds that are left, None where nothing is known.

        `now`: reading of a clock, seconds.
        """
        step = now - self._at if self._at is not None and running else 0.0
        self._at = now
        self._elapsed += step
        if share != self._share:
            self._growth, self._grown_at = max(share - self._share, 0.0), self._elapsed
            self._share = share
        if not LEAST_SHARE <= share < 1.0 or self._elapsed < LEAST_SECONDS:
            self._left = None
            return None
        next_share = min(share + self._growth, 1.0)
        plain = max(
            self._grown_at / share - self._elapsed, self._elapsed * (1.0 - next_share) / next_share, 0.0
        )
        if self._left is None:
            self._left = plain
        else:
            fallen = max(self._left - step, 0.0)
            self._left = plain + (fallen - plain) * math.exp(-step / SMOOTHING)
        return self._left
