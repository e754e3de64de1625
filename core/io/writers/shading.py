"""How points and surfaces look: the light on them, and the sizes of points. The viewer and the page use it.

Light.  It comes over the viewer's shoulder. With l the unit vector towards it and n a normal, both in the
frame of the view (x right, y down, z into the picture), a surface has the brightness

    b(n) = a + (1 - a) max(n . l, 0) / -l_z

times its color, a being what comes from all around. What faces the viewer, n = (0, 0, -1), has b = 1: its
color is the one that a scale of colors gives it. Both sides of a triangle are lit: n is the normal that faces
the viewer. A sphere has a darker rim, which separates neighbors, and a highlight: (x, y) radii from its
middle, where n = (x, y, -sqrt(1 - x^2 - y^2)), it has the color

    min(b(n), 1) (r + (1 - r) sqrt(-n_z)) color + g max(n . h, 0)^s,

h being the unit vector halfway between those to the light and to the viewer.

Floor.  Below the object is a round floor, lit in the middle; its opacity falls to 0 at its edge. The object
keeps light from it. A share exp(-n / m) arrives where n points are above a unit of area, after a blur, those
at a height h counted exp(-h / H) each; m is the number per unit of area of points that cover the usual
footprint of an object evenly.

Sizes.  A point is a sphere in the unit of the shape: a share of the object's size, and of many points what
keeps them apart, so that nearer ones are larger.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...foundation.types import Floats

SPHERE_SHARE = 0.11  # diameter of a sphere, of the object's size
SPACED_SHARE = 2.6  # the same of many points, of the object's size over the root of their number
ON_SURFACE = 0.6  # of the diameter, where the points lie on a surface that is drawn
SAMPLED = 60  # frames, and points, that the object's size is found from, about


@dataclass(frozen=True)
class Shading:
    """The light and what it falls on; see the module."""

    light: tuple[float, float, float]  # l
    ambient: float  # a
    rim: float  # r
    gloss: float  # g
    sharpness: float  # s

    @property
    def halfway(self) -> tuple[float, float, float]:
        """The unit vector h."""
        x, y, z = self.light
        return _unit(x, y, z - 1.0)

    def brightness(self, normals: Floats) -> Floats:
        """Return how bright a surface is."""
        reached: Floats = np.maximum(normals @ np.array(self.light), 0.0) / -self.light[2]
        return self.ambient + (1.0 - self.ambient) * reached

    def on_sphere(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Return the light on a sphere."""
        depth = np.sqrt(np.maximum(1.0 - x**2 - y**2, 0.0))
        normals = np.stack(np.broadcast_arrays(x, y, -depth), axis=-1)
        factor = np.minimum(self.brightness(normals), 1.0) * (self.rim + (1.0 - self.rim) * np.sqrt(depth))
        return factor, self.gloss * np.maximum(normals @ np.array(self.halfway), 0.0) ** self.sharpness


@dataclass(frozen=True)
class FloorShading:
    """The floor below an object and the shadow on it; see the module. Lengths are shares of its radius."""

    reach: float  # the radius, of the diagonal of the object's box
    below: float  # from the lowest point down to the floor, of that diagonal
    height: float  # H
    blur: float  # standard deviation
    footprint: float  # of the square of the radius
    darkest: float  # opacity of the shadow
    fading: float  # exponent of the fall of the light
    side: int  # places along each side of the shadow

    def opacities(self, dark: Floats, away: Floats) -> tuple[Floats, Floats]:
        """Return the opacity of the floor, and the share of the shadow's color in it.

        `dark`: (N,) what is kept from places by the object, 0 to 1; `away`: (N,) their distances from the
        middle of the floor. Returns (N,) each, 0 to 1.
        """
        inward = np.clip(1.0 - away, 0.0, 1.0)
        dark = self.darkest * dark * np.minimum(2.0 * inward, 1.0)
        opacity: Floats = dark + inward**self.fading * (1.0 - dark)
        return opacity, np.divide(dark, opacity, out=np.zeros_like(dark), where=opacity > 0)


def _unit(x: float, y: float, z: float) -> tuple[float, float, float]:
    length = (x * x + y * y + z * z) ** 0.5
    return x / length, y / length, z / length


SHADING = Shading(_unit(-0.34, -0.52, -0.78), ambient=0.4, rim=0.65, gloss=0.3, sharpness=30.0)
FLOOR = FloorShading(
    reach=0.85, below=0.03, height=0.6, blur=0.06, footprint=0.25, darkest=0.85, fading=1.5, side=36
)


def sphere_diameter(count: int, size: float, *, on_surface: bool = False) -> float:
    """Return the diameter of the spheres that points are drawn as."""
    share = min(SPHERE_SHARE, SPACED_SHARE / float(np.sqrt(max(count, 1))))
    return share * size * (ON_SURFACE if on_surface else 1.0)


def typical_radius(points: Floats) -> float:
    """Return how far a typical point is from the middle of the object.

    `points`: (F, 3, P), NaN where unknown.
    """
    some = points[:: max(1, len(points) // SAMPLED), :, :: max(1, points.shape[2] // SAMPLED)]
    some = some[np.isfinite(some[:, 0]).any(axis=1)]
    if not len(some):
        return 1.0
    median = np.median if np.isfinite(some).all() else np.nanmedian  # which is many times as slow
    apart = np.linalg.norm(some - median(some, axis=2, keepdims=True), axis=1)
    return float(median(apart)) or 1.0
