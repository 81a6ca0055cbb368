"""`as_numba`: for one process, `numba.cuda` is this package's `cuda`.

A stand-in for numba's own simulator: a project tests its unchanged CUDA code where
there is no GPU. A test suite: `python -m tinytorch_gpu.as_numba -m pytest`, or
`pytest -p tinytorch_gpu.as_numba.plugin`. A program: `simgpu run --as-numba script.py`,
or `python -m tinytorch_gpu.as_numba script.py`. By hand: `activate()`.

Read `tables` (which name is which), `stand_in` (the modules), `finder` (how `import`
finds them), then `run`.
"""

from tinytorch_gpu.as_numba.finder import activate, is_active

__all__ = ["activate", "is_active"]
