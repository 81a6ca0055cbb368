"""`import numba.cuda` finds the stand-in, whether numba is installed or not."""

import importlib.util
from textwrap import dedent

import pytest

HAS_NUMBA = importlib.util.find_spec("numba") is not None
FAKE_NUMBA = {  # a numba whose own cuda must never be imported
    "numba/__init__.py": "installed = True\n",
    "numba/types.py": "",
    "numba/cuda/__init__.py": "raise RuntimeError('the real numba.cuda')\n",
    "numba/cuda/random.py": "",
    "numba/cuda/lowering.py": "",
}
IMPORTS = """
    import sys
    from tinytorch_gpu import as_numba, cuda as ours
    as_numba.activate()
    as_numba.activate()
    import numba, numba.cuda
    import numba.cuda as alias
    from numba import cuda
    from numba.cuda import jit, grid
    from numba.cuda.cudadrv.devicearray import DeviceNDArray

    assert alias is cuda is numba.cuda is sys.modules["numba.cuda"]
    assert jit is ours.jit and grid is ours.grid and cuda.grid is ours.grid
    assert cuda.cudadrv.devicearray.DeviceNDArray is DeviceNDArray
    assert isinstance(cuda.to_device([1.0]), DeviceNDArray)
    assert as_numba.is_active() and cuda.is_available()
    print(getattr(numba, "installed", False))
"""
# what numba-cuda's redirector does: a finder that claims numba.cuda, put first
REDIRECTOR = """
    import sys

    class Redirector:
        def find_spec(self, name, path, target=None):
            if "numba.cuda" in name:
                raise RuntimeError("asked for " + name)

    sys.meta_path.insert(0, Redirector())
"""


def succeeded(result):
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


@pytest.mark.skipif(HAS_NUMBA, reason="numba is installed here")
def test_the_stand_in_is_found_without_numba(python):
    assert succeeded(python("-c", dedent(IMPORTS))) == ["False"]


def test_the_stand_in_is_found_beside_an_installed_numba(python, write):
    write(FAKE_NUMBA)
    assert succeeded(python("-c", dedent(IMPORTS))) == ["True"]


def test_the_stand_in_comes_before_a_redirector(python, write):
    write(FAKE_NUMBA | {"redirector.py": REDIRECTOR})
    program = "import redirector\n" + dedent(IMPORTS)
    assert succeeded(python("-c", program)) == ["True"]


def test_no_part_of_the_installed_numba_cuda_is_mixed_in(python, write):
    write(FAKE_NUMBA)
    program = """
        from tinytorch_gpu.as_numba import activate
        activate()
        try:
            import numba.cuda.lowering
        except ModuleNotFoundError as error:
            print(error.name)
            print(error.why)
        import numba.types
        try:
            from numba.cuda import compile_ptx
        except ImportError:
            print("no compile_ptx")
    """
    assert succeeded(python("-c", dedent(program))) == [
        "numba.cuda.lowering",
        "it is not among the names of numba that tinytorch_gpu stands in for",
        "no compile_ptx",
    ]


def test_activating_after_numba_cuda_is_refused(python, write):
    write(FAKE_NUMBA | {"numba/cuda/__init__.py": ""})
    program = """
        import numba.cuda
        from tinytorch_gpu.as_numba import activate, is_active
        from tinytorch_gpu.errors import InstallError
        try:
            activate()
        except InstallError as error:
            print(error.what, is_active())
    """
    expected = ["numba's own numba.cuda is imported already False"]
    assert succeeded(python("-c", dedent(program))) == expected
