"""The observations that settings hide from the solver."""

import numpy as np
import pytest

from core import Settings
from nrsfm_gui.model.changes import named
from nrsfm_gui.model.excluded import excluded, with_excluded


def test_what_settings_hide_is_a_mask_and_comes_back(known):
    mask = np.zeros(known.sequence.visible.shape, dtype=bool)
    mask[4, 2] = mask[6:, 7] = mask[:, 9] = True
    settings = with_excluded(Settings(rank=3), mask)
    assert settings.rank == 3 and settings.hide == "3:5;8:7-;10:*"
    found = excluded(known.sequence, settings)
    assert np.array_equal(found, mask)
    with pytest.raises(ValueError, match="read-only"):
        found[0, 0] = True
    assert with_excluded(settings, np.zeros_like(mask)).hide is None
    assert excluded(known.sequence, Settings()) is None


def test_what_does_not_fit_the_tracks_hides_nothing(known):
    assert excluded(known.sequence, Settings(hide="4000:*")) is None


def test_many_hidden_points_are_counted_in_the_text_of_a_change():
    few, many = Settings(hide="3:5"), Settings(hide=";".join(f"{point}:5" for point in range(1, 30)))
    assert named(Settings(), few) == "held-out observations none → 3:5"
    assert named(few, many) == "held-out observations 3:5 → of 29 points"
