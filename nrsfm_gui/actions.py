"""One table of everything that can be done: title, shortcut, tip, what it calls and when it is possible.

Menus, tool bar and the sheet of shortcuts (F1) are all made of this table. Shortcuts work from any focus in
the window; a text field takes the keys that it can use before they become shortcuts, and typing stays typing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QAction, QKeySequence

if TYPE_CHECKING:
    from PyQt6.QtWidgets import QWidget

    from .main_window import MainWindow


@dataclass(frozen=True)
class Situation:
    """What decides which actions are possible."""

    sequence: bool  # one is open
    frames: bool  # it has more than one
    alive: bool  # a run is being worked on
    paused: bool
    reconstruction: bool  # one is shown
    runs: bool  # there are some
    valid: bool  # every parameter is accepted


When = Callable[[Situation], bool]


def always(_situation: Situation) -> bool:
    """Return True."""
    return True


def with_sequence(situation: Situation) -> bool:
    """Return whether a sequence is open."""
    return situation.sequence


def with_reconstruction(situation: Situation) -> bool:
    """Return whether a reconstruction is shown."""
    return situation.reconstruction


def runnable(situation: Situation) -> bool:
    """Return whether a run can start: there is a sequence, and every parameter is accepted."""
    return situation.sequence and situation.valid


def alive(situation: Situation) -> bool:
    """Return whether a run is being worked on."""
    return situation.alive


def playable(situation: Situation) -> bool:
    """Return whether there is more than one frame."""
    return situation.frames


@dataclass(frozen=True)
class ActionSpec:
    """One line of the table."""

    name: str
    menu: str
    title: str  # with & before the letter of the menu
    tip: str
    callback: Callable[..., object]  # takes the checked state where the action is checkable
    shortcuts: tuple[str, ...] = ()
    when: When = always
    checkable: bool = False
    checked: bool = False
    icon: str = ""
    separated: bool = False  # a line above it in its menu


def action_table(w: MainWindow) -> tuple[ActionSpec, ...]:
    """Return the table, bound to a window."""
    return (*_file(w), *_run(w), *_view(w), *_play(w), *_export(w), *_help(w))


def _file(w: MainWindow) -> tuple[ActionSpec, ...]:
    opening = w.opening
    return (
        ActionSpec("open", "&File", "&Open file…", "Open a sequence: .txt, .mat, .npz or .csv",
                   opening.ask_for_file, ("Ctrl+O",), icon="open"),
        ActionSpec("open_folder", "&File", "Open &folder…", "Open a folder of the NRSfM Challenge",
                   opening.ask_for_folder, ("Ctrl+Shift+O",)),
        ActionSpec("reports", "&File", "Re&ports", "Read reports of the paper's experiments, or make one",
                   w.show_reports, ("F2",), icon="reports"),
        ActionSpec("quit", "&File", "&Quit", "Stop the solver and close the window", w.close, ("Ctrl+Q",),
                   separated=True),
    )  # fmt: skip


def _run(w: MainWindow) -> tuple[ActionSpec, ...]:
    control = w.control
    return (
        ActionSpec("run", "&Run", "&Run", "Solve, from the reconstruction that is shown, or from nothing",
                   w.run, ("Ctrl+R",), runnable, icon="run"),
        ActionSpec("run_cold", "&Run", "Run from &scratch", "Solve from nothing, as the command line does",
                   w.run_from_scratch, ("Ctrl+Shift+R",), runnable),
        ActionSpec("pause", "&Run", "&Pause", "Hold the solver between two iterations", control.set_paused,
                   ("Ctrl+P",), alive, checkable=True, icon="pause"),
        ActionSpec("step", "&Run", "S&tep", "Do one iteration, then hold", w.step, ("Ctrl+T",), runnable,
                   icon="step"),
        ActionSpec("stop", "&Run", "Sto&p", "Stop; the best point so far is kept", control.cancel,
                   ("Ctrl+.",), alive, icon="stop"),
        ActionSpec("reset", "&Run", "R&eset", "Stop and forget all runs of this sequence", control.reset,
                   ("Ctrl+Shift+Backspace",), lambda s: s.runs, icon="reset", separated=True),
        ActionSpec("live", "&Run", "&Live parameters", "Solve on after every change of a parameter",
                   control.set_live, ("Ctrl+L",), checkable=True, icon="live", separated=True),
        ActionSpec("slow", "&Run", "Slow &motion", "Wait a tenth of a second after every iteration",
                   control.set_slow, ("Ctrl+M",), checkable=True),
    )  # fmt: skip


def _view(w: MainWindow) -> tuple[ActionSpec, ...]:
    view = w.scene_view
    presets = (("front", "1"), ("side", "2"), ("top", "3"), ("iso", "4"))
    return (
        ActionSpec("fit", "&View", "&Fit", "Show the whole sequence in both views", w.fit, ("F",),
                   with_sequence, icon="fit"),
        *(
            ActionSpec(name, "&View", f"From the {name}" if name != "iso" else "Oblique",
                       f"Look from the {name}" if name != "iso" else "Look from above and aside",
                       lambda name=name: view.set_axis_preset(name), (key,), with_sequence,
                       separated=name == "front")
            for name, key in presets
        ),
        ActionSpec("orthographic", "&View", "&Orthographic", "Parallel rays in the 3-D view",
                   view.set_orthographic, ("5",), checkable=True, separated=True),
        ActionSpec("camera_lock", "&View", "Lock to the &camera",
                   "See the 3-D view through the camera of the current frame", view.set_camera_locked, ("C",),
                   checkable=True),
        ActionSpec("color_by_error", "&View", "Color by &error", "Color points by their error",
                   w.display.set_color_by_error, ("E",), checkable=True),
        ActionSpec("theme", "&View", "&Light theme", "Dark or light colors", w.set_light, ("Ctrl+Shift+L",),
                   checkable=True, icon="theme", separated=True),
        ActionSpec("reset_layout", "&View", "&Reset layout", "Put all panels back where they were at first",
                   w.reset_layout),
    )  # fmt: skip


def _play(w: MainWindow) -> tuple[ActionSpec, ...]:
    return (
        ActionSpec("play", "&Frames", "&Play", "Play the frames, or stop", w.toggle_playing,
                   ("Space", "K"), playable),
        ActionSpec("previous", "&Frames", "P&revious frame", "One frame back", lambda: w.step_frame(-1),
                   ("Left", "J"), playable),
        ActionSpec("next", "&Frames", "&Next frame", "One frame on", lambda: w.step_frame(1),
                   ("Right", "L"), playable),
        ActionSpec("back", "&Frames", "Ten frames &back", "Ten frames back", lambda: w.step_frame(-10),
                   ("Shift+Left",), playable),
        ActionSpec("forward", "&Frames", "Ten frames &forward", "Ten frames on", lambda: w.step_frame(10),
                   ("Shift+Right",), playable),
        ActionSpec("first", "&Frames", "F&irst frame", "Go to the first frame", lambda: w.go_to_frame(0),
                   ("Home",), playable),
        ActionSpec("last", "&Frames", "L&ast frame", "Go to the last frame", lambda: w.go_to_frame(-1),
                   ("End",), playable),
        ActionSpec("truth_frame", "&Frames", "Frame with ground &truth",
                   "Go to the frame that the intrinsics are estimated from", w.go_to_truth, ("G",),
                   with_sequence, separated=True),
        ActionSpec("deselect", "&Frames", "&Deselect", "Select no point", lambda: w.session.set_point(-1),
                   ("Escape",), with_sequence),
    )  # fmt: skip


def _export(w: MainWindow) -> tuple[ActionSpec, ...]:
    exporting = w.exporting
    return (
        ActionSpec("export", "&Export", "&Reconstruction…", "Save as .npz, .mat, .csv, .ply or .obj",
                   exporting.ask_for_reconstruction, ("Ctrl+E",), with_reconstruction, icon="export"),
        ActionSpec("export_frames", "&Export", "&All frames as PLY or OBJ…",
                   "One numbered file for every frame",
                   exporting.ask_for_frames, (), with_reconstruction),
        ActionSpec("export_view", "&Export", "3-D &view as picture…", "Save the 3-D view as .png",
                   exporting.ask_for_view, ("Ctrl+Shift+E",), with_sequence, separated=True),
        ActionSpec("export_tracks", "&Export", "2-&D view as picture…", "Save the 2-D view as .png",
                   exporting.ask_for_tracks, (), with_sequence),
        ActionSpec("export_loss", "&Export", "&Loss plot…", "Save the loss plot as .png, .svg or .pdf",
                   exporting.ask_for_loss, (), lambda s: s.runs),
        ActionSpec("export_spectrum", "&Export", "Plot of the &weights…",
                   "Save the singular values and weights as .png, .svg or .pdf",
                   exporting.ask_for_spectrum, (), with_reconstruction),
        ActionSpec("copy_python", "&Export", "Copy as &Python",
                   "Copy the Python program that gives these numbers", exporting.copy_python,
                   ("Ctrl+Shift+P",), runnable, separated=True),
        ActionSpec("copy_command", "&Export", "Copy as &command",
                   "Copy the command that gives these numbers", exporting.copy_command,
                   ("Ctrl+Shift+C",), runnable),
    )  # fmt: skip


def _help(w: MainWindow) -> tuple[ActionSpec, ...]:
    return (
        ActionSpec(
            "shortcuts", "&Help", "&Shortcuts", "All actions and their keys", w.show_shortcuts, ("F1",)
        ),
        ActionSpec(
            "about", "&Help", "&About", "Version, licence, where the parts are loaded from", w.show_about
        ),
    )


def make_action(spec: ActionSpec, parent: QWidget) -> QAction:
    """Return the QAction of a line of the table."""
    action = QAction(spec.title, parent)
    action.setObjectName(spec.name)
    action.setShortcuts([QKeySequence(key) for key in spec.shortcuts])
    action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
    keys = ", ".join(
        QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText) for key in spec.shortcuts
    )
    action.setToolTip(f"{spec.tip} ({keys})" if keys else spec.tip)
    action.setStatusTip(spec.tip)
    action.setCheckable(spec.checkable)
    action.setChecked(spec.checked)
    if spec.checkable:
        action.triggered.connect(lambda checked: spec.callback(checked))
    else:
        action.triggered.connect(lambda _checked: spec.callback())
    return action
