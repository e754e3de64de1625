"""How things are drawn: the actions of the View menu, and their pop-up panel with all that can be chosen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PyQt6.QtCore import QPoint, QSignalBlocker, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QIcon, QImage, QPixmap
from PyQt6.QtWidgets import QCheckBox, QFormLayout, QFrame, QGridLayout, QWidget

from core import InputError, Sequence
from nrsfm_gui.model.appearance import (
    COLOR_MAPS,
    COLORINGS,
    LABELS,
    LAYERS,
    MESH_MODES,
    MESH_SOURCES,
    MOST_TRAIL_FRAMES,
    POINT_SIZES,
    Appearance,
)
from nrsfm_gui.model.session import Session
from nrsfm_gui.panels.appearance.mesh_files import READERS, read_triangulation
from nrsfm_gui.scene.display import Display
from nrsfm_gui.scene.scene import Scene
from nrsfm_gui.widgets.colors import color_table
from nrsfm_gui.widgets.dialogs import ask_for_path
from nrsfm_gui.widgets.fields import ComboBox, DoubleSpinBox, SpinBox, push_button, row, with_tip
from nrsfm_gui.widgets.labels import PlainLabel

SWATCH = QSize(56, 12)
MODE_TITLES = {"off": "Off", "wire": "Wire", "shaded": "Shaded", "both": "Shaded and wire"}
MAP_TIP = "Colors from low to high: each is perceptually uniform and safe for the color-blind"
CHOICES = {  # of fields of the appearance: what can be chosen, by key, a name and a tip
    "color_by": (COLORINGS, "", "What the colors of the points stand for"),
    "color_map": ({name: name.capitalize() for name in COLOR_MAPS}, "", MAP_TIP),
    "mesh_mode": (MODE_TITLES, "Drawing of the mesh", "How the mesh is drawn (M)"),
    "mesh_source": (MESH_SOURCES, "", "Where the mesh is from"),
    "labels": (LABELS, "", "Which points are labeled by their numbers"),
}
ELSEWHERE = {"edges", "faces"}  # layers with a field of their own
GAP = 6  # pixels between the panel and the button that opens it
FARTHEST = 1e12  # of a limit


class AppearancePanel(QFrame):
    """Changes the session's appearance. It opens near a button, and closes on a click elsewhere."""

    appearance_requested = pyqtSignal(object)  # a field was changed

    def __init__(
        self,
        session: Session,
        display: Display,
        parent: QWidget,
        *,
        button: QWidget,
        drawn_by: Callable[[], str],
        show_cameras: Callable[[], object],
    ) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self._session, self._notifier, self._display = session, session.notifier, display
        self._button, self._drawn_by, self._show_cameras = button, drawn_by, show_cameras
        self.setObjectName("appearance_panel")
        self.setAccessibleName("Appearance of the views")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setProperty("role", "popup")
        self._shown: tuple[object, ...] = ()  # what the fields of the limits show
        self.choices = {field: self._choice(field) for field in CHOICES}
        self.choices["color_map"].setIconSize(SWATCH)
        for index, name in enumerate(COLOR_MAPS):
            self.choices["color_map"].setItemIcon(index, _swatch(name))
        self.low, self.high = self._limit("Lowest value of the color scale"), self._limit("Highest value")
        self.disorder = PlainLabel("The lowest value must be below the highest one.", role="warning")
        self.disorder.hide()
        tip = "Take the limits from all frames, without the farthest strays"
        self.automatic = with_tip(QCheckBox("From the data"), "Limits from the data", tip)
        self.automatic.toggled.connect(self._on_automatic_toggled)
        self.layers = {key: self._layer(key) for key in LAYERS if key not in ELSEWHERE}
        tip = "Draw where each point was in the frames before (T)"
        trails = with_tip(self.layers["trails"], "Trails", tip)
        trails.setText("On")
        tip = "How many frames back a trail reaches"
        self.trail_frames = with_tip(SpinBox(), "Length of the trails in frames", tip)
        self.trail_frames.setRange(1, MOST_TRAIL_FRAMES)
        self.trail_frames.setSuffix(" frames")
        self.trail_frames.valueChanged.connect(lambda count: self._request(trail_frames=count))
        tip = "Read triangles from .npz, .obj, .ply or .txt"
        load = with_tip(push_button("Load…", tip, self.ask_for_triangulation), "Load triangulation", tip)
        tip = "Size of the points, of the one that suits their number"
        self.point_size = with_tip(SpinBox(), "Size of the points in percent", tip)
        self.point_size.setRange(*(round(100 * size) for size in POINT_SIZES))
        self.point_size.setSingleStep(25)
        self.point_size.setSuffix(" %")
        self.point_size.valueChanged.connect(lambda percent: self._request(point_size=percent / 100))
        self.renderer = PlainLabel(role="muted", wraps=True)
        form = QFormLayout(self)
        form.setContentsMargins(14, 12, 14, 12)
        form.setVerticalSpacing(7)
        grid = QGridLayout()
        grid.setVerticalSpacing(7)
        for place, box in enumerate(box for key, box in self.layers.items() if key != "trails"):
            grid.addWidget(box, place // 3, place % 3)
        choices = self.choices
        form.addRow("Color by", choices["color_by"])
        form.addRow("Colors", choices["color_map"])
        form.addRow("Limits", row(self.low, PlainLabel("to"), self.high, self.automatic, None, spacing=7))
        form.addRow("", self.disorder)
        form.addRow("Trails", row(trails, self.trail_frames, None, spacing=7))
        form.addRow("Mesh", row(choices["mesh_mode"], choices["mesh_source"], load, None, spacing=7))
        form.addRow("Points", row(self.point_size, PlainLabel("numbers"), choices["labels"], None, spacing=7))
        form.addRow("Show", grid)
        form.addRow(self.renderer)
        self.set_appearance(session.appearance)
        self.appearance_requested.connect(session.set_appearance)
        session.appearance_changed.connect(self.set_appearance)
        session.sequence_changed.connect(self._update_loaded)
        display.scene_shown.connect(self.set_scene)

    # -- what the actions call ------------------------------------------------------------------------------

    def set_layer(self, layer: str, on: bool) -> None:
        """Show a layer or not."""
        self._session.set_appearance(self._session.appearance.with_layer(layer, on))

    def color_by_error(self, on: bool) -> None:
        """Color points by their error, or by their role."""
        self._session.change_appearance(color_by="error" if on else "role")

    def show_uncertainty(self, on: bool) -> None:
        """Color points by their uncertainty and draw it around them, or neither."""
        layers = self._session.appearance.with_layer("halos", on).layers
        self._session.change_appearance(color_by="uncertainty" if on else "role", layers=layers)

    def set_path(self, on: bool) -> None:
        """Draw the cameras of all frames, and look at them, or not."""
        sequence = self._session.sequence
        self.set_layer("path", on)
        self._display.refresh()
        scene = self._display.scene
        if on and sequence is not None and scene is not None and scene.path is None:
            parallel = scene.camera is not None and scene.camera.orthogonal
            why = ": cameras of parallel rays have no place" if parallel else " yet: run the solver (Ctrl+R)"
            self._notifier.inform(f"There is no camera path{why}.")
        self._show_cameras()

    def cycle_mesh(self) -> None:
        """Draw the mesh in the next way: off, wire, shaded, both; off or wire where there are only edges."""
        appearance, scene = self._session.appearance, self._display.scene
        if scene is None or not (len(scene.edges) or len(scene.faces)):
            self._notifier.inform(
                "There is no mesh: this file gives none, and none was found in its shapes"
                f"{' yet: run the solver (Ctrl+R)' if scene is None or scene.estimate is None else ''}. "
                "Look… offers triangles between the tracks."
            )
            return
        modes = list(MESH_MODES) if len(scene.faces) else ["off", "wire"]
        now = appearance.mesh_mode
        now = now if now in modes else "wire" if "edges" in MESH_MODES[now] else "off"
        mode = modes[(modes.index(now) + 1) % len(modes)]
        self._notifier.show_status(f"Mesh: {mode}")
        self._session.set_appearance(appearance.with_mesh_mode(mode))

    def toggle(self) -> None:
        """Open near the button, below it or above where there is no space, or close."""
        anchor = self._button
        if self.isVisible() or not anchor.isVisible():
            self.hide()
            return
        self.renderer.setText(self._drawn_by())
        self.adjustSize()
        corner = anchor.mapToGlobal(QPoint(anchor.width(), anchor.height() + GAP))
        place = corner - QPoint(self.width(), 0)
        screen = anchor.screen()
        if screen is not None:
            available = screen.availableGeometry()
            if place.y() + self.height() > available.bottom():
                place.setY(place.y() - self.height() - anchor.height() - 2 * GAP)
            place.setX(min(max(place.x(), available.left()), available.right() - self.width()))
            place.setY(max(place.y(), available.top()))
        self.move(place)
        self.show()
        self.choices["color_by"].setFocus()

    def ask_for_triangulation(self) -> None:
        """Ask for a file of triangles."""
        self.hide()
        filters = f"Triangulations ({' '.join(f'*{suffix}' for suffix in READERS)})"
        ask_for_path(self._button, "Load triangulation", self.load_triangulation, filters=filters)

    def load_triangulation(self, path: Path) -> None:
        """Draw the triangles of a file, for this sequence and others of as many points."""
        sequence = self._session.sequence
        if sequence is None:
            return
        try:
            found = read_triangulation(path, sequence.point_count)
        except InputError as error:
            self._notifier.fail(str(error), "")
            return
        self._session.add_files([sequence], [path])
        mode = self._session.appearance.mesh_mode
        appearance = self._session.appearance.changed(mesh_source="loaded", triangulation=found)
        self._session.set_appearance(appearance.with_mesh_mode("both" if mode == "off" else mode))
        self._update_loaded(sequence)
        self._notifier.inform(f"{len(found.faces)} triangles of {path.name} are drawn.")

    # -- what is shown --------------------------------------------------------------------------------------

    def set_appearance(self, appearance: Appearance) -> None:
        """Show an appearance. Emits nothing."""
        with QSignalBlocker(self):
            for field, box in self.choices.items():
                box.setCurrentIndex(box.findData(getattr(appearance, field)))
            self.trail_frames.setValue(appearance.trail_frames)
            self.point_size.setValue(round(100 * appearance.point_size))
            self.automatic.setChecked(appearance.limits is None)
            for key, layer in self.layers.items():
                layer.setChecked(key in appearance.layers)

    def set_scene(self, scene: Scene) -> None:
        """Show the limits of a scene, and which sources of a mesh there are. Emits nothing."""
        limits = scene.color_limits
        enabled = limits is not None and scene.colored
        shown = limits, enabled, scene.appearance.limits
        if shown == self._shown:  # as it is from frame to frame
            return
        self._shown = shown
        with QSignalBlocker(self):
            for box, value in zip((self.low, self.high), limits or (0.0, 1.0), strict=True):
                if limits is not None and not box.hasFocus():
                    span = limits[1] - limits[0]
                    box.setDecimals(int(np.clip(3 - np.floor(np.log10(span)), 0, 12)))
                    box.setSingleStep(10.0 ** np.floor(np.log10(span / 5)))
                    box.setValue(value)
                box.setEnabled(enabled and scene.appearance.limits is not None)
        self.automatic.setEnabled(enabled)

    def _update_loaded(self, sequence: Sequence) -> None:
        """Name the loaded triangulation, and offer it where it fits the sequence."""
        loaded = self._session.appearance.triangulation
        fits = loaded is not None and loaded.points == sequence.point_count
        box = self.choices["mesh_source"]
        index = box.findData("loaded")
        box.item(index).setEnabled(fits)
        box.setItemText(index, loaded.name if loaded is not None and fits else MESH_SOURCES["loaded"])

    # -- requests --------------------------------------------------------------------------------------------

    def _request(self, **changes: Any) -> None:
        self.appearance_requested.emit(self._session.appearance.changed(**changes))

    def _choose(self, field: str) -> None:
        chosen = self.choices[field].currentData()
        if field == "mesh_mode":
            field, chosen = "layers", self._session.appearance.with_mesh_mode(chosen).layers
        self._request(**{field: chosen})

    def _on_automatic_toggled(self, automatic: bool) -> None:
        """Use the limits of the data, or the present ones."""
        low, high = self.low.value(), self.high.value()
        self._request(limits=None if automatic or not low < high else (low, high))
        self._show_order()

    def _on_limit_changed(self) -> None:
        low, high = self.low.value(), self.high.value()
        if low < high and self._session.appearance.limits is not None:
            self._request(limits=(low, high))
        self._show_order()

    def _show_order(self) -> None:
        """Show a warning where the lower limit is not below the upper one."""
        wrong = self._session.appearance.limits is not None and not self.low.value() < self.high.value()
        if wrong is self.disorder.isHidden():
            self.disorder.setVisible(wrong)
            self.adjustSize()

    # -- making ---------------------------------------------------------------------------------------------

    def _choice(self, field: str) -> ComboBox:
        titles, name, tip = CHOICES[field]
        box = with_tip(ComboBox(), name or tip, tip)
        for key, title in titles.items():
            box.addItem(title, key)
        box.activated.connect(lambda _index: self._choose(field))
        return box

    def _limit(self, tip: str) -> DoubleSpinBox:
        box = with_tip(DoubleSpinBox(), tip, tip)
        box.setRange(-FARTHEST, FARTHEST)
        box.setKeyboardTracking(False)
        box.setMaximumWidth(110)
        box.valueChanged.connect(lambda _value: self._on_limit_changed())
        return box

    def _layer(self, key: str) -> QCheckBox:
        title = LAYERS[key]
        box = with_tip(QCheckBox(title), f"Layer {title}", f"Show or hide: {title.lower()}")
        box.toggled.connect(
            lambda on: self.appearance_requested.emit(self._session.appearance.with_layer(key, on))
        )
        return box


def _swatch(name: str) -> QIcon:
    table, width, height = color_table(name), SWATCH.width(), SWATCH.height()
    colors = table[np.linspace(0, len(table) - 1, width).astype(int)]
    content = np.repeat(colors[None], height, axis=0).tobytes()
    return QIcon(QPixmap.fromImage(QImage(content, width, height, QImage.Format.Format_RGBA8888).copy()))
