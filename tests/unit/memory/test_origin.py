"""The user's line is the innermost one outside the package."""

from tinytorch_gpu.memory import Allocator
from tinytorch_gpu.memory.origin import user_line


def test_it_is_the_line_of_the_caller():
    file, line = user_line()
    assert (file, line) == (
        __file__,
        test_it_is_the_line_of_the_caller.__code__.co_firstlineno + 1,
    )


def test_calls_within_the_package_are_passed_over():
    allocator = Allocator(4096)
    assert allocator.allocate(4).origin is None
    allocator.is_traced = True
    assert allocator.allocate(4).origin[0] == __file__
