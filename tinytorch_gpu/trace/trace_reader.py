"""Reads a trace's file and believes nothing: sizes first, then names, then contents.

Nothing in a file is run or unpickled. Read `load_trace`, then `_members`; what the
members say is checked in `trace_header.py` and `trace_steps.py`.
"""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import SettingsError, TraceFileError
from tinytorch_gpu.trace.checking import DamagedError, mapping, need, whole
from tinytorch_gpu.trace.file_layout import (
    COLUMNS,
    DTYPES,
    FIELDS,
    FORMAT,
    HEADER,
    STEPS,
    VERSION,
    npy_header,
    pool_file,
)
from tinytorch_gpu.trace.launch_trace import LaunchTrace
from tinytorch_gpu.trace.trace_header import read_header
from tinytorch_gpu.trace.trace_steps import StepReader
from tinytorch_gpu.units import format_bytes, parse_bytes

if TYPE_CHECKING:
    import os

__all__ = ["load_trace"]

MEMBERS = {HEADER, STEPS, *map(pool_file, DTYPES)}
# What zipfile, zlib and json raise for damaged files.
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    KeyError,
    NotImplementedError,
    OverflowError,
    RecursionError,
    RuntimeError,
    ValueError,
)


def load_trace(
    path: str | os.PathLike[str], max_bytes: str | int = "2 GiB"
) -> LaunchTrace:
    """Read a trace that `LaunchTrace.save` wrote.

    Args:
        path: the file.
        max_bytes: most bytes that it may have when unpacked, a number or text like
            `"2 GiB"`; a file that says it has more is not unpacked.

    Raises:
        SettingsError: `max_bytes` is no number of bytes.
        TraceFileError: the file is damaged, no trace, of another version, or larger.

    Example:
        >>> import tempfile
        >>> import tinytorch_gpu as simgpu
        >>> from tinytorch_gpu import cuda
        >>> @cuda.jit
        ... def fill(out):
        ...     out[cuda.threadIdx.x] = 7
        >>> with simgpu.tracing() as traces:
        ...     fill[1, 32](np.zeros(32))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     traces[0].save(f"{folder}/fill.simtrace")
        ...     trace = load_trace(f"{folder}/fill.simtrace")
        >>> trace.kernel.name, trace.touching("out", 3).rows[0].value
        ('fill', np.float64(7.0))
    """
    file = Path(path)
    limit = _limit(file, max_bytes)
    try:
        members = _members(file, limit)
        return _trace(members)
    except OSError as error:
        raise _error(file, error.strerror or str(error)) from None
    except DamagedError as error:
        raise _error(file, str(error), error.fix) from None
    except MemoryError:
        raise _error(file, "this machine has no memory for it") from None
    except BROKEN as error:
        raise _error(file, f"the zip cannot be read: {error}"[:80]) from None


def _limit(file: Path, max_bytes: str | int) -> int:
    try:
        return (
            parse_bytes(max_bytes) if isinstance(max_bytes, str) else index(max_bytes)
        )
    except (TypeError, ValueError) as error:
        raise SettingsError(
            f"load_trace(max_bytes={max_bytes!r:.60})",
            where=f"load_trace of {file.name}",
            why=str(error),
            fix='for example max_bytes="2 GiB"',
        ) from None


def _error(file: Path, why: str, fix: str = "") -> TraceFileError:
    return TraceFileError(
        f"{file.name} is no trace that can be read",
        where=str(file),
        why=why,
        fix=fix or "save the trace again with trace.save(path)",
    )


def _members(file: Path, limit: int) -> dict[str, bytes]:
    """Return the files of the zip, after a look at their names and sizes."""
    packed = file.stat().st_size
    need(packed <= limit, *_too_large(packed, limit))
    with zipfile.ZipFile(file) as archive:
        infos = archive.infolist()
        names = [info.filename for info in infos]
        need(HEADER in names and STEPS in names, f"it holds no {HEADER} and {STEPS}")
        strange = sorted(set(names) - MEMBERS)
        need(not strange, f"it holds files that no trace has: {strange[:3]}")
        need(len(set(names)) == len(names), "it holds a file twice")
        unpacked = sum(info.file_size for info in infos)
        need(unpacked <= limit, *_too_large(unpacked, limit))
        return {info.filename: _unpacked(archive, info) for info in infos}


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    plain = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    need(info.compress_type in plain, f"{info.filename} is packed in an unknown way")
    data = archive.read(info)  # stops at the size told, and compares the check sum
    need(len(data) == info.file_size, f"{info.filename} is not as long as it says")
    return data


def _too_large(size: int, limit: int) -> tuple[str, str]:
    why = f"it has {format_bytes(size)}; the limit is {format_bytes(limit)}"
    return why, "if you trust it, load it with a larger max_bytes="


def _trace(members: dict[str, bytes]) -> LaunchTrace:
    header = mapping(json.loads(members[HEADER]))
    need(header.get("format") == FORMAT, "its header does not call it a simgpu-trace")
    version = header.get("version")
    need(
        version == VERSION,
        f"it has version {version!r}; this release reads version {VERSION}",
        "read it with the release that wrote it, or trace anew",
    )
    launch, parts = read_header(header)
    sizes = mapping(header.get("columns"))
    need(set(sizes) <= set(DTYPES), "it has columns of an unknown dtype")
    told = {HEADER, STEPS, *map(pool_file, sizes)}
    need(told == set(members), "its header tells other files than it holds")
    pools = {
        dtype: _array(members[pool_file(dtype)], dtype, (whole(size),))
        for dtype, size in sizes.items()
    }
    shape = (whole(header.get("steps")), len(FIELDS) + 4 * len(COLUMNS))
    table = _array(members[STEPS], "int64", shape)
    steps = StepReader(launch, parts, pools).steps(table.tolist())
    need(whole(header.get("seen")) >= len(steps), "it has more steps than were seen")
    return LaunchTrace(**launch, steps=steps)


def _array(data: bytes, dtype: str, shape: tuple[int, ...]) -> Any:
    """Return the array of a .npy file that has to have this dtype and shape."""
    kind = np.dtype(dtype).newbyteorder("<")
    head = npy_header(kind, shape)
    size = int(np.prod(shape, dtype=object)) * kind.itemsize
    is_right = data.startswith(head) and len(data) == len(head) + size
    need(is_right, f"a file of {dtype} is not of shape {shape}")
    found = np.frombuffer(data, kind, offset=len(head)).reshape(shape)
    if dtype == "bool":
        need(bool((found.view(np.uint8) <= 1).all()), "a bool is neither 0 nor 1")
    return found.astype(dtype, copy=False)
