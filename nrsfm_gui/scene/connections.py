"""Edges and triangles that are found in shapes, where a file gives none: once per sequence and per run.

Those of a run are of its end; until then, those of the ground truth are used, where there is one. They are
found in a thread, so that no picture waits for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PyQt6.QtCore import QObject, pyqtSignal

from core.data import connect, do_nothing
from nrsfm_gui.engine.jobs import Job, Jobs, Order
from nrsfm_gui.model.mesh import Triangulation, file_gives_mesh
from nrsfm_gui.scene.solver_geometry import solver_geometry

if TYPE_CHECKING:
    from collections.abc import Callable

    from core import Iterate, Sequence
    from nrsfm_gui.model.run import Run
    from nrsfm_gui.model.session import Session


class Connections(QObject):
    """The meshes that were found of sequences and of ended runs."""

    found = pyqtSignal()  # a mesh that was asked for is known now
    failed = pyqtSignal(str, str)  # a sentence and the traceback of a defect

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._known: dict[Sequence | Run, tuple[Iterate | None, Triangulation]] = {}
        self._asked: tuple[Sequence | Run, Iterate | None] | None = None
        self._jobs = Jobs(self, Order.NEWEST)
        session.changed.connect(self._forget)

    def of(self, sequence: Sequence, run: Run | None, *, at_once: bool = False) -> Triangulation | None:
        """Return the mesh of a run, or of the truth of its sequence; None where none is known yet.

        What is missing is found in a thread, or before returning where it is needed `at_once`.
        """
        if file_gives_mesh(sequence):
            return None
        ended = run is not None and run.sequence is sequence and not run.state.alive and run.last is not None
        wanted: tuple[Sequence | Run, Iterate | None] = (run, run.last) if run and ended else (sequence, None)
        known = self._known.get(wanted[0])
        # While parameters are dragged, a run ends many times: its first mesh is kept.
        if known is None or (known[0] is not wanted[1] and not self._session.live):
            if at_once:
                self._set(*wanted, _find(sequence, wanted[1]))
            elif self._asked != wanted:
                self._start(sequence, *wanted)
        for owner in (run, sequence):
            if owner in self._known:
                return self._known[owner][1]
        return None

    def shut_down(self) -> None:
        """Stop what runs."""
        self._jobs.shut_down()

    def _start(self, sequence: Sequence, owner: Sequence | Run, end: Iterate | None) -> None:
        self._asked = owner, end
        self._jobs.start(
            Job(
                lambda job: _find(sequence, end, job.watch),
                done=lambda mesh: self._on_found(owner, end, mesh),
                failed=self.failed,
            )
        )

    def _on_found(self, owner: Sequence | Run, end: Iterate | None, mesh: Triangulation) -> None:
        self._set(owner, end, mesh)
        self.found.emit()

    def _set(self, owner: Sequence | Run, end: Iterate | None, mesh: Triangulation) -> None:
        self._known[owner] = end, mesh

    def _forget(self) -> None:
        """Forget runs that were deleted, and sequences that neither are open nor have runs."""
        session = self._session
        kept = {session.sequence, *session.runs, *(run.sequence for run in session.runs)}
        self._known = {owner: known for owner, known in self._known.items() if owner in kept}


def _find(sequence: Sequence, end: Iterate | None, watch: Callable[[], object] = do_nothing) -> Triangulation:
    """Return the mesh of an end; of the truth where that has no shape of a scene, or where there is none."""
    points = None if sequence.truth is None else sequence.truth.points
    if end is not None:
        geometry = solver_geometry(sequence, end)
        points = geometry.points if geometry.metric else points
    found = connect(np.zeros((0, 3, sequence.point_count)) if points is None else points, watch)
    return Triangulation(found.faces, found.edges, sequence.point_count, "found in the shapes")
