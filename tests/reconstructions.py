"""Reconstructions of which everything is known, as the window gets them from a solver."""

from core import Factors, HistoryEntry, Iterate, NonRigidProblem, Point, Result, Settings, Status
from core.data import format_hidden
from core.foundation import WNN, Phase, PhaseKind
from core.reconstruction import Geometry
from nrsfm_gui.scene import shapes


def iterate_of(result, sequence):
    """Return the end of a run that has these shapes and cameras."""
    R, t, K, affine = result.rotations, result.translations, result.intrinsics, result.eta == 1.0
    factors = Factors(result.B, result.C.T.reshape(result.B.shape[1], 3, -1), t)
    problem = NonRigidProblem(result.tracks, result.visible, R, result.eta, result.weights)
    point = Point(problem, factors, result.loss)
    return Iterate(
        settings=Settings(objective=WNN, hide=format_hidden(sequence.visible & ~result.visible) or None),
        record=HistoryEntry(0, 0.0, result.loss, Phase(PhaseKind.REFINE)),
        status=Status.CONVERGED,
        fraction=1.0,
        intrinsics=K,
        rotations="truth",
        rotations_chosen=True,
        current=point,
        best=point,
        view=Geometry(result.B, result.C, R, t, K, affine, std=result.std),
    )


def build_shapes(sequence, reconstruction, *more, **options):
    """Return the shapes of an iterate, or of a result as the end of a run."""
    if isinstance(reconstruction, Result):
        reconstruction = iterate_of(reconstruction, sequence)
    return shapes.build_shapes(sequence, reconstruction, *more, **options)
