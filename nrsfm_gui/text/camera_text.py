"""What is known of a camera, as a sentence. No Qt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.cameras import ORIGINS, image_size_of, view_of_focal

if TYPE_CHECKING:
    from core import Sequence
    from core.cameras import Calibration

WITHOUT_FOCAL = ("normalized", "calibrated")  # origins that have no focal length


def calibration_text(calibration: Calibration, sequence: Sequence) -> str:
    """Return focal length, field of view, principal point and where they are from; "" if unknown."""
    origin, K = calibration.origin, calibration.K
    if origin.source in WITHOUT_FOCAL:
        return ""
    focal = float(np.sqrt(K[0, 0] * K[1, 1]))
    (width, height), _ = image_size_of(sequence)
    angle, unit = view_of_focal(focal, max(width, height)), sequence.units
    place = f"{angle:.0f}° wide, center {K[0, 2]:.0f}, {K[1, 2]:.0f} {unit}"
    if origin.remark:
        return f"{origin.remark[0].upper()}{origin.remark[1:]} ({place})."
    return f"f {focal:.4g} {unit} ({place}), {ORIGINS[origin.source]}."
