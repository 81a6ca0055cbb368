"""Op names and schemas."""

import pytest

from tinytorch_gpu import library
from tinytorch_gpu.errors import DuplicateKernelError, OpNotFoundError


def test_every_shipped_op_has_a_kernel():
    shipped = {op for op in library.schema._schemas if op.startswith("tinytorch::")}
    assert shipped <= set(library.registered())


def test_an_unknown_op_names_the_nearest():
    with pytest.raises(OpNotFoundError, match="sigmoid") as caught:
        library.impl("tinytorch::sigmoidd", "simgpu")
    assert caught.value.op == "tinytorch::sigmoidd"


def test_defining_twice_needs_the_same_parameters():
    library.define("test_schema::twice", "(x)")
    library.define("test_schema::twice", "(x)")
    with pytest.raises(DuplicateKernelError):
        library.define("test_schema::twice", "(x, y)")


def test_a_name_needs_a_namespace():
    with pytest.raises(OpNotFoundError):
        library.define("plain", "(x)")
