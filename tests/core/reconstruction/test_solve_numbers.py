"""`nrsfm solve` reaches on the bundled sequences what it always reached: to six digits, under any kernels.

The cameras are given, or none are needed: first-order methods stop a few iterations earlier or later.
"""

import pytest

from core import read_sequence, reconstruct
from core.evaluation import errors_of

TRUE = {"settings": "bilinear", "rotations": "truth"}
slow = pytest.mark.slow
# Of a sequence: the settings, the loss, and the errors by Procrustes in mm and by reprojection in px.
RECORDED = {
    "articulated/zigzag": (TRUE, 0.2046313090921428, 4.033571256388859, 3.5398287483613133),
    "balloon/zigzag": (TRUE, 0.16318639114818895, 0.801765103131163, 1.692982341496022),
    "paper/zigzag": (TRUE, 0.1837353165300941, 2.703435078448044, 4.797190060869878),
    "tearing/zigzag": (TRUE, 0.10876015952037676, 0.8795218417097255, 1.5823892870907879),
    "stretch/circle/orthogonal": (TRUE, 1.2359092255972166, 2.066655508292012, 0.5769038807378629),
    "stretch/circle": ({"settings": "lowrank"}, 0.00017152399386446043, 30.65117317828816, 9.83959306638285),
}
BRIEF = ("paper/zigzag", "stretch/circle/orthogonal")


@pytest.mark.parametrize(
    "name", [name if name in BRIEF else pytest.param(name, marks=slow) for name in RECORDED]
)
def test_the_numbers_are_those_that_were_recorded(name):
    options, loss, procrustes_mm, reprojection_px = RECORDED[name]
    result = reconstruct(read_sequence(f"sample:{name}"), **options)
    assert result.loss == pytest.approx(loss, rel=1e-6)
    errors = errors_of(result)
    assert errors["procrustes_mm"] == pytest.approx(procrustes_mm, rel=1e-6)
    own = errors.get("reprojection_px_projective", errors["reprojection_px"])  # a low-rank one has two
    assert own == pytest.approx(reprojection_px, rel=1e-6)
