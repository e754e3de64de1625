"""The rows of the export dialog, each with its editor."""

from __future__ import annotations

from PyQt6.QtWidgets import QCheckBox, QWidget

from core.io.writers import ALIGNMENTS, COORDINATES, INTERPOLATIONS
from nrsfm_gui.export.export_fields import PairField, PathField
from nrsfm_gui.export.export_request import KINDS, PLOTS, TURNINGS, WHICH_FRAMES
from nrsfm_gui.export.movie_options import VIEWS
from nrsfm_gui.widgets.fields import NumberField
from nrsfm_gui.widgets.form import Form
from nrsfm_gui.widgets.sources import Choice

SIZE = (1280, 720)  # pixels, at first
ALIGN_TITLES = {
    "none": "none: calibrated units",
    "scale": "size of the ground truth",
    "truth": "every frame by a similarity",
    "sequence": "all frames by one similarity",
}


class ExportForm(Form):
    """All rows; which of them matter is the dialog's to say."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.what = Choice(
            {key: kind.tip for key, kind in KINDS.items()},
            titles={key: kind.title for key, kind in KINDS.items()},
        )
        self.format = Choice({})
        self.view = Choice(VIEWS, titles=VIEWS)
        self.plot = Choice(PLOTS, titles=PLOTS)
        self.frames = Choice(WHICH_FRAMES, titles=WHICH_FRAMES)
        self.range = PairField("to", ("First frame, counted from 1", "Last frame"))
        self.seconds = NumberField()
        self.seconds.set_value(6.0)
        self.coordinates = Choice(COORDINATES, titles={"object": "of the object", "camera": "of each camera"})
        self.align = Choice(ALIGNMENTS, titles=ALIGN_TITLES)
        self.mirror = QCheckBox("take it where it is nearer to the truth")
        self.text = QCheckBox("readable text, not binary")
        self.size_field = PairField("×", ("Width in pixels", "Height in pixels"))
        self.size_field.set_values(SIZE)
        self.fps = NumberField()
        self.fps.set_value(15.0)
        self.turning = Choice(TURNINGS, titles={"none": "none", "once": "one turn", "speed": "at a speed"})
        self.speed = NumberField()
        self.speed.set_value(30.0)
        self.interpolation = Choice(INTERPOLATIONS, titles={"linear": "straight lines", "step": "steps"})
        self.path = PathField()
        for name, label, editor, tip in (
            ("what", "export", self.what, "What is written."),
            ("format", "format", self.format, "The file format; its suffix ends the file's name."),
            ("view", "view", self.view, "Which view, as it is drawn now."),
            ("plot", "plot", self.plot, "Which plot is written."),
            ("frames", "frames", self.frames, "Which frames; numbered files count from 1, as the window."),
            ("range", "frames", self.range, "First and last frame of the movie, counted from 1."),
            ("seconds", "duration (s)", self.seconds, "How long a single frame is shown, in seconds."),
            ("coordinates", "coordinates", self.coordinates, "Of the object, S, or of each camera, R S + t."),
            (
                "align",
                "alignment",
                self.align,
                "How shapes are laid over the ground truth, and its unit.",
            ),
            ("mirror", "mirror image", self.mirror, "Take the mirror image if the ground truth is nearer."),
            ("text", "text", self.text, "Write a PLY file that can be read, not a smaller one."),
            ("size", "size (px)", self.size_field, "Width and height in pixels; an MP4 takes even numbers."),
            ("fps", "frames per second", self.fps, "How fast the frames follow: above 0, up to 240."),
            ("turning", "turntable", self.turning, "Whether the 3-D camera turns around the object."),
            ("speed", "degrees per second", self.speed, "Speed of the turntable; below 0 it turns back."),
            ("interpolation", "between frames", self.interpolation, "How points move between frames."),
            ("path", "file", self.path, "Where to; other files of the name are replaced."),
        ):
            self.add(name, label, editor, tip=tip)
