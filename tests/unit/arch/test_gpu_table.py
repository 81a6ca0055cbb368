"""The table has a row for each preset, the sheet a line for each field."""

from dataclasses import fields, replace

import pytest

from tinytorch_gpu.arch import PRESETS, find_gpu
from tinytorch_gpu.arch.gpu_table import gpu_sheet, gpu_table
from tinytorch_gpu.errors import GPUNotFoundError


def test_every_preset_has_a_row():
    head, *rows = gpu_table().splitlines()
    assert head.split()[:4] == ["name", "GPU", "cc", "SMs"]
    assert [row.split()[0] for row in rows] == list(PRESETS)


def test_columns_stand_under_their_heads():
    lines = gpu_table().splitlines()
    for head in ("GPU", "host link"):
        at = lines[0].index(head)
        assert all(line[at - 1] == " " and line[at : at + 1].strip() for line in lines)


def test_a_row_has_the_data_sheets_numbers():
    (row,) = [x for x in gpu_table().splitlines() if x.startswith("a100 ")]
    # 2 × 108 SMs × 64 lanes × 1.41 GHz = 19.49 TFLOP/s
    for number in ("8.0", "108", "19.49", "1555", "42.9 GB", "41.9 MB", "PCIe 4 x16"):
        assert f" {number}" in row


def test_the_link_of_a_grace_hopper_is_shown():
    (row,) = [x for x in gpu_table().splitlines() if x.startswith("gh200 ")]
    assert row.endswith("NVLink-C2C")


@pytest.mark.parametrize("name", ["t4", "toy", "c870", "gh200"])
def test_the_sheet_has_every_field_and_the_sources(name):
    sheet = gpu_sheet(name)
    spec = find_gpu(name)
    names = [line.split()[0] for line in sheet.splitlines()[1:]]
    assert {field.name for field in fields(spec)} <= set(names)
    assert " ".join(spec.sources.split()) in " ".join(sheet.split())


def test_a_gpu_of_ones_own_has_a_sheet():
    mine = replace(find_gpu("toy"), name="mine", num_sms=1234)
    lines = gpu_sheet(mine).splitlines()
    assert lines[0].startswith("mine: ")
    assert ["num_sms", "1,234"] in [line.split() for line in lines]


def test_an_unknown_gpu_has_no_sheet():
    with pytest.raises(GPUNotFoundError):
        gpu_sheet("voodoo2")
