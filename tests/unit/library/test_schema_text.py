"""Schemas as text: what is read, and what is refused with four parts."""

import pytest

from tinytorch_gpu import library
from tinytorch_gpu.errors import SchemaError
from tinytorch_gpu.library.schema import defined
from tinytorch_gpu.library.schema_text import least_call, plain_parameters

READ = {
    "(x)": "(x)",
    "()": "()",
    "( x , dim=-1)": "(x, dim=-1)",
    "(\n  x,\n  eps=1e-5,\n)": "(x, eps=1e-5)",
    "(x, /, *, by)": "(x, /, *, by)",
    "(*xs, **named)": "(*xs, **named)",
    "(x, size=(1, 2), sep=', ')": "(x, size=(1, 2), sep=', ')",
    "(Tensor[] xs, int[2] stride=1) -> Tensor[]": "(xs, stride=1)",
    "(Tensor(a!) x, Tensor? y=None) -> (Tensor(a!), Tensor)": "(x, y=None)",
    "(Tensor x, int reduction=Mean) -> (Tensor values, int count)": "(x, reduction=Mean)",
    "(Tensor x, int[] dims=[0, 1], *, float p=0.5) -> ()": "(x, dims=[0, 1], *, p=0.5)",
}
UNREADABLE = [
    *("", "garbage(", "x", "(x", "x)", "(x]", "(x))", "(x) Tensor", "(x) ->"),
    *("(,)", "(x,,y)", "(x, [y)", "(x=)", "(x=1, y)", "(x, x)", "(*)", "(1)", "(def)"),
    *("(Tensr x)", "(Tensor Tensor x)", "(Tensor)", "(x: int)", "(x='a)"),
    *("(x=open('f'))", "(x=[1, f()])", "(x) -> Tensr", "(x) -> (Tensor", "(x) -> x, y"),
    *(None, 5, ["x"]),
]


@pytest.mark.parametrize("schema", READ)
def test_schemas_are_read(schema):
    assert plain_parameters("test::op", schema) == READ[schema]
    assert plain_parameters("test::op", READ[schema]) == READ[schema]


@pytest.mark.parametrize("schema", UNREADABLE, ids=repr)
def test_what_is_no_schema_is_refused_before_any_effect(schema):
    before = defined()
    with pytest.raises(SchemaError) as caught:
        library.define("test_schema_text::op", schema)
    error = caught.value
    assert all((error.what, error.where, error.why, error.fix))
    assert repr(schema) in error.where
    assert "test_schema_text::op" in error.fix
    assert defined() == before


def test_a_call_brings_at_least_what_has_no_default():
    assert least_call("(x, y, dim=-1, *, by, to=3)") == (["x", "y"], {"by": "by"})
    assert least_call("(*xs)") == (["xs"], {})
    assert least_call("()") == ([], {})
