"""Rows of the menu Frames: playing and going to a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nrsfm_gui.shell.actions import ActionSpec, playable, with_reconstruction, with_sequence

if TYPE_CHECKING:
    from nrsfm_gui.main_window import MainWindow


def frame_rows(w: MainWindow) -> tuple[ActionSpec, ...]:
    """Return the rows of the menu Frames."""
    go = w.navigation
    return (
        ActionSpec("play", "Fra&mes", "&Play", "Play the frames, or stop", go.toggle_playing,
                   ("Space", "K"), playable),
        ActionSpec("previous", "Fra&mes", "P&revious frame", "One frame back", lambda: go.step(-1),
                   ("Left", "J"), playable),
        ActionSpec("next", "Fra&mes", "&Next frame", "One frame on", lambda: go.step(1),
                   ("Right", "L"), playable),
        ActionSpec("back", "Fra&mes", "Ten frames &back", "Ten frames back", lambda: go.step(-10),
                   ("Shift+Left",), playable),
        ActionSpec("forward", "Fra&mes", "Ten frames &forward", "Ten frames on", lambda: go.step(10),
                   ("Shift+Right",), playable),
        ActionSpec("first", "Fra&mes", "F&irst frame", "Go to the first frame", lambda: go.go_to(0),
                   ("Home",), playable),
        ActionSpec("last", "Fra&mes", "L&ast frame", "Go to the last frame", lambda: go.go_to(-1),
                   ("End",), playable),
        ActionSpec("worst_frame", "Fra&mes", "&Worst frame",
                   "Go to the frame with the largest mean error; again: to the next one", w.worst.go_to_frame,
                   ("W",), with_reconstruction, separated=True),
        ActionSpec("range_first", "Fra&mes", "&Begin of the range",
                   "Play from the frame that is shown on", w.selecting.begin_range, ("[",), playable,
                   separated=True),
        ActionSpec("range_last", "Fra&mes", "&End of the range",
                   "Play up to the frame that is shown", w.selecting.end_range, ("]",), playable),
        ActionSpec("range_all", "Fra&mes", "Play &all frames",
                   "Take the range back: also Escape, or a double click on the slider",
                   lambda: w.session.set_frame_range(None), (), playable),
        ActionSpec("truth_frame", "Fra&mes", "Frame with ground &truth",
                   "Go to the frame that the intrinsics are estimated from", go.go_to_truth, ("G",),
                   with_sequence, separated=True),
    )  # fmt: skip
