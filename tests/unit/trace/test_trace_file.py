"""Traces in files: the same after reading, and nothing but an error if damaged."""

import contextlib
import io
import json
import math
import random
import zipfile

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tests.unit.trace.trace_kernels import trace_mixed, trace_reverse
from tinytorch_gpu import errors, settings
from tinytorch_gpu.trace.file_layout import DTYPES, FIELDS, npy_header

FACTS = [
    "kernel", "grid", "block", "arrays", "counts", "seen", "budget_bytes", "blocks",
    "warps", "error", "note",
]  # fmt: skip
COLUMNS = ["lanes", "flat", "value", "taken", "members"]


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def assert_same(one, other):
    for name in FACTS:
        assert getattr(one, name) == getattr(other, name), name
    assert len(one.steps) == len(other.steps)
    for a, b in zip(one.steps, other.steps, strict=True):
        for name in ("number", "kind", "line", "expression", "name", "array", "shift"):
            assert getattr(a, name) == getattr(b, name), name
        assert a.where.size == b.where.size
        for name in ("blocks", "threads"):
            left, right = getattr(a.where, name), getattr(b.where, name)
            assert left.dtype == right.dtype
            assert left.tolist() == right.tolist()
        for name in COLUMNS:
            same_column(getattr(a, name), getattr(b, name))


def same_column(left, right):
    assert (left is None) == (right is None)
    if left is not None:
        assert np.shape(left) == np.shape(right)
        assert left.dtype == right.dtype
        np.testing.assert_array_equal(left, right)  # NaN equals NaN


TRACES = {
    "full": trace_reverse,
    "mixed": trace_mixed,
    "sampled": lambda: trace_mixed(blocks=[1]),
    "warps": lambda: trace_reverse(warps=[1]),
    "cut": lambda: trace_reverse(64, budget="60 KiB"),
    "empty": lambda: trace_reverse(budget=0),
    "operations": lambda: trace_mixed(operations=True),
}


@pytest.mark.parametrize("name", TRACES)
@pytest.mark.parametrize("schedule", ["lockstep", "warps"])
def test_read_as_written(name, schedule, tmp_path):
    with settings.override(schedule=schedule):
        trace = TRACES[name]()
    file = tmp_path / "a.simtrace"
    trace.save(file)
    again = simgpu.load_trace(file)
    assert_same(trace, again)
    again.save(tmp_path / "b.simtrace")
    assert (tmp_path / "b.simtrace").read_bytes() == file.read_bytes()
    assert names_in(tmp_path) == ["a.simtrace", "b.simtrace"]


def test_numpy_reads_the_columns(tmp_path):
    trace_reverse().save(tmp_path / "a.simtrace")
    with np.load(tmp_path / "a.simtrace", allow_pickle=False) as file:
        assert set(file.files) == {
            "trace.json", "steps", "columns/float32", "columns/int32", "columns/int64",
            "columns/uint8",
        }  # fmt: skip
        steps = file["steps"]
        assert steps.shape == (6, 27)
        assert steps.dtype == np.int64
        assert set(file["columns/float32"]) == set(range(192))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(0,), (7,), (123456, 27)])
def test_array_headers_are_numpys(dtype, shape):
    head = npy_header(np.dtype(dtype), shape)
    found = np.lib.format.read_array_header_1_0(io.BytesIO(head[8:]))
    assert found == (shape, False, np.dtype(dtype))
    assert len(head) % 64 == 0


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A trace with everything in it, and its file's bytes."""
    file = tmp_path_factory.mktemp("saved") / "a.simtrace"
    trace = trace_mixed()
    trace.save(file)
    return trace, file.read_bytes()


def check(data, trace, file):
    """Load damaged bytes: the same trace, or our error; tell which."""
    file.write_bytes(data)
    try:
        again = simgpu.load_trace(file)
    except errors.TraceFileError as error:
        return not (error.where == str(file) and error.why and error.fix)
    assert_same(trace, again)
    return True


def test_a_file_cut_anywhere_is_refused(saved, tmp_path):
    trace, data = saved
    cuts = [*range(0, len(data), 37), len(data) - 1]
    assert not any(check(data[:cut], trace, tmp_path / "a") for cut in cuts)


def test_flipped_bits_are_found_or_do_no_harm(saved, tmp_path):
    trace, data = saved
    draw = random.Random(0)
    harmless = 0
    for _ in range(800):
        damaged = bytearray(data)
        damaged[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        harmless += check(bytes(damaged), trace, tmp_path / "a")
    assert harmless < 160  # dates and flags that nobody reads


def test_other_damage(saved, tmp_path):
    trace, data = saved
    draw = random.Random(1)
    for _ in range(300):
        at, length = draw.randrange(len(data)), draw.randrange(1, 60)
        noise = draw.randbytes(length)
        for damaged in (
            data[:at] + noise + data[at + length :],
            data[:at] + noise + data[at:],
            data[:at] + data[at + length :],
        ):
            check(damaged, trace, tmp_path / "a")


def unpack(data):
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def pack(members, method=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return out.getvalue()


def refused(members, tmp_path, **options):
    file = tmp_path / "a.simtrace"
    file.write_bytes(members if isinstance(members, bytes) else pack(members))
    with pytest.raises(errors.TraceFileError) as caught:
        simgpu.load_trace(file, **options)
    assert caught.value.what == "a.simtrace is no trace that can be read"
    return caught.value


def test_headers_with_other_values_are_refused_or_load(saved, tmp_path):
    """Every number, text and list of the header, replaced by something else."""
    _, data = saved
    members = unpack(data)
    header = json.loads(members["trace.json"])
    file = tmp_path / "a"
    odd = [None, -1, 2**70, 1.5, "x", [], {}, [[]], True, 10**6]
    refusals = 0
    for path in paths(header):
        for value in odd:
            changed = json.loads(members["trace.json"])
            put(changed, path, value)
            file.write_bytes(
                pack({**members, "trace.json": json.dumps(changed)}, zipfile.ZIP_STORED)
            )
            refusals += not loads(file)
    assert refusals > 600


def paths(value, path=()):
    """Yield the path of each part of a JSON value; of long lists the first ones."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, part in value.items():
            yield from paths(part, (*path, key))
    elif isinstance(value, list):
        for number, part in enumerate(value[:2]):
            yield from paths(part, (*path, number))


def put(value, path, new):
    for key in path[:-1]:
        value = value[key]
    value[path[-1]] = new


def loads(file):
    """Load a file and ask; only our errors may come."""
    try:
        trace = simgpu.load_trace(file)
    except errors.TraceFileError:
        return False
    lines = {step.line for step in trace.steps}
    arrays = [array for array in trace.arrays if math.prod(array.shape) < 10**5]
    questions = [
        lambda: trace.thread(0, 0),
        lambda: trace.warp(0, 0),
        trace.lines,
        *(lambda line=line: trace.matrix(line) for line in lines),
        *(lambda name=array.name: trace.first_touch(name) for array in arrays),
        *(
            lambda a=array: trace.touching(a.name, (0,) * len(a.shape))
            for array in arrays
        ),
    ]
    for question in questions:
        with contextlib.suppress(errors.TraceQueryError):
            assert str(question())
    return True


def test_steps_with_other_numbers_are_refused_or_load(saved, tmp_path):
    _, data = saved
    members = unpack(data)
    width = len(FIELDS) + 20
    head = len(members["steps.npy"]) - len(saved[0].steps) * width * 8
    table = np.frombuffer(members["steps.npy"], "<i8", offset=head).reshape(-1, width)
    draw = np.random.default_rng(2)
    file = tmp_path / "a"
    refusals = 0
    for _ in range(500):
        changed = table.copy()
        place = tuple(draw.integers(changed.shape))
        changed[place] = draw.choice(
            [-2, -1, 0, 1, 2, 5, 31, 32, 1000, 2**40, 2**62, -(2**62)]
        )
        steps = members["steps.npy"][:head] + changed.tobytes()
        file.write_bytes(pack({**members, "steps.npy": steps}, zipfile.ZIP_STORED))
        refusals += not loads(file)
    assert refusals > 150


def crafted(saved, tmp_path, header=(), **columns):
    """Change parts of the header, and columns of a dtype; return why it is refused."""
    members = unpack(saved[1])
    told = json.loads(members["trace.json"])
    for path, value in header:
        put(told, path, value)
    members["trace.json"] = json.dumps(told)
    for dtype, change in columns.items():
        name = f"columns/{dtype}.npy"
        data = np.load(io.BytesIO(members[name]))
        head = members[name][: -data.nbytes]
        change(data)
        members[name] = head + data.tobytes()
    return refused(members, tmp_path).why


def test_contents_that_do_not_fit_together(saved, tmp_path):
    """In the file: blocks 0 and 1 of 32 threads; m has 6 elements."""

    def fill(value):
        return lambda data: data.fill(value)

    m = json.loads(unpack(saved[1])["trace.json"])["arrays"][0]
    assert m[:4] == ["m", "global", "float32", [2, 3]]
    far = [*m[:5], 1, *m[6:]]  # begins one element further on
    why = "array 'm' reaches out of its memory"
    assert crafted(saved, tmp_path, [(("arrays", 0), far)]) == why
    why = "an element's index is out of bounds"
    assert crafted(saved, tmp_path, int32=fill(6)) == why
    assert crafted(saved, tmp_path, int32=fill(-1)) == why
    small = [(("block",), [20, 1, 1])]
    assert crafted(saved, tmp_path, small) == "a lane takes part that is no thread"
    smaller = [(("grid",), [1, 1, 1])]
    why = "the blocks of a step are not of the grid"
    assert crafted(saved, tmp_path, smaller) == why


def test_groups_of_lanes_are_whole_warps_of_the_block(saved, tmp_path):
    _, _, start, count = json.loads(unpack(saved[1])["trace.json"])["lanes"][0]

    def change(first, end, add):
        return lambda data: data[start + first : start + end].__iadd__(add)

    assert count == 32
    why = "the threads of a step are not of a block"
    assert crafted(saved, tmp_path, int64=change(0, 32, 32)) == why
    assert crafted(saved, tmp_path, int64=change(0, 1, 1)) == why
    larger = [(("block",), [64, 1, 1])]
    why = "a step has parts of warps"
    assert crafted(saved, tmp_path, larger, int64=change(0, 32, 1)) == why
    fewer = [(("lanes", 0, 3), 31)]
    assert crafted(saved, tmp_path, fewer) == why


def test_a_later_version_is_named(saved, tmp_path):
    members = unpack(saved[1])
    header = {**json.loads(members["trace.json"]), "version": 9}
    error = refused({**members, "trace.json": json.dumps(header)}, tmp_path)
    assert error.why == "it has version 9; this release reads version 1"


def test_foreign_files(saved, tmp_path):
    members = unpack(saved[1])
    assert "not a zip" in refused(b"PNG" * 100, tmp_path).why
    assert "no trace.json" in refused({"a.txt": "hello"}, tmp_path).why
    more = {**members, "../../evil.py": "print()"}
    assert "files that no trace has: ['../../evil.py']" in refused(more, tmp_path).why
    other = json.dumps({"format": "something"})
    assert "does not call it" in refused({**members, "trace.json": other}, tmp_path).why
    assert (
        "an object should be" in refused({**members, "trace.json": "[]"}, tmp_path).why
    )
    deep = "[" * 100_000
    assert "cannot be read" in refused({**members, "trace.json": deep}, tmp_path).why
    object_array = io.BytesIO()
    np.save(object_array, np.array([{}], object), allow_pickle=True)
    assert refused({**members, "steps.npy": object_array.getvalue()}, tmp_path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(errors.TraceFileError, match="No such file"):
        simgpu.load_trace(tmp_path / "none")


def test_sizes_are_compared_before_anything_is_unpacked(saved, tmp_path, monkeypatch):
    members = unpack(saved[1])
    bomb = {**members, "columns/int8.npy": bytes(50_000_000)}  # 50 kB when packed
    file = tmp_path / "a.simtrace"
    file.write_bytes(pack(bomb))
    assert file.stat().st_size < 100_000
    monkeypatch.setattr(zipfile.ZipFile, "read", None)  # not called
    monkeypatch.setattr(zipfile.ZipFile, "open", None)
    with pytest.raises(errors.TraceFileError) as caught:
        simgpu.load_trace(file, max_bytes="10 MB")
    assert caught.value.why == "it has 50.0 MB; the limit is 10.0 MB"
    with pytest.raises(errors.TraceFileError, match=r"the limit is 1\.00 kB"):
        simgpu.load_trace(file, max_bytes=1000)


@pytest.mark.parametrize("wrong", ["zz", 1.5, None])
def test_a_limit_that_is_no_number_of_bytes(saved, tmp_path, wrong):
    file = tmp_path / "a.simtrace"
    file.write_bytes(saved[1])
    with pytest.raises(errors.SettingsError, match="max_bytes=") as caught:
        simgpu.load_trace(file, max_bytes=wrong)
    assert caught.value.fix


def test_a_file_that_understates_its_sizes(saved, tmp_path):
    """The directory says 8 bytes, the stream holds more: no more than 8 are unpacked."""
    members = unpack(saved[1])
    file = pack({**members, "columns/int8.npy": bytes(50_000)})
    size = (50_000).to_bytes(4, "little")
    assert file.count(size) == 2
    error = refused(file.replace(size, (8).to_bytes(4, "little")), tmp_path)
    assert "cannot be read" in error.why


def test_a_failed_save_leaves_what_was_there(tmp_path, monkeypatch):
    file = tmp_path / "a.simtrace"
    file.write_text("before")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    with pytest.raises(errors.TraceFileError, match="No space left"):
        trace_reverse().save(file)
    assert file.read_text() == "before"
    assert names_in(tmp_path) == ["a.simtrace"]


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(errors.TraceFileError, match="cannot be written"):
        trace_reverse().save(tmp_path / "none" / "a.simtrace")


def test_a_save_replaces_what_was_there(tmp_path):
    file = tmp_path / "a.simtrace"
    file.write_text("before")
    trace_reverse().save(str(file))
    assert simgpu.load_trace(str(file)).is_complete
