"""Random kernels give bit for bit what the reference gives."""

import importlib.util
import itertools

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.semantics.agreement import check
from tests.semantics.random_kernels import arguments, ragged_sources, whole_sources

WAYS = ({"counters": False, "batch_lanes": 64}, {"counters": True, "replay": False})
numbers = itertools.count()


def repeatable(count):
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],  # a seed does not shrink
        suppress_health_check=list(HealthCheck),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("random_kernels")


def load(source, folder):
    """Write the source to a file, where inspect finds it, and import that."""
    name = f"random_kernel_{next(numbers)}"
    path = folder / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def check_ragged(source, folder):
    """Check a kernel on 45 elements, two blocks of 40 threads."""
    check(load(source, folder), 2, 40, *arguments(45), ways=WAYS)


def check_whole(source, folder):
    """Check a kernel on 128 elements, two blocks of two whole warps."""
    check(load(source, folder), 2, 64, *arguments(128), ways=WAYS)


def test_the_programs_differ():
    written = []

    @repeatable(300)
    @given(source=ragged_sources())
    def write(source):
        written.append(source)

    write()
    assert len(set(written)) == 300


@repeatable(210)
@given(source=ragged_sources())
def test_threads_by_themselves_agree_with_the_reference(folder, source):
    check_ragged(source, folder)


@repeatable(90)
@given(source=whole_sources())
def test_threads_that_meet_agree_with_the_reference(folder, source):
    check_whole(source, folder)


@pytest.mark.slow
@repeatable(6_000)
@given(source=ragged_sources())
def test_thousands_by_themselves_agree_with_the_reference(folder, source):
    check_ragged(source, folder)


@pytest.mark.slow
@repeatable(4_000)
@given(source=whole_sources())
def test_thousands_that_meet_agree_with_the_reference(folder, source):
    check_whole(source, folder)
