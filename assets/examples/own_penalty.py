"""Add a penalty: weights that grow geometrically from one singular value to the next."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import core as nrsfm
from core.foundation import CheckedParameters, parameter


@dataclass(frozen=True)
class GeometricWeights(CheckedParameters):
    """a_k = mu ratio^(k - 1): non-decreasing for ratio >= 1, as the bilinear form needs it."""

    title: ClassVar[str] = "geometric weights"
    short: ClassVar[str] = "geometric"
    formula: ClassVar[str] = "a_k = mu ratio^(k - 1)"

    mu: float = parameter(1e-3, "Weight of the first singular value.", slider=(1e-6, 1e2), live=True)
    ratio: float = parameter(
        3.0, "Each weight over the one before, at least 1.", least=1.0, slider=(1.0, 10.0), live=True
    )

    def weights(self, rank, reference):
        """Return a (K,)."""
        return self.mu * self.ratio ** np.arange(rank)


# From here on it is a penalty like the others: --penalty geometric --mu 0.002 --ratio 4, and in the window.
nrsfm.PENALTIES["geometric"] = GeometricWeights

sequence = nrsfm.simulate("balloon", frames=20, points=40, seed=2)
for penalty in (GeometricWeights(mu=2e-3, ratio=4.0), nrsfm.WeightedNuclearNorm(xi=0.5)):
    result = nrsfm.reconstruct(sequence, rank=4, starts=4, penalty=penalty, objective="wnn")
    singular = ", ".join(f"{value:.3g}" for value in result.singular_values)
    print(f"{penalty}: {result.errors()['procrustes_mm']:.2f} mm, singular values {singular}")
