"""Errors carry four parts and facts, pickle, and are the builtins a reader catches."""

import inspect
import pickle

import pytest

from tinytorch_gpu import errors
from tinytorch_gpu.errors import OutOfBoundsError, SimGPUError

BUILTINS = {
    "OutOfBoundsError": IndexError,
    "UninitializedReadError": NameError,
    "BarrierDivergenceError": RuntimeError,
    "StepBudgetError": RuntimeError,
    "DeadlockError": RuntimeError,
    "KernelWarning": UserWarning,
    "SettingsError": ValueError,
    "WarpMaskError": ValueError,
    "LaunchConfigError": ValueError,
    "SharedMemoryLimitError": ValueError,
    "OutOfMemoryError": MemoryError,
    "HostAccessError": TypeError,
    "DeviceMismatchError": ValueError,
    "UnknownDeviceError": ValueError,
    "GPUNotFoundError": KeyError,
    "GpuSpecError": ValueError,
    "DtypeError": TypeError,
    "ShapeError": ValueError,
    "MissingKernelError": NotImplementedError,
    "OpNotFoundError": LookupError,
    "DuplicateKernelError": ValueError,
    "SchemaError": ValueError,
    "OpRecursionError": RecursionError,
    "KernelRaisedError": RuntimeError,
    "KernelSyntaxError": SyntaxError,
    "KernelTypeError": TypeError,
    "UnsupportedError": NotImplementedError,
    "InstallError": ImportError,
    "UseAfterFreeError": RuntimeError,
    "SanitizerError": RuntimeError,
    "TraceFileError": ValueError,
    "TraceQueryError": LookupError,
}
CLASSES = [getattr(errors, name) for name in errors.__all__]


def made(kind):
    return kind(
        "what is told", where="line 3\nblock 0", why="5 > 4", fix="guard", index=(5, 5)
    )


@pytest.mark.parametrize(("name", "builtin"), BUILTINS.items())
def test_each_class_is_also_the_builtin(name, builtin):
    assert issubclass(getattr(errors, name), (builtin,))
    assert issubclass(getattr(errors, name), SimGPUError)


def test_every_class_is_exported_and_has_a_builtin():
    classes = inspect.getmembers(errors, inspect.isclass)
    ours = {n for n, c in classes if issubclass(c, SimGPUError)}
    assert ours == set(errors.__all__) == {*BUILTINS, "SimGPUError"}


@pytest.mark.parametrize("kind", CLASSES)
def test_the_text_has_the_four_parts_in_order(kind):
    assert str(made(kind)).splitlines() == [
        "what is told",
        "  where  line 3",
        "         block 0",
        "  why    5 > 4",
        "  fix    guard",
    ]


@pytest.mark.parametrize("kind", CLASSES)
def test_pickling_keeps_class_parts_and_facts(kind):
    error = pickle.loads(pickle.dumps(made(kind)))
    assert type(error) is kind
    assert str(error) == str(made(kind))
    assert error.index == (5, 5)


def test_a_part_without_text_is_left_out():
    assert str(SimGPUError("only what")) == "only what"


def test_a_part_added_later_is_told_and_pickled():
    error = SimGPUError("what")
    error.where = "line 7"
    assert str(pickle.loads(pickle.dumps(error))) == "what\n  where  line 7"


def test_an_unknown_fact_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'threads'"):
        OutOfBoundsError("what").threads  # noqa: B018


def test_a_key_error_is_not_told_in_quotes():
    assert str(errors.GPUNotFoundError("no GPU")) == "no GPU"
