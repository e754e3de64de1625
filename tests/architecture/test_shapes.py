"""The shapes in the comments beside array fields are those that the arrays have.

A comment like `# (F, 3, P)` names the sizes of an array; a letter is one size throughout an object, and sizes
like `3P` and `K+3` follow from their letters. A result checks its own (`core.reconstruction.result.shaped`).
"""

import inspect
import re
from dataclasses import is_dataclass

import numpy as np
import pytest

import core

SIZE = re.compile(r"(\d*)([A-Z]'?)(?:\s*([+-])\s*(\d+))?")


def commented_shapes(kind):
    """Return the sizes in the comment beside each annotated field of a class and of its bases."""
    source = "\n".join(inspect.getsource(base) for base in reversed(kind.__mro__) if is_dataclass(base))
    return {
        name: [size.strip() for size in sizes.split(",") if size.strip()]
        for name, sizes in re.findall(r"^    (\w+): .*?# *\(([\dA-Z',+\- ]+)\)", source, flags=re.MULTILINE)
    }


def check_shapes(value):
    """Check every array field of an object; return how many there were."""
    letters, shapes = {}, commented_shapes(type(value))
    arrays = {name: getattr(value, name) for name in shapes if isinstance(getattr(value, name), np.ndarray)}
    for name, array in arrays.items():
        assert len(shapes[name]) == array.ndim, f"{type(value).__name__}.{name} is {array.shape}"
        for size, actual in zip(shapes[name], array.shape, strict=True):
            if size.isdigit():
                expected = int(size)
            else:
                factor, letter, sign, offset = SIZE.fullmatch(size).groups()
                factor, offset = int(factor or 1), int(f"{sign or '+'}{offset or 0}")
                expected = factor * letters.setdefault(letter, (actual - offset) // factor) + offset
            assert actual == expected, f"{size} of {type(value).__name__}.{name} is {actual} of {array.shape}"
    return len(arrays)


def test_arrays_have_the_shapes_that_stand_beside_their_fields():
    scene = core.simulate("paper", frames=9, points=20, occlusion=0.5, seed=1)
    tracks = core.calibrate(scene.observations, scene.intrinsics, scene.camera)
    weighted, truncated = core.WeightedNuclearNorm(5e-3), core.TruncatedNuclearNorm(1e-3, 4)
    problem = core.NonRigidProblem(tracks, scene.visible, scene.rotations, 0.05, penalty=weighted, rank=2)
    tracks /= np.linalg.norm(tracks)
    low_rank = core.LowRankProblem(tracks, scene.visible, 0.05, penalty=truncated, rank=4)
    *_, last = core.iterate(scene, rank=2, starts=1, rotations="truth")
    given = scene, scene.observations, scene.truth, problem, low_rank
    found = problem.closed_form(), last, last.geometry
    for value, least in zip((*given, *found), (6, 2, 2, 4, 3, 3, 1, 5), strict=True):
        assert check_shapes(value) >= least, type(value)


def test_a_wrong_shape_is_found():
    with pytest.raises(AssertionError, match="K of Factors"):
        check_shapes(core.Factors(np.ones((4, 2)), np.ones((3, 3, 5)), np.ones((4, 3))))
    with pytest.raises(AssertionError, match=r"Factors.s is"):
        check_shapes(core.Factors(np.ones((4, 2)), np.ones((2, 3, 5)), np.ones((4, 2))))
