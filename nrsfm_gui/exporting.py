"""Saving what there is: the reconstruction, the views, the plots, and the recipe as text.

A reconstruction is written beside the window from an immutable result, so that it can be saved while the
solver goes on.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, pyqtSignal
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtWidgets import QFileDialog, QWidget

from core.arrays import InputError

from .solver_thread import Job
from .views.plots import PLOT_FORMATS, save_image, save_plot

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyqtgraph as pg
    from PyQt6.QtGui import QImage

    from .session import Session

PLOT_FILTER = ";;".join(f"{suffix[1:].upper()} (*{suffix})" for suffix in PLOT_FORMATS)
PICTURE_FILTER = "PNG (*.png)"
FRAME_FORMATS = (".ply", ".obj")


class Exporting(QObject):
    """Asks where to, and saves.

    Parameters
    ----------
    session
        what is saved.
    pictures
        functions that give the picture of the "view" and of the "tracks".
    plots
        the "loss" and the "spectrum".

    Signals
    -------
    saved(str)
        a sentence that names the files.
    failed(str, str)
        a sentence, and the traceback of a defect.
    """

    saved = pyqtSignal(str)
    failed = pyqtSignal(str, str)

    def __init__(
        self,
        session: Session,
        *,
        pictures: dict[str, Callable[[], QImage]],
        plots: dict[str, pg.PlotWidget],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._pictures = pictures
        self._plots = plots
        self._window = parent
        self._jobs: set[Job] = set()
        self._folder = Path()

    @property
    def busy(self) -> bool:
        """Whether something is being written."""
        return bool(self._jobs)

    # -- asking ---------------------------------------------------------------------------------------------

    def ask_for_reconstruction(self) -> None:
        """Ask for a file; its suffix chooses the format. PLY and OBJ hold the frame that is shown."""
        from core.exporters import EXPORTERS

        filters = ";;".join(f"{entry.label} (*{suffix})" for suffix, entry in EXPORTERS.items())
        path = self._ask("Save the reconstruction", self._name(".npz"), filters)
        if path is not None:
            self.save_reconstruction(path)

    def ask_for_frames(self) -> None:
        """Ask for the name that every frame's file begins with."""
        filters = ";;".join(
            f"{suffix[1:].upper()}, one file per frame (*{suffix})" for suffix in FRAME_FORMATS
        )
        path = self._ask("Save all frames", self._name(".ply"), filters)
        if path is not None:
            self.save_reconstruction(path, all_frames=True)

    def ask_for_view(self) -> None:
        """Save the 3-D view as a picture."""
        self._ask_for_picture("view", "3d")

    def ask_for_tracks(self) -> None:
        """Save the 2-D view as a picture."""
        self._ask_for_picture("tracks", "2d")

    def ask_for_loss(self) -> None:
        """Save the loss plot."""
        self._ask_for_plot("loss")

    def ask_for_spectrum(self) -> None:
        """Save the plot of singular values and weights."""
        self._ask_for_plot("spectrum")

    # -- saving ---------------------------------------------------------------------------------------------

    def save_reconstruction(self, path: Path, *, all_frames: bool = False) -> None:
        """Write the best point so far of the run that is shown, in the background."""
        run = self._session.shown
        if run is None or run.last is None:
            self.failed.emit(f"{path} is not written: there is no reconstruction yet", "")
            return
        sequence, settings, last, frame = run.sequence, run.settings, run.last, self._session.frame
        history = tuple(run.history.records)

        def write() -> str:
            from core.exporters import export, exporter_for
            from core.reconstruct import finish

            shapes = exporter_for(path).suffix in FRAME_FORMATS
            chosen = frame if shapes and not all_frames else None
            result = finish(sequence, settings, last, history)
            files = export(result, path, frame=chosen, frames="numbered" if all_frames else "one")
            return f"Saved {files[0]}" + (f" and {len(files) - 1} more" if len(files) > 1 else "")

        job = Job(write)
        self._jobs.add(job)
        job.done.connect(lambda sentence: self.saved.emit(str(sentence)))
        job.failed.connect(self.failed)
        job.finished.connect(lambda: self._jobs.discard(job))
        job.start()

    def save_picture(self, which: str, path: Path) -> None:
        """Write the picture of the "view" or the "tracks"."""
        self._try(lambda: save_image(self._pictures[which](), path), path)

    def save_plot(self, which: str, path: Path) -> None:
        """Write the "loss" or the "spectrum" plot."""
        self._try(lambda: save_plot(self._plots[which], path), path)

    def copy_python(self) -> None:
        """Put the Python program that gives these numbers onto the clipboard."""
        from core.recipes import python_for

        self._copy(python_for, "Python program")

    def copy_command(self) -> None:
        """Put the command that gives these numbers onto the clipboard."""
        from core.recipes import command_for

        self._copy(command_for, "command")

    def shut_down(self) -> None:
        """Wait for what is being written."""
        for job in list(self._jobs):
            job.wait()

    def _copy(self, written: Callable[..., str], what: str) -> None:
        """Copy what makes the run that is shown, or, before any run, what the parameters make."""
        run, sequence = self._session.shown, self._session.sequence
        if sequence is None:
            return
        clipboard = QGuiApplication.clipboard()
        assert clipboard is not None
        last = None if run is None else run.last
        if run is None or last is None:
            clipboard.setText(written(sequence, self._session.settings))
            self.saved.emit(f"Copied the {what} for these parameters")
            return
        recipe = None if last.lineage is None else last.lineage.recipe()
        clipboard.setText(written(sequence, recipe or run.settings))
        note = ""
        if recipe is None:
            note = "; it solves from nothing, while how this run came to be is not known"
        elif recipe.start is not None:
            note = f"; it goes on from {recipe.start}"
        elif len(recipe.steps) > 1:
            note = f"; it replays the {len(recipe.steps)} steps that led there"
        elif not recipe.plain:
            note = "; it stops where this run stands"
        self.saved.emit(f"Copied the {what} for run {run.number}{note}")

    def _try(self, save: Callable[[], None], path: Path) -> None:
        try:
            save()
        except (InputError, OSError) as refusal:
            self.failed.emit(str(refusal), "")
        else:
            self.saved.emit(f"Saved {path}")

    def _ask_for_picture(self, which: str, suffix: str) -> None:
        path = self._ask("Save the picture", self._name(f"-{suffix}.png"), PICTURE_FILTER)
        if path is not None:
            self.save_picture(which, path)

    def _ask_for_plot(self, which: str) -> None:
        path = self._ask("Save the plot", self._name(f"-{which}.png"), PLOT_FILTER)
        if path is not None:
            self.save_plot(which, path)

    def _name(self, end: str) -> str:
        sequence = self._session.sequence
        words = "reconstruction" if sequence is None else sequence.name
        stem = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in words)
        return str(self._folder / f"{stem}{end}")

    def _ask(self, title: str, name: str, filters: str) -> Path | None:
        """Ask for a path; the suffix of the chosen filter is appended where none was typed."""
        chosen, chosen_filter = QFileDialog.getSaveFileName(self._window, title, name, filters)
        if not chosen:
            return None
        path = Path(chosen)
        if not path.suffix:
            path = path.with_suffix(chosen_filter.rsplit("*", 1)[-1].rstrip(")"))
        self._folder = path.parent
        return path
