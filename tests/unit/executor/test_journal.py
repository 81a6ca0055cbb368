"""The journal keeps bytes before their first write, and puts them back."""

import numpy as np
import pytest

from tinytorch_gpu.executor.journal import Journal
from tinytorch_gpu.memory import Allocator

INT = np.dtype("int32")


@pytest.fixture
def buffers():
    allocator = Allocator(10_000)
    made = [allocator.allocate(16) for _ in range(2)]
    for buffer in made:
        buffer.elements(INT)[:] = (1, 2, 3, 4)
    return made


def test_what_was_written_is_put_back(buffers):
    journal = Journal()
    for value in (7, 8):
        journal.will_write(buffers[0])
        buffers[0].elements(INT)[1:] = value
    journal.roll_back()
    assert buffers[0].elements(INT).tolist() == [1, 2, 3, 4]


def test_what_was_not_announced_is_left_alone(buffers):
    journal = Journal()
    journal.will_write(buffers[0])
    buffers[1].elements(INT)[:] = 9
    journal.roll_back()
    assert buffers[1].elements(INT).tolist() == [9, 9, 9, 9]


def test_rolling_back_twice_changes_nothing_more(buffers):
    journal = Journal()
    journal.will_write(buffers[0])
    journal.roll_back()
    buffers[0].elements(INT)[:] = 5
    journal.roll_back()
    assert buffers[0].elements(INT).tolist() == [5, 5, 5, 5]


def test_lines_are_printed_in_order_and_once(capsys):
    journal = Journal()
    journal.lines += ["one", ""]
    journal.lines += ["two"]
    journal.show_lines()
    journal.show_lines()
    assert capsys.readouterr().out == "one\n\ntwo\n"


def test_rolling_back_keeps_the_lines(capsys):
    journal = Journal()
    journal.lines += ["before the fault"]
    journal.roll_back()
    journal.show_lines()
    assert capsys.readouterr().out == "before the fault\n"
