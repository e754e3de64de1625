"""The question about the camera: perspective with a focal length that is known, or not, or orthogonal."""

from __future__ import annotations

from dataclasses import dataclass

from PyQt6.QtCore import pyqtSignal

from core import CameraModel
from core.cameras import DEFAULT_RATIO, view_of_focal
from nrsfm_gui.model.numbers import format_number
from nrsfm_gui.widgets.fields import Choice
from nrsfm_gui.widgets.focal_length_editor import FocalLengthEditor
from nrsfm_gui.widgets.form import Form

Intrinsics = tuple[float, float, float, float]  # fx, fy, cx, cy in pixels
AUTO = "auto"  # the file's perspective camera, with the assumed focal length
UNKNOWN, ESTIMATE, KNOWN, ORTHOGONAL = AUTO, "estimate", "known", CameraModel.ORTHOGONAL.value
TITLES = {
    UNKNOWN: "perspective, focal length not known",
    ESTIMATE: "perspective, focal length estimated by each run",
    KNOWN: "perspective, focal length known",
    ORTHOGONAL: "orthogonal: no perspective at all",
}
TIPS = {
    UNKNOWN: f"{DEFAULT_RATIO:g} times the longer side of the picture is assumed.",
    ESTIMATE: "Self-calibration by the tracks, where they determine it; a run takes twice as long.",
    KNOWN: "In pixels, in millimeters of the lens, or as a field of view.",
    ORTHOGONAL: "For very far objects, telephoto lenses and motion capture: size does not change with depth.",
}


@dataclass(frozen=True)
class CameraAnswer:
    """What was answered, as `Settings` has it."""

    camera_model: str = AUTO
    intrinsics: str | Intrinsics = AUTO


class CameraForm(Form):
    """Rows for the camera model and its focal length."""

    edited = pyqtSignal()  # another answer was chosen or typed

    def __init__(self) -> None:
        super().__init__()
        self._size = self._middle = (0.0, 0.0)
        self._guessed = True
        self.kind = Choice(TIPS, titles=TITLES)
        self.focal = FocalLengthEditor()
        self.add("camera", "model", self.kind, tip="How the tracks were filmed.")
        tip = "Of the lens: in pixels, in mm, or as a field of view."
        self.add("focal", "focal length", self.focal, tip=tip)
        self.kind.chosen.connect(self._on_kind_chosen)
        self.focal.edited.connect(self._on_focal_edited)

    def set_picture(self, size: tuple[float, float], middle: tuple[float, float], *, guessed: bool) -> None:
        """Set width, height and middle of the picture in pixels, and whether they are only guessed."""
        self._size, self._middle, self._guessed = size, middle, guessed
        self.focal.set_side(max(size))
        self._show()

    def set_answer(self, answer: CameraAnswer) -> None:
        """Show an answer; emits nothing."""
        if answer.camera_model == ORTHOGONAL:
            self.kind.set_key(ORTHOGONAL)
        elif isinstance(answer.intrinsics, str):
            self.kind.set_key(ESTIMATE if answer.intrinsics == ESTIMATE else UNKNOWN)
            self.focal.set_focal_length(None)
        else:
            self.kind.set_key(KNOWN)
            self.focal.set_focal_length(answer.intrinsics[0])
        self._show()

    def answer(self) -> CameraAnswer:
        """Return what is answered. Raises ValueError with a sentence, where the focal length is refused."""
        if self.kind.key == ORTHOGONAL:
            return CameraAnswer(ORTHOGONAL)
        if self.kind.key in (UNKNOWN, ESTIMATE):
            return CameraAnswer(intrinsics=self.kind.key)
        focal = self.focal.focal_length()
        return CameraAnswer(intrinsics=(focal, focal, *self._middle))

    def _on_kind_chosen(self, kind: str) -> None:
        if kind == KNOWN and not self._has_focal():
            self.focal.set_focal_length(round(DEFAULT_RATIO * max(self._size)))
        self._show()
        if kind == KNOWN:
            self.focal.setFocus()
        self.edited.emit()

    def _on_focal_edited(self) -> None:
        self._show()
        self.edited.emit()

    def _has_focal(self) -> bool:
        try:
            self.focal.focal_length()
        except ValueError:
            return False
        return True

    def _show(self) -> None:
        """Show the rows that apply, and below them what follows from the answer."""
        kind, side = self.kind.key, max(self._size)
        self.set_row_visible("focal", kind == KNOWN)
        guess = " (guessed)" if self._guessed else ""
        self.set_message("camera", TIPS[kind] if kind in (ESTIMATE, ORTHOGONAL) else "", refused=False)
        self.set_message("focal", "")
        if kind == UNKNOWN:
            assumed = f"{DEFAULT_RATIO:g} × {format_number(side)} = {DEFAULT_RATIO * side:.0f} px is assumed"
            picture = f"{' × '.join(f'{each:.0f}' for each in self._size)} px{guess}"
            sentence = f"Picture {picture}: {assumed}. An error of 20 % costs little."
            self.set_message("camera", sentence, refused=False)
        elif kind == KNOWN:
            try:
                focal = self.focal.focal_length()
            except ValueError as refusal:
                sentence, refused = f"{str(refusal)[0].upper()}{str(refusal)[1:]}.", True
            else:
                angle, refused = view_of_focal(focal, side), False
                sentence = f"{focal:.0f} px: {angle:.0f}° along the {side:.0f} px of the longer side{guess}."
            self.set_message("focal", sentence, refused=refused)
