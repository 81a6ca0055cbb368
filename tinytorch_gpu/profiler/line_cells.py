"""What the line table writes about one line and about one access, as short text.

A line's numbers are its executions, active lanes, branches and operations; an access
has requests, active lanes and what its space makes of the addresses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu.units import format_bytes, format_short

if TYPE_CHECKING:
    from tinytorch_gpu.trace import AccessCounts

__all__ = ["access_effect", "access_price", "lanes_cell", "share_cell"]


def lanes_cell(active_lanes: int, warps: int) -> str:
    """Write the mean number of active lanes of a warp; nothing for no warp.

    Example:
        >>> lanes_cell(48, 2), lanes_cell(0, 0)
        ('24.0', '')
    """
    return f"{active_lanes / warps:.1f}" if warps else ""


def share_cell(part: int, whole: int) -> str:
    """Write a part of a whole as two counts; nothing for a whole of 0.

    Example:
        >>> share_cell(391, 3128), share_cell(0, 0)
        ('391/3,128', '')
    """
    return f"{format_short(part)}/{format_short(whole)}" if whole else ""


def access_price(access: AccessCounts) -> str:
    """Write what one request of an access costs.

    Returns:
        For example `4.0 sectors` (global) or `1.0 passes` (shared).
    """
    requests = max(1, access.requests)
    if access.space == "global":
        return f"{access.sectors / requests:.1f} sectors"
    if access.space == "shared":
        return f"{access.wavefronts / requests:.1f} passes"
    return access.space


def access_effect(access: AccessCounts, times: int = 1) -> str:
    """Write what an access cost over the whole launch.

    Args:
        access: its counts.
        times: how many equal accesses the line has.

    Returns:
        For example `12,500 sectors, 400 kB/400 kB used`.
    """
    if access.kind == "atomic":
        turns = format_short(times * access.serial_passes)
        return f"{turns} turns, most at one: {format_short(access.hottest_address)}"
    if access.space == "global":
        sectors = format_short(times * access.sectors)
        used = format_bytes(times * access.bytes_used)
        return f"{sectors} sectors, {used}/{format_bytes(times * access.bytes_moved)}"
    if access.space == "shared":
        conflicts = times * access.bank_conflicts
        return f"{format_short(conflicts) if conflicts else 'no'} bank conflicts"
    return ""
