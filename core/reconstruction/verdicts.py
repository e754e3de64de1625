r"""What a run says about its own answer: where it may be wrong, and what can be done about it.

The verdicts on a refined solution compare it with its alternatives (`core.depth.find_alternatives`), whose
excess is an energy per frame, a log likelihood ratio.  The thresholds were chosen on sequences with known
shapes:

    mirrored    all frames, or a run of them, where the mirrored ones cost less than MIRROR more at the finest
                levels; what is lower there the run takes itself
    parallax    a shape that is a quarter deeper or flatter costs less than FLAT more, or the object is seen
                from directions that differ by less than LEAST_TURN
    ambiguous   another end of the search whose energy is within TIE and whose shapes differ by APART
    rigid       one rigid shape, placed in each frame, is within the noise of the tracks
    jump        a rotation between two frames is far above those around it (`rotation_jumps`), and stays so
                where the frames beyond it are posed anew, or some beside it are mirrored
    uncertain   standard deviations above UNCERTAIN of the size of the shapes

A verdict on the tracks of any run by least squares:

    outliers    a share of at least SUSPICIOUS of the observations are gross outliers (`core.cameras`); of 108
                clean sequences none has as many
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from ..cameras.gross_outliers import SUSPICIOUS, find_gross_outliers
from ..depth import Alternative, DepthEnd, DepthPoint, DepthProblem, point_distance, rotation_jumps
from ..foundation.exceptions import InputError, printable
from ..foundation.linalg import procrustes, relative_distance, rotation_angle
from ..foundation.representation import OneLine
from ..foundation.types import Floats
from ..penalties import Penalty
from ..problem.factors import Factors
from ..problem.nonrigid import Problem

VERDICT_KINDS = {  # what an answer is worth by the most serious of them, which is first
    "outliers": "some tracks are wrong",
    "parallax": "the depth is hardly measured",
    "ambiguous": "two shapes explain the tracks equally",
    "mirrored": "some frames may be mirrored in depth",
    "jump": "the rotation jumps between two frames",
    "uncertain": "the points are not determined well",
    "rigid": "one rigid shape would do as well",
}
AMBIGUOUS_START = (
    "Two shapes explain the tracks equally well where this run begins: compare them there, or add views from "
    "other directions."
)
DETERMINED = "the tracks determine the shape"  # without a verdict on a refined shape
VERDICT_ACTIONS = {
    "look": "go to the frames",
    "compare": "show the other shape",
    "mirror": "mirror the frames in depth and refine again",
}

MIRROR, FLAT = 0.15, 0.05  # energy per frame
TIE = 5e-4  # of the energy
APART = 0.1  # distance of shapes over their size
LEAST_TURN = 5.0  # degrees, standard deviation of the viewing directions
RIGID_NOISE, RIGID_SHARE = 2.0, 0.003  # residual of a rigid shape over the noise, or over the tracks' size
MOST_EXAMINED = 40_000  # observations, about, in which gross outliers are counted
UNCERTAIN = 0.14  # root mean square standard deviation over the size of the shapes


@dataclass(frozen=True)
class Verdict(OneLine):
    """One sentence on a result."""

    kind: str  # a key of `VERDICT_KINDS`
    sentence: str  # what was found, with its numbers; frames are counted from 1
    # The first and the last frame that it is about, from 0; None where it is about all.
    frames: tuple[int, int] | None = None
    action: str | None = None  # a key of `VERDICT_ACTIONS`: what the user can do. None where there is nothing

    def __post_init__(self) -> None:
        for name, known in (("kind", VERDICT_KINDS), ("action", VERDICT_ACTIONS)):
            value = getattr(self, name)
            without_action = name == "action" and value is None
            if value not in known and not without_action:
                raise InputError(f"the {name} of a verdict is {value!r}; accepted are {', '.join(known)}")
        object.__setattr__(self, "sentence", printable(self.sentence))
        if self.frames is None:
            return
        first, last = map(int, self.frames)
        if not 0 <= first <= last:
            raise InputError(
                f"the frames of a verdict are {first} to {last}; accepted are 0 or more, in order"
            )
        object.__setattr__(self, "frames", (first, last))


def worth_of(kinds: Collection[str]) -> str:
    """Return what a refined answer is worth in a few words, from the kinds of its verdicts."""
    return next((meaning for kind, meaning in VERDICT_KINDS.items() if kind in kinds), DETERMINED)


def find_verdicts(
    problem: DepthProblem,
    point: DepthPoint,
    alternatives: Sequence[Alternative],
    ends: Sequence[DepthEnd],
    std: Floats | None,
) -> tuple[Verdict, ...]:
    """Return the verdicts on a refined solution; the `std` of its points (F, 3, P) may be unknown."""
    found = [
        *_mirrored(alternatives, len(point.depths)),
        _parallax(point, alternatives),
        _ambiguous(problem, point, ends),
        *_jumps(point),
        _rigid(problem, point),
        None if std is None else _uncertain(point, std),
    ]
    return _sorted(filter(None, found))


def with_ambiguity(found: Sequence[Verdict], before: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """Return the verdicts on a shape that was followed, and that on its start that another one fits as well.

    What goes on from a shape looks for no others, and says nothing about them.
    """
    if not any(verdict.kind == "ambiguous" for verdict in before):
        return tuple(found)
    return _sorted([*found, Verdict("ambiguous", AMBIGUOUS_START)])


def _sorted(verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    order = list(VERDICT_KINDS)
    return tuple(sorted(verdicts, key=lambda verdict: order.index(verdict.kind)))


def find_wrong_tracks(problem: Problem) -> list[Verdict]:
    """Return a verdict where many observations are gross outliers, which spoil least squares."""
    tracks, visible = problem.tracks, problem.visible
    some = slice(None, None, max(1, visible.size // MOST_EXAMINED))
    observed = max(int(visible[:, some].sum()), 1)
    share = float(find_gross_outliers(tracks[:, :, some], visible[:, some]).sum()) / observed
    if share < SUSPICIOUS:
        return []
    sentence = (
        f"{100 * share:.1f} % of the observations are far from where the other tracks place them, and bend "
        "the shapes: hide them, or choose the loss cauchy."
    )
    return [Verdict("outliers", sentence)]


def _mirrored(alternatives: Sequence[Alternative], frames: int) -> list[Verdict]:
    """Return a verdict where all frames, or else runs of frames that do not overlap, may be mirrored."""
    verdicts: list[Verdict] = []
    taken = np.zeros(frames, dtype=bool)
    found = [(each.block, each) for each in alternatives if each.block is not None]
    for block, each in sorted(
        found, key=lambda pair: (pair[0].last - pair[0].first < frames, pair[1].excess)
    ):
        inside = slice(block.first, block.last)
        if each.excess >= MIRROR or taken[inside].any():
            continue
        taken[inside] = True
        which = "The shape" if taken.all() else str(block).capitalize()
        how = "better" if each.excess < 0 else "about as well"
        sentence = f"{which} may be mirrored in depth: the mirror image fits {how}."
        verdicts.append(Verdict("mirrored", sentence, (block.first, block.last - 1), "mirror"))
    return verdicts


def _parallax(point: DepthPoint, alternatives: Sequence[Alternative]) -> Verdict | None:
    """Return a verdict where deeper or flatter shapes cost nothing, or the camera stays where it is."""
    views = point.rotations[:, 2]  # viewing directions, in the axes of the object
    spread = np.linalg.svd(views - views.mean(axis=0), compute_uv=False)[0] / np.sqrt(len(views))
    degrees = float(np.degrees(spread))
    if degrees < LEAST_TURN:
        return Verdict(
            "parallax",
            "The camera moves too little to measure depth: "
            f"its viewing directions vary by {degrees:.1f} degrees.",
        )
    scaled = [each for each in alternatives if each.kind in ("flatter", "deeper")]
    lowest = min(scaled, key=lambda each: each.excess, default=None)
    if lowest is None or lowest.excess >= FLAT:
        return None
    return Verdict(
        "parallax",
        f"The depth is hardly measured: a shape a quarter {lowest.kind} fits about as well. Views from "
        "other directions would help.",
    )


def _ambiguous(problem: DepthProblem, point: DepthPoint, ends: Sequence[DepthEnd]) -> Verdict | None:
    """Return a verdict where another end has about the same energy and other shapes."""
    for end in ends[1:]:
        if end.excess > TIE * abs(end.lowest):
            continue
        if point_distance(problem, end.point, point) > APART:
            mean = relative_distance(problem.shapes(end.point), problem.shapes(point), mirrors=problem.affine)
            return Verdict(
                "ambiguous",
                f"Two shapes explain the tracks equally well, {100 * mean:.2g} % of the object apart: "
                f"compare them, or add views from other directions. The other one began at {end.name}.",
                action="compare",
            )
    return None


def _jumps(point: DepthPoint) -> list[Verdict]:
    """Return a verdict on the largest jump of the rotation between two frames."""
    ratios = rotation_jumps(point.rotations)
    if not ratios.any():
        return []
    index = int(ratios.argmax())
    turn = rotation_angle(point.rotations[index + 1] @ point.rotations[index].T)
    sentence = (
        f"The rotation jumps by {turn:.0f} degrees at frame {index + 2}, "
        f"{ratios[index]:.0f} times as far as between the frames around it."
    )
    return [Verdict("jump", sentence, (index, index + 1), "look")]


def _rigid(problem: DepthProblem, point: DepthPoint) -> Verdict | None:
    """Return a verdict where the mean shape, placed in each frame, meets the tracks."""
    Y = point.camera_points()
    mean = problem.shapes(point).mean(axis=0)
    mean = np.broadcast_to(mean, Y.shape)
    placed = procrustes(mean, Y).apply(mean)
    seen = placed[:, :2] if problem.affine else placed[:, :2] / placed[:, 2:]
    missed = np.square(seen - problem.tracks)[np.repeat(problem.visible[:, None], 2, axis=1)]
    residual = float(np.sqrt(missed.mean()))
    limit = max(RIGID_NOISE * problem.noise, RIGID_SHARE * problem.size)
    if residual > limit:
        return None
    share = 100 * residual / problem.size
    return Verdict(
        "rigid", f"A rigid shape would do as well: it misses the tracks by {share:.2g} % of their size."
    )


def _uncertain(point: DepthPoint, std: Floats) -> Verdict | None:
    """Return a verdict where standard deviations are large, on the frame where they are largest."""
    Y = point.camera_points()
    Y -= Y.mean(axis=2, keepdims=True)
    size = np.square(Y).sum(axis=1).mean()
    squared = np.square(std).sum(axis=1).mean(axis=1)
    relative = float(np.sqrt(squared.mean() / size))
    if relative <= UNCERTAIN:
        return None
    worst = int(squared.argmax())
    mean = float(np.linalg.norm(std, axis=1).mean() / np.sqrt(size))  # as the window has it
    return Verdict(
        "uncertain",
        f"The points are uncertain: their standard deviation is {100 * mean:.0f} % of the shapes' size.",
        (worst, worst),
        "look",
    )


# -- degenerate solutions ------------------------------------------------------------------------------------

# Relative size of a singular value that counts as zero. A penalty that is stronger than the data removes a
# basis shape: at the minimum its singular value is zero, in floating point 1e-16 of the largest or less,
# where shapes in use have 1e-6 or more.
NEGLIGIBLE = 1e-9


def remarks(problem: Problem, factors: Factors, penalty: Penalty) -> list[str]:
    """Return a sentence for each degeneracy of a reconstruction."""
    sigma = singular_values(factors)
    if not np.isfinite(sigma).all():
        return ["the reconstruction holds numbers that are not finite"]
    lower = _lower(penalty)
    if _is_zero(problem, sigma):
        return [f"the penalty is stronger than the data: everything was shrunk to zero; {lower}"]
    alive = int(np.count_nonzero(sigma > NEGLIGIBLE * sigma[0]))
    if alive < problem.rank:
        used = "is used" if alive == 1 else "are used"
        what = "basis shapes" if problem.offsets else "singular values"  # those of the low-rank problem's X
        return [f"only {alive} of {problem.rank} {what} {used} at this penalty; lower the rank, or {lower}"]
    return []


def is_collapsed(problem: Problem, factors: Factors) -> bool:
    """Whether everything was shrunk to zero, so that no run can continue from it."""
    return _is_zero(problem, singular_values(factors))


def _is_zero(problem: Problem, sigma: Floats) -> bool:
    return bool(sigma[0] <= NEGLIGIBLE * reference_size(problem))


def singular_values(factors: Factors) -> Floats:
    """Return the K singular values of BC', descending, whatever the gauge of the factors."""
    if not (np.isfinite(factors.B).all() and np.isfinite(factors.C).all()):
        return np.full(factors.rank, np.nan)
    return product_singular_values(factors.B, factors.C.reshape(factors.rank, -1).T)


def product_singular_values(left: Floats, right: Floats) -> Floats:
    """Return the K singular values of a product of (N, K) and (M, K)', descending."""
    _, R_left = np.linalg.qr(left)
    _, R_right = np.linalg.qr(right)
    sigma = np.linalg.svd(R_left @ R_right.T, compute_uv=False)
    return np.pad(sigma, (0, left.shape[1] - len(sigma)))


def reference_size(problem: Problem) -> float:
    """Return the Frobenius norm of the closed form X0: its shapes are the viewing rays, at depth 1."""
    squared = float(np.vdot(problem.tracks, problem.tracks))  # hidden tracks are 0
    return float(np.sqrt(squared + (0 if problem.affine else problem.visible.sum())))


def _lower(penalty: Penalty) -> str:
    name = fields(penalty)[0].name  # type: ignore[arg-type]  # every penalty is a dataclass, its strength first
    return "lower the weights" if name == "a" else f"lower {name}"
