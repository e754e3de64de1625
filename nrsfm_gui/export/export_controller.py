"""Saving the reconstruction, the views, the plots, and copying the recipe as text.

A reconstruction is written in the background from an immutable result, so that it can be saved while the
solver runs.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QObject, QUrl, pyqtSignal
from PyQt6.QtGui import QDesktopServices, QGuiApplication

from core import WRITERS, InputError, Sequence, Settings, command_for, export, finish, python_for
from core.foundation import printable, protecting
from core.io.writers import writer_for
from nrsfm_gui.engine.jobs import Job, Jobs
from nrsfm_gui.engine.throttle import Debounce
from nrsfm_gui.export.export_request import FIGURES, MOST_FPS, SHAPES, STEM, VIEWS, MovieOptions, context_of
from nrsfm_gui.export.movie import PAINTERS, MovieTask, Painter, ViewSources
from nrsfm_gui.export.movie_files import FORMATS, format_for
from nrsfm_gui.export.tasks import Task, TaskBar, TaskRow
from nrsfm_gui.model.app_store import AppStore
from nrsfm_gui.model.names import sentence_name
from nrsfm_gui.model.notifier import Action
from nrsfm_gui.model.run import Run
from nrsfm_gui.scene.summaries import file_stem
from nrsfm_gui.widgets.dialogs import PathKind, ask_for_path, show_on_screen
from nrsfm_gui.widgets.fields import copy_text
from nrsfm_gui.widgets.plots.plot_export import FIGURE_FORMATS, Figure, FigureSize, save_figure, save_image

if TYPE_CHECKING:
    from nrsfm_gui.export.export_dialog import ExportDialog

USUAL_SIZE = FigureSize()
RECIPES = {"Python program": python_for, "command": command_for}  # that give the shown numbers
SHOW_MILLISECONDS = 300  # work that is over sooner is not worth a line


class ExportController(QObject):
    """Asks for a path, and saves."""

    saved = pyqtSignal(str)  # a sentence that names the files

    def __init__(self, views: ViewSources, store: AppStore, *, figures: dict[str, Figure]) -> None:
        super().__init__(views.window)
        self.views = views
        self._session, self._window, self._store = views.session, views.window, store
        self._notifier = views.session.notifier
        self._figures = figures
        self._dialog: ExportDialog | None = None
        self.strip = TaskBar()
        self._floating = TaskBar(views.window, floating=True)  # of what must not be seen in the window
        self._tasks: list[Task] = []
        self._jobs = Jobs(self)

    @property
    def busy(self) -> bool:
        """Whether something is being written."""
        return bool(self._tasks)

    # -- asking ---------------------------------------------------------------------------------------------

    def ask_for_reconstruction(self) -> None:
        """Ask for a file; its suffix chooses the format. PLY and OBJ hold the frame that is shown."""
        filters = ";;".join(f"{entry.label} (*{suffix})" for suffix, entry in WRITERS.items())
        self._ask("Save the reconstruction", ".npz", filters, self.save_reconstruction)

    def ask_for_view(self) -> None:
        """Save the 3-D view as a picture."""
        self._ask("Save the picture", "-3d.png", "PNG (*.png)", self.save_view)

    def ask(self, kind: str = "", figure: str = "") -> None:
        """Show the dialog at a key of `KINDS`, and at one of `FIGURES`, or as it was left."""
        from nrsfm_gui.export.export_dialog import ExportDialog

        if self._dialog is None:
            self._dialog = ExportDialog(self._window)
            self._dialog.requested.connect(self.export)
        self._dialog.set_context(context_of(self._session, self._store.writing_folder))
        if kind:
            self._dialog.choose(kind, figure)
        show_on_screen(self._dialog)

    def export(self, kind: str, path: Path, options: dict[str, Any]) -> None:
        """Export what the user chose in the dialog: a key of `KINDS`, and options of what writes it."""
        self._store.writing_folder = path.parent
        writers: dict[str, Any] = {
            "movie": self.save_movie,
            "picture": self.save_sized_picture,
            "figure": self.save_figure,
            "report": self.save_report,
        }
        writers.get(kind, self.save_result)(path=path, **options)

    # -- saving ---------------------------------------------------------------------------------------------

    def save_file(self, path: Path) -> None:
        """Write what the end of a path chooses: NAME.npz and others, NAME.heat.pdf or NAME.2d.mp4."""
        key, sequence = path.with_suffix("").suffix.lstrip(".").lower(), self._session.sequence
        kind = kind_of(path)
        if kind == "figure":
            self.save_figure(key if key in FIGURES else "shapes", path, shapes=SHAPES)
        elif kind == "movie" and sequence is not None:
            view, last = key if key in VIEWS else "3d", sequence.frame_count - 1
            fps = min(sequence.frame_rate or MovieOptions.fps, MOST_FPS)
            self.save_movie(path, MovieOptions(view=view, fps=fps, last=last))
        else:
            self.save_reconstruction(path)

    def save_reconstruction(self, path: Path) -> None:
        """Write the shown iteration of the shown run; PLY and OBJ hold the frame that is shown."""
        try:
            shapes = "frames" in writer_for(path).options
        except InputError as refusal:
            self._notifier.fail(str(refusal))
            return
        self.save_result(path, frame=self._session.frame if shapes else None)

    def save_result(self, path: Path, **options: Any) -> None:
        """Write the shown iteration of the shown run, with options of `core.io.writers.export`."""
        run, last, inputs = self._session.seen_run, self._session.seen, self._session.inputs()
        if run is None or last is None:
            self._notifier.fail(f"{path} is not written: there is no reconstruction yet")
            return
        settings = run.settings.shown_as(self._session.settings)

        def write(job: Job) -> str:
            result = finish(run.sequence, settings, last, run.history.records)
            with protecting(inputs):
                files = export(result, path, progress=job.watch, **options)
            return f"Saved {files[0]}" + (f" and {len(files) - 1} more" if len(files) > 1 else "")

        self._start(Task(f"Saving {printable(path.name)}", path, write))

    def save_movie(self, path: Path, options: MovieOptions) -> None:
        """Write a movie of a view."""
        try:
            self._start(MovieTask(self.views, path, options))
        except InputError as refusal:
            self._notifier.fail(str(refusal))

    def save_report(self, path: Path) -> None:
        """Write one HTML page about the run that is shown."""
        from nrsfm_gui.export.run_report import save_report

        self._try(lambda: save_report(self.views, path), path)

    def save_view(self, path: Path) -> None:
        """Write the picture of the 3-D view, as large as it is."""
        self._try(lambda: save_image(self.views.scene_view.grab_image(), path), path)

    def save_sized_picture(self, path: Path, options: MovieOptions) -> None:
        """Write the picture of a view in another size."""

        def save() -> None:
            painter: Painter = PAINTERS[options.view](self.views, options)
            with closing(painter):
                save_image(painter.picture(options.first, 0.0), path)

        self._try(save, path)

    def save_figure(self, name: str, path: Path, size: FigureSize = USUAL_SIZE, *, shapes: str = "") -> None:
        """Write a key of `FIGURES`; `shapes` are the frames of a row of shapes, see `parse_frames`."""
        from nrsfm_gui.export.figures import make_figure

        self._try(lambda: save_figure(make_figure(self.views, self._figures, name, shapes), path, size), path)

    def copy_view(self) -> None:
        """Put the picture of the 3-D view without its background onto the clipboard."""
        clipboard = QGuiApplication.clipboard()
        assert clipboard is not None
        view = self.views.scene_view
        ratio = view.devicePixelRatioF()
        width, height = round(view.width() * ratio), round(view.height() * ratio)
        clipboard.setImage(view.render_image(width, height, transparent=True))
        self._report(f"Copied the 3-D view, {width} × {height}, without its background")

    def shut_down(self) -> None:
        """Wait for what is being written; movies, which the window paints, end without a file."""
        for task in self._tasks:
            if isinstance(task, MovieTask):
                task.cancel()
        self._jobs.wait()

    def _start(self, task: Task) -> None:
        """Begin a task, unless its file is being written already."""
        path = task.path
        if any(path == other.path for other in self._tasks):
            self._notifier.fail(f"{path} is being written already; wait for it, or choose another name")
            task.discard()
            return
        self._notifier.clear()  # what was saved before is over, and this may replace it
        self._tasks.append(task)
        strip = self.strip if task.in_window else self._floating
        row = TaskRow(task, strip)
        task.done.connect(lambda sentence: self._report(sentence, path))
        task.cancelled.connect(lambda: self._report(f"Cancelled: {path} is not written"))
        task.failed.connect(self._notifier.fail)
        task.finished.connect(lambda: self._tasks.remove(task))
        task.finished.connect(lambda: strip.remove(row))
        self._jobs.start(task)
        Debounce(lambda: strip.add(row), SHOW_MILLISECONDS, row).request()

    def copy_recipe(self, what: str) -> None:
        """Copy a key of RECIPES for the shown run up to the shown iteration, or the parameters before one."""
        sequence = self._session.sequence
        if sequence is None:
            return
        run, past = self._session.seen_run, self._session.moment is not None
        text, whose = _recipe_text(sequence, run, self._session.settings, RECIPES[what], past=past)
        copy_text(text)
        self._report(f"Copied the {what} for {whose}")

    def _try(self, save: Callable[[], None], path: Path) -> None:
        try:
            with protecting(self._session.inputs()):
                save()
        except (InputError, OSError) as refusal:
            self._notifier.fail(str(InputError.of(refusal)))
        else:
            self._report(f"Saved {path}", path)

    def _report(self, sentence: str, path: Path | None = None) -> None:
        """Report what was done; `path` is the file that was written."""
        self.saved.emit(sentence)
        buttons: list[Action] = []
        if path is not None:
            if path.suffix.lower() == ".html":
                buttons.append(("Open page", partial(self._open, path)))
            buttons.append(("Open folder", partial(self._open, path.absolute().parent)))
        self._notifier.inform(sentence, action=tuple(buttons))

    def _open(self, path: Path) -> None:
        """Open a file or a folder by the program that the desktop has for it."""
        if not QDesktopServices.openUrl(QUrl(path.absolute().as_uri())):
            self._notifier.fail(f"No program was found that opens {path}")

    def _ask(self, title: str, end: str, filters: str, then: Callable[[Path], object]) -> None:
        """Ask for a path to write, proposed with that end, and remember its folder."""

        def use_path(path: Path) -> None:
            self._store.writing_folder = path.parent
            then(path)

        name = str(self._store.writing_folder / f"{file_stem(self._session.sequence, STEM)}{end}")
        ask_for_path(self._window, title, use_path, kind=PathKind.NEW_FILE, start=name, filters=filters)


def kind_of(path: Path) -> str:
    """Return "figure", "movie" or "reconstruction" by the suffix of a path. Raises InputError else."""
    if path.suffix.lower() in FIGURE_FORMATS:
        return "figure"
    if path.suffix.lower() in FORMATS:
        format_for(path)
        return "movie"
    writer_for(path)
    return "reconstruction"


def _recipe_text(
    sequence: Sequence, run: Run | None, settings: Settings, format_recipe: Callable[..., str], *, past: bool
) -> tuple[str, str]:
    """Return the text that repeats a run, or one cut at a `past` iteration, and what it repeats."""
    if run is None or run.last is None:
        return format_recipe(sequence, settings), "these parameters"
    last = run.last
    recipe = last.provenance
    limits = ""
    if recipe is None:
        limits = "; it solves from nothing, while how this run came to be is not known"
    elif recipe.start is not None:
        limits = f"; it goes on from {recipe.start}"
    elif len(recipe.steps) > 1:
        limits = f"; it replays the {len(recipe.steps)} steps that led there"
    elif not recipe.plain:
        limits = "; it stops where this run stands"
    at = f" as it was at iteration {last.record.iteration}" if past else ""
    best = ", with the best point until there" if past and recipe is not None else ""
    return format_recipe(sequence, recipe or run.settings), f"run {sentence_name(run)}{at}{limits}{best}"
