"""Arrays of Qt points, lines or pixmap fragments for one call of QPainter, without a memory leak."""

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
        self._triples: list[Any] = []
        self._most = 0
        super().__init__(kind, fields)

    def resize(self, size: int) -> None:
        """Resize the array to a number of objects."""
        if size > self._most:  # they move to another place in memory
            self._views.clear()
            self._triples.clear()
            self._most = size
        super().resize(size)

    def instances(self) -> Any:
        """Return the objects, as QPainter needs them."""
        size = len(self)
        if size not in self._views:
            self._views[size] = super().instances()
        return self._views[size]

    def triples(self) -> list[Any]:
        """Return the objects by threes, such as the corners of triangles."""
        objects, known = self.instances(), len(self._triples)
        self._triples += [objects[k : k + 3] for k in range(3 * known, len(self), 3)]
        return self._triples[: len(self) // 3]
