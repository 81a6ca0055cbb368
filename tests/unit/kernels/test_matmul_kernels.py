"""Each version of matmul: check, then price, then compare."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.kernels.matmul_kernels import TILE, VERSIONS, matmul_batched


def name(version):
    return version.kernel.py_func.__name__


@pytest.mark.parametrize("version", VERSIONS, ids=name)
@pytest.mark.parametrize("sizes", [(16, 16, 16), (17, 33, 20), (1, 5, 3)], ids=str)
def test_values(version, sizes, pair, close):
    m, k, n = sizes
    (a, x), (b, y) = pair((m, k)), pair((k, n), seed=1)
    out = cuda.device_array((m, n), np.float32)
    grid = (-(-n // TILE), -(-m // TILE))
    version.kernel[grid, (TILE, TILE)](x, y, out)
    close(out, a.astype("f8") @ b.astype("f8"), tolerance=2e-6 * k)


@pytest.mark.parametrize("version", VERSIONS, ids=name)
def test_price(version, launches):
    x, out = (cuda.to_device(np.ones((64, 64), np.float32)) for _ in range(2))
    (record,) = launches(lambda: version.kernel[(4, 4), (TILE, TILE)](x, x, out))
    loads = [a for a in record.counts.global_accesses if a.kind == "load"]
    requests = sum(a.requests for a in loads)
    assert requests == version.global_loads
    assert sum(a.sectors for a in loads) / requests == version.sectors_per_load


def test_tiles_have_no_bank_conflicts(launches):
    x, out = (cuda.to_device(np.ones((64, 64), np.float32)) for _ in range(2))
    tiled = VERSIONS[-1].kernel[(4, 4), (TILE, TILE)]
    (record,) = launches(lambda: tiled(x, x, out))
    shared = [a for a in record.counts.accesses if a.space == "shared"]
    assert len(shared) == 4
    assert {a.wavefronts_per_request for a in shared} == {1.0}
    assert record.shared_bytes == 2 * TILE * TILE * 4


def test_tiles_load_less(launches):
    assert VERSIONS[0].global_loads == TILE * VERSIONS[1].global_loads


def test_a_stack(pair, close):
    (a, x), (b, y) = pair((3, 4, 5)), pair((3, 5, 6), seed=1)
    out = cuda.device_array((3, 4, 6), np.float32)
    matmul_batched[1, (8, 4, 4)](x, y, out)
    close(out, a.astype("f8") @ b.astype("f8"), tolerance=1e-5)
