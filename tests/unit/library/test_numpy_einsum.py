"""np.einsum on device arrays, against NumPy in float64."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import ShapeError, UnsupportedError

A = np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)
B = np.random.default_rng(1).normal(size=(2, 4, 5)).astype(np.float32)

CASES = [
    ("ijk->kji", A),
    ("ijk->", A),
    ("ijk->kj", A),
    ("ijk,ijk->ij", A, A),
    ("ijk,ijk->", A, A),
    ("bij,bjk->bik", A, B),
    ("bij,bjk->kbi", A, B),
    ("bij, cjk -> bcik", A, B),
    ("ijk,k->ij", A, A[0, 0]),
    ("ijk,l->il", A, B[0, 0]),
    ("i,j->ij", A[0, 0], B[0, 0]),
    ("i,i->", A[0, 0], A[0, 1]),
    ("ijk,ilm->jm", A, B),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_is_numpys(case):
    subscripts, *operands = case
    expected = np.einsum(subscripts, *(o.astype("f8") for o in operands))
    found = np.einsum(subscripts, *map(cuda.to_device, operands))
    np.testing.assert_allclose(found.copy_to_host(), expected, rtol=1e-5, atol=1e-5)
    assert found.dtype == np.float32


@pytest.mark.parametrize("subscripts", ["ij,jk", "...j->j", "iij->j", "ijk->z"])
def test_other_forms_are_refused(subscripts):
    x = cuda.to_device(A)
    with pytest.raises(UnsupportedError, match="einsum"):
        np.einsum(subscripts, *[x] * (subscripts.count(",") + 1))


def test_lengths_that_do_not_fit_are_refused():
    x = cuda.to_device(A)
    for subscripts in ("ij->i", "iji->j", "ijk,ikj->i"):
        with pytest.raises((ShapeError, UnsupportedError), match="einsum"):
            np.einsum(subscripts, *[x] * (subscripts.count(",") + 1))
