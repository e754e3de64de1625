"""One table of everything that can be done: title, shortcut, tip, its method and when it is possible.

Menus, tool bar, the palette (Ctrl+K) and the sheet of shortcuts (F1) are all made of this table. What a row
calls is named as "controller.method"; `bind` looks it up in the object that owns the controllers. Shortcuts
with Ctrl and function keys act in the window; of those without, some act in the views only (`keyboard`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import attrgetter

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QAction, QKeySequence, QPalette
from PyQt6.QtWidgets import QWidget

from nrsfm_gui.model.run import RunState
from nrsfm_gui.model.session import Session
from nrsfm_gui.model.theme import LIGHT
from nrsfm_gui.text.table_text import MARKDOWN
from nrsfm_gui.widgets.icons import icon


@dataclass(frozen=True)
class Condition:
    """When an action is possible, and what to do first where it is not: a sentence without its point."""

    holds: Callable[[Session], bool]
    needs: str


always = Condition(lambda _session: True, "")
with_sequence = Condition(lambda s: s.sequence is not None, "Open a sequence first")
with_reconstruction = Condition(lambda s: s.seen is not None, "Run the solver first")
with_runs = Condition(lambda s: bool(s.runs), "Run the solver first")
with_background = Condition(lambda s: s.background is not None, "Put pictures behind the tracks first")
alive = Condition(lambda s: s.active_run is not None, "Nothing is running")
with_sweep = Condition(lambda s: s.sweep is not None, "Open the folder of a sweep first")
playable = Condition(
    lambda s: s.sequence is not None and s.sequence.frame_count > 1, "Open a sequence of several frames first"
)


def is_paused(session: Session) -> bool:
    """Return whether the run that is worked on is paused."""
    return session.active_run is not None and session.active_run.state is RunState.PAUSED


STEP = " › "  # between a menu and the menu in it
BACK = f"&Run{STEP}&Back in time"
UPRIGHT = f"&View{STEP}What is &up"
SAVED = f"&View{STEP}Saved vie&ws"
SAVED_KEYS = "6789"
# Not in the menus: keys, buttons and panels have them, and the palette.
OUTSIDE_MENUS = frozenset(
    "step slow earlier later before_change newest "
    "sweep_run sweep_live sweep_again sweep_copy sweep_markdown sweep_table sweep_map "
    "reset_view front side top iso orthographic camera_lock turntable color_by_error uncertainty trails mesh "
    "load_mesh follow path alignment outliers remove_background log_loss theme next_panel previous_panel "
    "invert_selection deselect worst_point label_points hide_onwards hide_range "
    "previous next back forward first last range_first range_last range_all "
    "export_scene export_page export_shapes export_table export_result copy_view first_steps".split()
)
SWEEP = f"&Run{STEP}S&weep"
SWEEP_SECTION = "Window of a sweep"  # of the sheet of shortcuts


@dataclass(frozen=True)
class ActionSpec:
    """One line of the table."""

    name: str
    menu: str  # that it is in, or would be; a menu in another one is written with STEP between them
    title: str  # with & before the letter of the menu
    tip: str
    target: str  # "controller.method"; its argument is the checked state of a checkable action
    shortcuts: tuple[str, ...] = ()
    when: Condition = always
    checkable: bool = False
    checked: Callable[[Session], bool] | None = None  # None where a view decides
    arguments: tuple[object, ...] = ()  # of the method
    icon: str = ""
    separated: bool = False  # a line above it in its menu

    @property
    def keys(self) -> str:
        """The shortcuts as they are written on this platform, "" where there is none."""
        return written_keys(map(QKeySequence, self.shortcuts))


ACTIONS: tuple[ActionSpec, ...] = (
    # -- File -----------------------------------------------------------------------------------------------
    ActionSpec("open", "&File", "&Open…",
               "Open a sequence, a session (.nrsfm), a result (.npz), or a folder of sequences or of a sweep",
               "sequence_opening.ask", ("Ctrl+O",), icon="open"),
    ActionSpec("import_as", "&File", "&Import as…",
               "Show how a file with tracks is understood, and change it: arrays, axes, threshold, camera",
               "import_controller.ask", ("Ctrl+Shift+I",)),
    ActionSpec("track_video", "&File", "&Track a video…",
               "Follow points through a video, and open their tracks with the video behind them",
               "tracking_controller.show", ("Ctrl+Shift+V",)),
    ActionSpec("save", "&File", "Sa&ve session", "Save sequence, runs, parameters and view in one file",
               "session_saver.save", ("Ctrl+S",), with_sequence),
    ActionSpec("save_as", "&File", "Save session &as…", "Save the session in another file",
               "session_saver.save_as", ("Ctrl+Shift+S",), with_sequence),
    ActionSpec("reports", "&File", "&Paper's experiments",
               "Open the newest report of the command nrsfm reproduce in the browser",
               "experiment_reports.open_newest", ("F2",), separated=True),
    ActionSpec("quit", "&File", "&Quit", "Stop the solver and close the window", "close", ("Ctrl+Q",),
               separated=True),
    # -- Edit -----------------------------------------------------------------------------------------------
    ActionSpec("undo", "&Edit", "&Undo",
               "Undo the last change of the parameters or of the view, or restore forgotten runs",
               "session.undo", ("Ctrl+Z",), with_sequence),
    ActionSpec("redo", "&Edit", "&Redo", "Do again what was undone last",
               "session.redo", ("Ctrl+Shift+Z",), with_sequence),
    ActionSpec("copy_python", "&Edit", "Copy as &Python",
               "Copy the Python program that gives these numbers", "export_controller.copy_recipe",
               ("Ctrl+Shift+P",), with_sequence, arguments=("Python program",), separated=True),
    ActionSpec("copy_command", "&Edit", "Copy as &command",
               "Copy the command that gives these numbers", "export_controller.copy_recipe",
               ("Ctrl+Shift+C",), with_sequence, arguments=("command",)),
    ActionSpec("preferences", "&Edit", "Pre&ferences…",
               "Theme, sizes, colors, threads, saving and drawing", "preferences_controller.show",
               ("Ctrl+,",), separated=True),
    # -- Run ------------------------------------------------------------------------------------------------
    ActionSpec("run", "&Run", "&Run",
               "New run with these parameters: it goes on from what is shown if that is of the same method",
               "parameters_controller.run", ("Ctrl+R",), with_sequence, icon="run"),
    ActionSpec("run_cold", "&Run", "New run from &scratch",
               "New run with these parameters that uses nothing of those before, as the command does",
               "parameters_controller.run_from_scratch", ("Ctrl+Shift+R",), with_sequence),
    ActionSpec("pause", "&Run", "Pa&use", "Pause the solver between two iterations", "run_control.set_paused",
               ("Ctrl+P",), alive, checkable=True, checked=is_paused, icon="pause"),
    ActionSpec("step", "&Run", "S&tep", "Do one iteration, then pause", "parameters_controller.step",
               ("Ctrl+T",), with_sequence, icon="step"),
    ActionSpec("stop", "&Run", "Sto&p", "Stop; the best point so far is kept", "run_control.cancel",
               ("Ctrl+.",), alive, icon="stop"),
    ActionSpec("reset", "&Run", "&Forget runs",
               "Forget the runs of this sequence, but for pinned ones; Ctrl+Z restores them",
               "runs_controller.forget_all", ("Ctrl+Shift+Backspace",), with_runs, icon="forget",
               separated=True),
    ActionSpec("compare", "&Run", "&Compare two runs",
               "Compare the shown run with the run before it, or stop comparing",
               "compare_controller.toggle", ("Ctrl+D",), with_runs, separated=True),
    ActionSpec("live", "&Run", "&Live parameters",
               "While on, the reconstruction follows the parameters of its objective as you change them: "
               "in a run of its own, so that a run that is done stays as it is",
               "session.set_live", ("Ctrl+L",), checkable=True, checked=lambda s: s.live, icon="live",
               separated=True),
    ActionSpec("guidance", "&Run", "&Guidance without truth",
               "Find the value of a parameter that predicts best what was hidden from the solver",
               "guidance_controller.show", (), with_reconstruction),
    ActionSpec("slow", "&Run", "Slow &motion", "Wait a tenth of a second after every iteration",
               "run_control.set_slow", ("Ctrl+M",), checkable=True),
    ActionSpec("earlier", BACK, "&Earlier iteration", "See the run as it was; the loss curve shows where",
               "loss_controller.step_iteration", ("Ctrl+Left",), with_reconstruction, arguments=(-1,)),
    ActionSpec("later", BACK, "&Later iteration", "See the run as it was next; the loss curve shows where",
               "loss_controller.step_iteration", ("Ctrl+Right",), with_reconstruction, arguments=(1,)),
    ActionSpec("before_change", BACK, "Before the last &change",
               "See the run, and set the parameters, as they were before one was changed while it went on: "
               "the triangle on the loss curve",
               "loss_controller.show_before_last_change", ("Ctrl+Home",), with_reconstruction),
    ActionSpec("newest", BACK, "&Newest iteration", "See the run as it is now, at the end of the loss curve",
               "loss_controller.show_newest", ("Ctrl+End",), with_reconstruction),
    ActionSpec("sweep", "&Run", "S&how the sweep",
               "Show the window of the sweep that was opened: its table and its heat map",
               "sweep_controller.show", ("Ctrl+Shift+W",), with_sweep),
    ActionSpec("sweep_run", SWEEP, "Show its &chosen run", "Show the reconstruction of the chosen run",
               "sweep_controller.use_chosen", (), with_sweep, arguments=("show",)),
    ActionSpec("sweep_live", SWEEP, "&Go on live from its chosen run",
               "Show the chosen run with its parameters in live mode: what you change, it follows",
               "sweep_controller.use_chosen", (), with_sweep, arguments=("live",)),
    ActionSpec("sweep_again", SWEEP, "Solve its chosen run &again",
               "Open the sequence of the chosen run, and solve it with its settings",
               "sweep_controller.use_chosen", (), with_sweep, arguments=("again",)),
    ActionSpec("sweep_copy", SWEEP, "Copy the &table of the sweep",
               "Copy the rows as they are sorted and filtered, for a spreadsheet",
               "sweep_controller.copy_table", (), with_sweep),
    ActionSpec("sweep_markdown", SWEEP, "Copy the table as &Markdown",
               "Copy the rows as they are sorted and filtered, for a text",
               "sweep_controller.copy_table", (), with_sweep, arguments=(MARKDOWN,)),
    ActionSpec("sweep_table", SWEEP, "&Export the table of the sweep…",
               "Save the rows as they are sorted and filtered as .csv", "sweep_controller.ask_for_table", (),
               with_sweep),
    ActionSpec("sweep_map", SWEEP, "Export the &heat map of the sweep…",
               "Save the heat map as PDF or PNG", "sweep_controller.ask_for_figure", (), with_sweep),
    # -- View -----------------------------------------------------------------------------------------------
    ActionSpec("fit", "&View", "&Fit", "Show the complete sequence in both views", "fit", ("F",),
               with_sequence, icon="fit"),
    ActionSpec("reset_view", "&View", "Reset &view",
               "Camera, layers, colors, alignment and left out points as at first; Ctrl+Z undoes it",
               "scene_view_controller.reset", ("Shift+F",), with_sequence),
    *(
        ActionSpec(name, "&View", f"From the {name}" if name != "iso" else "Oblique",
                   f"Look from the {name}" if name != "iso" else "Look from above and aside",
                   "scene_view.set_axis_preset", (key,), with_sequence, arguments=(name,))
        for name, key in (("front", "1"), ("side", "2"), ("top", "3"), ("iso", "4"))
    ),
    ActionSpec("this_is_up", UPRIGHT, "This is &up",
               "Let what is upwards in the 3-D view be up: in Top, Front and Side, and in all exports",
               "scene_view_controller.set_up", (), with_sequence),
    ActionSpec("this_is_front", UPRIGHT, "This is &front",
               "Let the side that the 3-D view shows be the front", "scene_view_controller.set_front", (),
               with_sequence),
    ActionSpec("stand_on_points", UPRIGHT, "Floor through the selected &points",
               "Put the floor through three or more selected points of this frame; two give what is up",
               "scene_view_controller.stand_on_points", (), with_sequence),
    ActionSpec("stand_as_pictures", UPRIGHT, "As the pic&tures",
               "Up is as in the pictures, the first camera sees the front, and the floor is below the object",
               "scene_view_controller.stand_as_pictures", (), with_sequence),
    *(
        ActionSpec(f"show_view_{key}", SAVED, f"Show view &{key}",
                   f"See the 3-D view from where it was when Ctrl+{key} was pressed",
                   "scene_view_controller.show_view", (key,), with_sequence, arguments=(key,))
        for key in SAVED_KEYS
    ),
    *(
        ActionSpec(f"save_view_{key}", SAVED, f"Save as view {key}",
                   f"Keep with the session where the 3-D view is seen from; {key} shows it again",
                   "scene_view_controller.save_view", (f"Ctrl+{key}",), with_sequence, arguments=(key,),
                   separated=key == SAVED_KEYS[0])
        for key in SAVED_KEYS
    ),
    ActionSpec("orthographic", "&View", "&Orthographic", "Parallel rays in the 3-D view",
               "scene_view.set_orthographic", ("5",), checkable=True),
    ActionSpec("camera_lock", "&View", "Lock to the &camera",
               "See the 3-D view through the camera of the current frame", "scene_view.set_camera_locked",
               ("C",), checkable=True),
    ActionSpec("turntable", "&View", "T&urntable", "Turn slowly around the object",
               "scene_view.set_turntable", ("R",), with_sequence, checkable=True),
    ActionSpec("look", "&View", "Loo&k…", "Colors, their limits, trails, mesh, sizes and layers",
               "appearance_panel.toggle", ("B",), with_sequence, separated=True),
    ActionSpec("color_by_error", "&View", "Color by &error", "Color points by their error",
               "appearance_panel.color_by_error", ("E",), checkable=True,
               checked=lambda s: s.appearance.color_by == "error"),
    ActionSpec("uncertainty", "&View", "&Uncertainty",
               "Color points by their uncertainty after the depth refinement, and draw one standard "
               "deviation around them: around all up to 500 points, else around the selected ones",
               "appearance_panel.show_uncertainty", ("U",), checkable=True,
               checked=lambda s: s.appearance.color_by == "uncertainty"),
    ActionSpec("trails", "&View", "&Trails", "Show where each point was in the frames before",
               "appearance_panel.set_layer", ("T",), checkable=True,
               checked=lambda s: "trails" in s.appearance.layers, arguments=("trails",)),
    ActionSpec("mesh", "&View", "&Mesh: next way", "Draw the mesh as wire, shaded, both, or not at all",
               "appearance_panel.cycle_mesh", ("M",), with_sequence),
    ActionSpec("load_mesh", "&View", "Load tri&angulation…", "Read triangles from .npz, .obj, .ply or .txt",
               "appearance_panel.ask_for_triangulation", (), with_sequence),
    ActionSpec("follow", "&View", "F&ollow the object",
               "Go along with an object that moves or grows in the 3-D view; off: the view stays",
               "scene_view_controller.set_follow", (), with_sequence, checkable=True,
               checked=lambda s: s.appearance.follow),
    ActionSpec("path", "&View", "Camera &path", "Show the cameras of all frames in the 3-D view",
               "appearance_panel.set_path", ("P",), checkable=True,
               checked=lambda s: "path" in s.appearance.layers),
    ActionSpec("alignment", "&View", "Next &alignment of the truth",
               "Align the estimate with the ground truth in another way, and show which",
               "alignment_controller.cycle", ("A",), with_sequence),
    ActionSpec("outliers", "&View", "Without outl&iers of the truth",
               "Leave points of the truth that are far from their neighbors in single frames out of all "
               "means; nothing is fitted to them in any case",
               "alignment_controller.leave_out_outliers", ("Shift+A",), with_sequence, checkable=True,
               checked=lambda s: not s.alignment.outliers),
    ActionSpec("background", "&View", "&Background images or video…",
               "Put an image sequence or a video behind the tracks", "background_controller.ask", (),
               with_sequence, separated=True),
    ActionSpec("remove_background", "&View", "Remo&ve the background",
               "Remove the pictures behind the tracks", "background_controller.remove", (), with_background),
    ActionSpec("log_loss", "&View", "Lo&garithm of the loss",
               "Draw losses by their base-10 logarithm, or as they are; energies are always linear",
               "loss_controller.set_logarithmic", checkable=True, checked=lambda s: s.appearance.log_loss),
    ActionSpec("theme", "&View", "&Light theme", "Dark or light colors", "preferences_controller.set_light",
               ("Ctrl+Shift+L",), checkable=True, checked=lambda s: s.theme.name == LIGHT.name, icon="theme"),
    ActionSpec("next_panel", "&View", "Next pane&l", "Move the keyboard to the next panel",
               "panel_navigation.go", ("F6",), arguments=(1,)),
    ActionSpec("previous_panel", "&View", "Previous panel", "Move the keyboard to the panel before",
               "panel_navigation.go", ("Shift+F6",), arguments=(-1,)),
    ActionSpec("reset_layout", "&View", "&Reset layout", "Put all panels back where they were at first",
               "dock_layout.reset"),
    # -- Points ---------------------------------------------------------------------------------------------
    ActionSpec("select_all", "&Points", "Select &all", "Select all points that are drawn",
               "selection_controller.select_all", ("Ctrl+A",), with_sequence),
    ActionSpec("invert_selection", "&Points", "In&vert selection",
               "Select the points that are drawn and not selected", "selection_controller.invert",
               ("Ctrl+I",), with_sequence),
    ActionSpec("deselect", "&Points", "&Deselect",
               "Return to the newest iteration; else select no point, play all frames, or show one run alone",
               "selection_controller.escape", ("Escape",), with_sequence),
    ActionSpec("worst_point", "&Points", "&Worst point of this frame",
               "Select the point with the largest error in the frame that is shown; again: the next one",
               "worst_frame.go_to_point", ("Shift+W",), with_reconstruction),
    ActionSpec("hide_points", "&Points", "Do not draw selected", "Leave the selected points out of all views",
               "selection_controller.hide", ("H",), with_sequence, separated=True),
    ActionSpec("isolate_points", "&Points", "&Isolate selected", "Draw the selected points only",
               "selection_controller.isolate", ("I",), with_sequence),
    ActionSpec("show_points", "&Points", "&Show all", "Draw all points again",
               "selection_controller.show_all", ("Shift+H",), with_sequence),
    ActionSpec("label_points", "&Points", "&Number selected",
               "Show the numbers of the selected points next to them, or hide them",
               "selection_controller.toggle_labels", ("N",), with_sequence),
    ActionSpec("scale", "&Points", "Set the s&cale…",
               "Give shapes, tables and exports a unit by a length that is known: the distance of two "
               "selected points, or the size of the object",
               "scale_dialog.show_scale", (), with_sequence, separated=True),
    # -- Tracks ---------------------------------------------------------------------------------------------
    ActionSpec("hide_observation", "&Tracks", "Hide this &observation",
               "Hide the selected points in this frame from the solver: they are drawn as crosses",
               "selection_controller.hide_in", ("X",), with_sequence, arguments=("this",)),
    ActionSpec("hide_onwards", "&Tracks", "Hide from &here on",
               "Hide the selected points from this frame to the last one from the solver",
               "selection_controller.hide_in", ("Shift+X",), with_sequence, arguments=("here",)),
    ActionSpec("hide_range", "&Tracks", "Hide in the &played frames",
               "Hide the selected points in the range of frames that playing repeats from the solver",
               "selection_controller.hide_in", ("Ctrl+X",), with_sequence, arguments=("played",)),
    ActionSpec("hide_point", "&Tracks", "Hide in &all frames",
               "Hide the selected points in all frames from the solver",
               "selection_controller.hide_in", ("Ctrl+Shift+X",), with_sequence, arguments=("all",)),
    ActionSpec("show_again", "&Tracks", "&Show again",
               "Let the solver use the selected points again, in all frames",
               "selection_controller.show_again", ("Y",), with_sequence, separated=True),
    ActionSpec("show_all_again", "&Tracks", "Show all a&gain",
               "Let the solver use all observations again", "selection_controller.show_all_again",
               ("Shift+Y",), with_sequence),
    ActionSpec("find_outliers", "&Tracks", "&Find outliers…",
               "Find observations that do not fit the reconstruction, and hide them together",
               "outliers_controller.show", ("O",), with_sequence, separated=True),
    # -- Frames ---------------------------------------------------------------------------------------------
    ActionSpec("play", "Fra&mes", "&Play", "Play the frames, or stop", "timeline_controller.toggle_playing",
               ("Space", "K"), playable),
    ActionSpec("previous", "Fra&mes", "P&revious frame", "One frame back", "timeline_controller.step",
               ("Left", "J"), playable, arguments=(-1,)),
    ActionSpec("next", "Fra&mes", "&Next frame", "One frame on", "timeline_controller.step",
               ("Right", "L"), playable, arguments=(1,)),
    ActionSpec("back", "Fra&mes", "Ten frames &back", "Ten frames back", "timeline_controller.step",
               ("Shift+Left",), playable, arguments=(-10,)),
    ActionSpec("forward", "Fra&mes", "Ten frames &forward", "Ten frames on", "timeline_controller.step",
               ("Shift+Right",), playable, arguments=(10,)),
    ActionSpec("first", "Fra&mes", "F&irst frame", "Go to the first frame", "timeline_controller.go_to",
               ("Home",), playable, arguments=(0,)),
    ActionSpec("last", "Fra&mes", "L&ast frame", "Go to the last frame", "timeline_controller.go_to",
               ("End",), playable, arguments=(-1,)),
    ActionSpec("worst_frame", "Fra&mes", "&Worst frame",
               "Go to the frame with the largest mean error; again: to the next one",
               "timeline.transport.worst_requested.emit", ("W",), with_reconstruction, separated=True),
    ActionSpec("range_first", "Fra&mes", "&Begin of the range",
               "Play from the frame that is shown on", "timeline_controller.set_end", ("[",), playable,
               arguments=(0,)),
    ActionSpec("range_last", "Fra&mes", "&End of the range",
               "Play up to the frame that is shown", "timeline_controller.set_end", ("]",), playable,
               arguments=(1,)),
    ActionSpec("range_all", "Fra&mes", "Play &all frames",
               "Remove the range: also Escape, or a double click on the slider",
               "session.set_frame_range", (), playable, arguments=(None,)),
    ActionSpec("truth_frame", "Fra&mes", "Frame with ground &truth",
               "Go to the frame that the intrinsics are estimated from",
               "timeline_controller.go_to_truth", ("G",), with_sequence, separated=True),
    # -- Export ---------------------------------------------------------------------------------------------
    ActionSpec("export", "E&xport", "&Export…",
               "Everything that can be exported: scenes, pages, meshes, tables, movies, pictures, a report",
               "export_controller.ask", ("Ctrl+E",), with_sequence, icon="export"),
    ActionSpec("export_report", "E&xport", "Repor&t of this run…",
               "One HTML page on the run that is shown: settings, numbers, plots, worst frames",
               "export_controller.ask", (), with_reconstruction, arguments=("report",), icon="reports"),
    ActionSpec("export_scene", "E&xport", "3-D &scene…",
               "USD and glTF, for Blender and others: the moving shape and its camera",
               "export_controller.ask", (), with_reconstruction, arguments=("scene",)),
    ActionSpec("export_page", "E&xport", "Web &page…",
               "One HTML file that plays the shape in a browser, without a network",
               "export_controller.ask", (), with_reconstruction, arguments=("page",)),
    ActionSpec("export_shapes", "E&xport", "&Meshes and points…",
               "PLY, OBJ and ParaView: one frame, or a file for every frame",
               "export_controller.ask", (), with_reconstruction, arguments=("shapes",)),
    ActionSpec("export_table", "E&xport", "Ta&ble…",
               "CSV: positions and errors of every point in every frame",
               "export_controller.ask", (), with_reconstruction, arguments=("table",)),
    ActionSpec("export_result", "E&xport", "&Complete result…",
               "NumPy or MATLAB: shapes, cameras, settings and how it was made",
               "export_controller.ask", (), with_reconstruction, arguments=("result",)),
    ActionSpec("export_movie", "E&xport", "Mo&vie of a view…", "MP4, GIF or numbered pictures",
               "export_controller.ask", (), with_sequence, arguments=("movie",), separated=True),
    ActionSpec("export_view", "E&xport", "3-D vie&w as picture…", "Save the 3-D view as .png",
               "export_controller.ask_for_view", ("Ctrl+Shift+E",), with_sequence),
    ActionSpec("copy_view", "E&xport", "&Copy the 3-D view", "Put the picture of the 3-D view, without its "
               "background, onto the clipboard",
               "export_controller.copy_view", ("Ctrl+Alt+C",), with_sequence),
    ActionSpec("export_figure", "E&xport", "Fi&gure for a paper…",
               "Any plot, the 2-D view, or shapes at several frames: black on white, in centimeters, as PDF "
               "or PNG", "export_controller.ask", (), with_sequence, arguments=("figure",)),
    # -- Help -----------------------------------------------------------------------------------------------
    ActionSpec("palette", "&Help", "&Find anything…",
               "Type a few letters of an action, a parameter, a panel, a sequence or a run",
               "command_palette_controller.open", ("Ctrl+K",)),
    ActionSpec("shortcuts", "&Help", "&Shortcuts", "All actions and their keys",
               "help_controller.show_shortcuts", ("F1",)),
    ActionSpec("method", "&Help", "The &method on one page",
               "What the rank, the weights and eta do, with pictures and the citations",
               "help_controller.show_page", ("F3",), arguments=("method.html",), separated=True),
    ActionSpec("result_help", "&Help", "Is my &result good?",
               "What the verdicts mean, how far each point can be trusted, and what to film next",
               "help_controller.show_page", arguments=("is_my_result_good.md",)),
    ActionSpec("own_tracks", "&Help", "&Your own tracks",
               "How the tracks of a tracker or a pose program get here: lines to copy for each of them",
               "help_controller.show_page", arguments=("own_tracks.md",)),
    ActionSpec("formats", "&Help", "F&ile formats",
               "The files that are read and written, and the arrays of a result file",
               "help_controller.show_page", arguments=("formats.md",)),
    ActionSpec("whats_this", "&Help", "&What is this?",
               "Explain what is clicked next; the key, pressed twice, explains what is under the pointer",
               "explanation_controller.wait_for_click", ("Shift+F1",)),
    ActionSpec("first_steps", "&Help", "First s&teps", "Show the first steps again", "first_steps.restart"),
    ActionSpec("about", "&Help", "&About", "Version, license, where the parts are loaded from",
               "help_controller.show_about", separated=True),
)  # fmt: skip


def written_keys(keys: Iterable[QKeySequence]) -> str:
    """Return shortcuts as they are written on this platform, "" for none."""
    return ", ".join(key.toString(QKeySequence.SequenceFormat.NativeText) for key in keys)


def bind(spec: ActionSpec, owner: object) -> Callable[..., object]:
    """Return what a row calls; it is looked up at the call, so that the order of construction is free."""

    def call(*checked: bool) -> object:
        return attrgetter(spec.target)(owner)(*spec.arguments, *checked)

    return call


def make_action(spec: ActionSpec, callback: Callable[..., object], parent: QWidget) -> QAction:
    """Return the QAction of a row of the table."""
    action = QAction(spec.title, parent)
    action.setObjectName(spec.name)
    action.setShortcuts([QKeySequence(key) for key in spec.shortcuts])
    action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
    action.setToolTip(f"{spec.tip} ({spec.keys})" if spec.keys else spec.tip)
    action.setWhatsThis(spec.tip)  # no status tip: it would cover the status of the solver
    action.setCheckable(spec.checkable)
    if spec.icon:
        role = QPalette.ColorRole.Accent if spec.name == "run" else QPalette.ColorRole.ButtonText
        action.setIcon(icon(spec.icon, role, disabled=QPalette.ColorRole.ButtonText))
    action.triggered.connect(callback if spec.checkable else lambda _checked: callback())
    return action
