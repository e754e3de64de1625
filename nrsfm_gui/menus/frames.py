"""Rows of the menu Frames: playing and going to a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nrsfm_gui.actions import ActionSpec, playable, with_sequence

if TYPE_CHECKING:
    from nrsfm_gui.main_window import MainWindow


def frame_rows(w: MainWindow) -> tuple[ActionSpec, ...]:
    """Return the rows of the menu Frames."""
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
    )  # fmt: skip
