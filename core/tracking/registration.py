"""Patches of an image, registered to templates by an affine map and compared with them.

A template is a square patch T(x) around a point, with x from -RADIUS to RADIUS. In another image I it is
sought at A x + q, up to a gain and an offset of its brightness. Inverse composition: with the warp of the
template by a small D x + d, and with T and I of mean 0 and deviation 1 under Gaussian weights w(x),

    sum_x w (I(A x + q) - g T(x) - o - grad T(x)' (D x + d))^2  ->  min over D, d, g, o

is linear with a matrix that does not change, and the update is

    A <- A (E + D)^-1,    q <- q - A d    with the new A and the 2 x 2 identity E.

All patches are updated together. Their similarity is the weighted zero-mean normalized cross-correlation,
sum w T I for the patches so normalized: 1 where they are the same up to gain and offset.

With J the derivatives, W = diag(w) and H = J' W J, white noise of deviation s in I, whose patch has
deviation b before it is normalized, moves the solution with covariance (s / b)^2 H^-1 (J' W^2 J) H^-1.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import numpy.typing as npt

RADIUS = 10
ITERATIONS = 6
FLAT = 0.6  # deviation of the brightness, of 255, below which a patch has nothing to compare
BESIDE, DIRECTIONS = (3.0, 4.0, 5.0, 6.0), 16  # px, and where a patch is compared with what is beside it
DAMPING = 1e-3  # of the normal equations, in shares of their diagonal

Singles = npt.NDArray[np.float32]

_grid = np.arange(-RADIUS, RADIUS + 1, dtype=np.float32)
X, Y = (axis.ravel() for axis in np.meshgrid(_grid, _grid))
WEIGHTS = np.exp(-(X**2 + Y**2) / (2 * (0.6 * RADIUS) ** 2))
WEIGHTS /= WEIGHTS.sum()


class PointRows:
    """Base of a dataclass of arrays, or of others like it, that have a row for each point."""

    def __getitem__(self, chosen: Any) -> Self:
        return type(self)(*(getattr(self, entry.name)[chosen] for entry in fields(self)))  # type: ignore[arg-type]

    def joined(self, other: Self) -> Self:
        """Return the rows of this one, and then those of the other."""
        parts = ((getattr(self, entry.name), getattr(other, entry.name)) for entry in fields(self))  # type: ignore[arg-type]
        return type(self)(
            *(
                first.joined(second) if isinstance(first, PointRows) else np.concatenate((first, second))
                for first, second in parts
            )
        )


@dataclass(frozen=True, eq=False)
class Templates(PointRows):
    """Patches that others are compared with, and what their registration needs of them."""

    patches: Singles  # (N, n) of mean 0 and deviation 1
    slopes: Singles  # (N, n, 8) derivatives of a patch by D, d, the gain and the offset
    inverses: Singles  # (N, 8, 8) of the matrix of the normal equations
    # (N,) px: standard deviation of the place, in its worst direction, for noise of deviation 1.
    uncertainty: Singles

    @classmethod
    def at(cls, sampler: Sampler, places: Singles) -> Templates:
        """Return the patches (N, 2) of an image."""
        identity = np.broadcast_to(np.eye(2, dtype=np.float32), (len(places), 2, 2))
        patches, deviation = normalized(sampler(identity, places))
        around = sampler.slopes(places) / np.maximum(deviation, FLAT)[:, None, None]
        right, down = around[:, 0], around[:, 1]
        slopes = np.stack(
            [right * X, right * Y, down * X, down * Y, right, down, patches, np.ones_like(patches)], axis=2
        )
        matrices = np.einsum("npi,p,npj->nij", slopes, WEIGHTS, slopes, optimize=True)
        diagonals = np.einsum("nii->ni", matrices)
        diagonals *= 1 + DAMPING
        diagonals += 1e-6
        inverses = np.linalg.inv(matrices)
        squares = np.einsum("npi,p,npj->nij", slopes, WEIGHTS**2, slopes, optimize=True)
        places_covariance = inverses[:, 4:6] @ squares @ inverses[:, :, 4:6]
        worst = np.linalg.eigvalsh(places_covariance)[:, 1]
        return cls(
            patches, slopes, inverses, (np.sqrt(worst) / np.maximum(deviation, FLAT)).astype(np.float32)
        )


class Sampler:
    """Patches of one image. `gray`: (H, W) brightness, float32."""

    def __init__(self, cv2: Any, gray: Singles) -> None:
        self._cv2 = cv2
        self._gray = gray
        kernel = np.array([-0.5, 0.0, 0.5], dtype=np.float32)
        self._right = cv2.filter2D(gray, cv2.CV_32F, kernel[None])
        self._down = cv2.filter2D(gray, cv2.CV_32F, kernel[:, None])

    def __call__(self, maps: Singles, places: Singles) -> Singles:
        """Return the patches (N, n) at maps x + place, with maps (N, 2, 2) and places (N, 2)."""
        return self._read(self._gray, maps, places)

    def slopes(self, places: Singles) -> Singles:
        """Return the slopes to the right and down, (N, 2, n), of the patches at places (N, 2)."""
        identity = np.broadcast_to(np.eye(2, dtype=np.float32), (len(places), 2, 2))
        both = [self._read(image, identity, places) for image in (self._right, self._down)]
        return np.stack(both, axis=1)

    def _read(self, image: Singles, maps: Singles, places: Singles) -> Singles:
        if not len(places):  # which OpenCV refuses
            return np.zeros((0, len(X)), dtype=np.float32)
        x = maps[:, 0, :1] * X + maps[:, 0, 1:] * Y + places[:, :1]
        y = maps[:, 1, :1] * X + maps[:, 1, 1:] * Y + places[:, 1:]
        read: Singles = self._cv2.remap(
            image,
            x.astype(np.float32),
            y.astype(np.float32),
            self._cv2.INTER_LINEAR,
            borderMode=self._cv2.BORDER_REPLICATE,
        )
        return read


def normalized(patches: Singles) -> tuple[Singles, Singles]:
    """Return patches (N, n) with weighted mean 0 and deviation 1, and what the deviations (N,) were."""
    centered = patches - (patches @ WEIGHTS)[:, None]
    deviation = np.sqrt(centered**2 @ WEIGHTS)
    return centered / np.maximum(deviation, FLAT)[:, None], deviation


def register(
    templates: Templates, sampler: Sampler, maps: Singles, places: Singles
) -> tuple[Singles, Singles, Singles]:
    """Return where templates are in an image, and how similar it is there.

    `maps`, `places`: (N, 2, 2) and (N, 2): A and q to begin with. Returns A (N, 2, 2), q (N, 2), and the
    similarity (N,), at most 1.
    """
    maps, places = maps.copy(), places.copy()
    for _ in range(ITERATIONS):
        patches, _ = normalized(sampler(maps, places))
        apart = (patches - templates.patches) * WEIGHTS
        moments = np.matmul(apart[:, None], templates.slopes)[:, 0]
        change = np.einsum("nij,nj->ni", templates.inverses, moments)
        forward = np.eye(2, dtype=np.float32) + change[:, :4].reshape(-1, 2, 2)
        determinant = np.linalg.det(forward)
        sound = (np.abs(determinant - 1) < 0.5) & (np.abs(change[:, 4:6]) < RADIUS).all(axis=1)
        maps[sound] = maps[sound] @ np.linalg.inv(forward[sound])
        places[sound] -= np.einsum("nij,nj->ni", maps[sound], change[sound, 4:6])
    patches, _ = normalized(sampler(maps, places))
    return maps, places, (patches * templates.patches) @ WEIGHTS


def ambiguity(templates: Templates, sampler: Sampler, places: Singles) -> Singles:
    """Return how similar patches are at most to what is a few pixels beside them, as in a periodic pattern.

    `places`: (N, 2) where they are. Returns (N,) similarities.
    """
    identity = np.broadcast_to(np.eye(2, dtype=np.float32), (len(places), 2, 2))
    most = np.full(len(places), -1, dtype=np.float32)
    for distance in BESIDE:
        for angle in np.arange(DIRECTIONS) * (2 * np.pi / DIRECTIONS):
            shift = distance * np.array([np.cos(angle), np.sin(angle)], dtype=np.float32)
            patches, _ = normalized(sampler(identity, places + shift))
            most = np.maximum(most, (patches * templates.patches) @ WEIGHTS)
    return most
