"""Numbers for people: bytes, nanoseconds and counts as short text, and back.

Comes in: plain numbers in base units (bytes, nanoseconds, 1). Goes out: text with a
unit. Three significant digits always; decimal prefixes, as GPU data sheets use them.
"""

from __future__ import annotations

import re
from typing import TypeGuard

import numpy as np

__all__ = [
    "format_bytes",
    "format_count",
    "format_ns",
    "format_share",
    "format_short",
    "is_whole",
    "parse_bytes",
]

_BYTE_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
_TIME_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
_COUNT_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_PARSE = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([kMGT]?i?)B?\s*")
_PREFIX = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def is_whole(value: object) -> TypeGuard[int]:
    """Tell whether a value is a whole number of Python or NumPy; a bool is none.

    Example:
        >>> is_whole(np.int64(3)), is_whole(True), is_whole(3.0)
        (True, False, False)
    """
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def format_bytes(count: float) -> str:
    """Write a number of bytes with a decimal prefix.

    Example:
        >>> format_bytes(16384), format_bytes(0)
        ('16.4 kB', '0 B')
    """
    return _scaled(count, _BYTE_UNITS)


def format_ns(duration_ns: float) -> str:
    """Write a duration given in nanoseconds with the unit that fits.

    Example:
        >>> format_ns(2500.0), format_ns(3.2e9)
        ('2.50 µs', '3.20 s')
    """
    return _scaled(duration_ns, _TIME_UNITS)


def format_count(count: float) -> str:
    """Write a count with thin groups of three digits.

    Example:
        >>> format_count(18450)
        '18,450'
    """
    return f"{count:,.0f}"


def format_short(count: float) -> str:
    """Write a count in five characters: in full below 10,000, else three digits.

    Example:
        >>> format_short(9384), format_short(18377), format_short(2.5e9)
        ('9,384', '18.4k', '2.50G')
    """
    if count < 1e4:
        return format_count(count)
    return _scaled(count, _COUNT_UNITS).replace(" ", "")


def format_share(part: float, whole: float) -> str:
    """Write part of a whole in percent; a whole of 0 gives 0 %.

    Example:
        >>> format_share(1, 8)
        '12.5 %'
    """
    return f"{100 * part / whole if whole else 0.0:.1f} %"


def parse_bytes(text: str) -> int:
    """Read a number of bytes such as `"16 GB"`, `"48KiB"` or `"4096"`.

    Args:
        text: number, then an optional prefix (k M G T decimal, Ki Mi Gi Ti binary).

    Returns:
        Bytes.

    Raises:
        ValueError: the text is no such number.

    Example:
        >>> parse_bytes("48 KiB"), parse_bytes("1.5 MB")
        (49152, 1500000)
    """
    found = _PARSE.fullmatch(text.replace("K", "k"))
    if not found:
        message = (
            f"{text!r} is no number of bytes; write for example '16 GB' or '48 KiB'"
        )
        raise ValueError(message)
    number, prefix = found.groups()
    return int(float(number) * {**_PREFIX, **_BINARY}[prefix])


def _scaled(value: float, units: tuple[tuple[float, str], ...]) -> str:
    """Round to three digits, then pick the largest unit that leaves at least 1."""
    rounded = float(f"{value:.3g}")
    size, unit = next((u for u in units if abs(rounded) >= u[0]), units[-1])
    if size == 1.0 and float(value).is_integer():
        return f"{value:.0f} {unit}"
    number = rounded / size
    digits = 2 if abs(number) < 10 else 1 if abs(number) < 100 else 0
    return f"{number:.{digits}f} {unit}"
