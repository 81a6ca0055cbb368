"""The sanitizer agrees with an independent judge on random kernels that share memory."""

import importlib.util
import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as repeatable_settings

import tinytorch_gpu as simgpu
from tests.sanitizer.oracle import LEVELS, Oracle
from tests.sanitizer.random_sharing import (
    DYNAMIC_BYTES,
    sharing_kernels,
)
from tinytorch_gpu import cuda, settings
from tinytorch_gpu.runtime.watching import watching

MOST_THREADS = 3 * 96
RACES = ("race", "implicit_warp_synchrony", "same_value_race")
numbers = itertools.count()


def repeatable(count):
    return repeatable_settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],  # a seed does not shrink
        suppress_health_check=list(HealthCheck),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("random_races")


def load(source, folder):
    """Write the source to a file, where inspect finds it, and import that."""
    name = f"random_race_{next(numbers)}"
    path = folder / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Judged:
    """A launch of a random kernel, with what both judges say."""

    def __init__(self, drawn, folder, schedule):
        source, self.grid, self.block, partly = drawn
        module, self.oracle = load(source, folder), Oracle()
        with settings.override(schedule=schedule), watching(self.oracle):
            given = arguments()
            with simgpu.sanitize(show=False) as report:
                fresh = cuda.device_array(MOST_THREADS, np.float64)
                self.oracle.allocated(fresh)
                module.first[3, 96](fresh, *partly)
                launch = self.grid, self.block, 0, DYNAMIC_BYTES
                module.kernel[launch](*given, fresh)
        self.findings = report.findings
        self.races = self.oracle.races()

    def told(self):
        """Return the races that the sanitizer tells."""
        return [finding for finding in self.findings if finding.kind in RACES]

    def is_right(self, finding):
        """Whether a finding tells two accesses that race as it says."""
        later = {(self._block(finding.block), self._lane(t)) for t in finding.threads}
        other = self._block(finding.other.block), self._lane(finding.other.thread)
        byte = self._byte(finding)
        alike = [
            race
            for race in self.races
            if (race.hazard, race.later.line, race.earlier.line)
            == (finding.hazard, finding.line.line, finding.other.line.line)
            and (finding.space, finding.array) in self.oracle.names[race.later.place]
        ]
        return later <= {race.later.thread for race in alike} and any(
            race.level == finding.level
            and race.earlier.thread == other
            and race.later.thread in later
            and race.later.low == byte
            for race in alike
        )

    def worst(self):
        """Return how grave the gravest race is at each place that has one, at least."""
        found = {}
        for race in self.races:
            level = max(LEVELS.index(race.least), found.get(race.later.place, 0))
            found[race.later.place] = level
        return found

    def worst_told(self, place):
        """Return how grave the gravest is that the sanitizer tells of a place, or -1."""
        names = self.oracle.names[place]
        told = [f for f in self.told() if (f.space, f.array) in names]
        return max((LEVELS.index(f.level) for f in told), default=-1)

    def unwritten(self):
        """Return lanes by line and array, as the sanitizer tells them."""
        found = [f for f in self.findings if f.kind == "uninitialized_read"]
        return {(f.line.line, f.array): f.count for f in found}

    def _byte(self, finding):
        array = self.oracle.arrays[finding.array]
        element = np.ravel_multi_index(finding.index, array.lengths)
        return (array.offset + element) * array.itemsize

    def _block(self, place):
        return linear(place, self.grid)

    def _lane(self, place):
        return linear(place, self.block)


def arguments():
    """Make the arrays that such a kernel gets before `fresh`."""
    rng = np.random.default_rng(0)
    return (
        cuda.to_device(np.arange(MOST_THREADS, dtype=np.int32) % 5),
        cuda.to_device(np.ones(MOST_THREADS, np.float32)),
        cuda.to_device(np.zeros(MOST_THREADS, np.int64)),
        cuda.to_device(np.zeros(7, np.int32)),
        cuda.to_device(rng.permutation(64).astype(np.int32)),
    )


def linear(place, lengths):
    """Number a thread or block; `lengths` is an int, or x and y."""
    x, y, _ = place
    return x + y * (lengths[0] if isinstance(lengths, tuple) else 0)


def check(drawn, folder, schedule="lockstep"):
    """Compare the sanitizer with the oracle on one kernel; return both."""
    judged = Judged(drawn, folder, schedule)
    for finding in judged.told():
        assert judged.is_right(finding), f"{drawn[0]}\n{drawn[1:]}\n{finding}"
    for place, level in judged.worst().items():
        told = judged.worst_told(place)
        names = judged.oracle.names[place]
        assert told >= level, f"{drawn[0]}\n{drawn[1:]}\n{names}: {level}, not {told}"
    assert judged.unwritten() == judged.oracle.unwritten, drawn[0]
    return judged


def test_races_and_unwritten_reads_are_those_of_the_oracle(folder):
    racing = []

    @repeatable(150)
    @given(drawn=sharing_kernels())
    def agree(drawn):
        racing.append(bool(check(drawn, folder).races))

    agree()
    assert 50 <= sum(racing) <= 110  # about half of the kernels race


@repeatable(20)
@given(drawn=sharing_kernels())
def test_they_are_in_other_orders_of_warps_and_blocks(folder, drawn):
    for schedule in ("reversed", "shuffled"):
        check(drawn, folder, schedule)


@pytest.mark.slow
@pytest.mark.parametrize("schedule", ["lockstep", "reversed", "shuffled"])
@repeatable(3000)
@given(drawn=sharing_kernels())
def test_thousands_are_those_of_the_oracle(folder, schedule, drawn):
    check(drawn, folder, schedule)
