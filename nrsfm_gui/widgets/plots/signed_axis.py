"""An axis whose negative numbers have the minus sign that all other numbers of the window have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyqtgraph as pg

from nrsfm_gui.model.numbers import MINUS

if TYPE_CHECKING:
    from collections.abc import Sequence as Items


class SignedAxis(pg.AxisItem):
    """An axis of a plot."""

    def tickStrings(self, values: Items[float], scale: float, spacing: float) -> list[str]:
        """Return the names of places."""
        return [name.replace("-", MINUS) for name in super().tickStrings(values, scale, spacing)]
