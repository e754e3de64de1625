"""Arrays of Qt lines or pixmap fragments for one call of QPainter, without a memory leak."""

from __future__ import annotations

from typing import Any

from pyqtgraph.Qt.internals import PrimitiveArray


class Primitives(PrimitiveArray):
    """An array of Qt's objects that numpy writes into.

    QPainter gets a view of as many as there are now, and sip frees no view ever: 72 bytes at
    each picture are 20 MB in half an hour of playing. So the views are kept, one for each number of objects.
    """

    def __init__(self, kind: type, fields: int) -> None:
        self._views: dict[int, Any] = {}
        self._most = 0
        super().__init__(kind, fields)

    def resize(self, size: int) -> None:
        """Resize the array to a number of objects."""
        if size > self._most:  # they move to another place in memory
            self._views.clear()
            self._most = size
        super().resize(size)

    def instances(self) -> Any:
        """Return the objects, as QPainter needs them."""
        size = len(self)
        if size not in self._views:
            self._views[size] = super().instances()
        return self._views[size]
