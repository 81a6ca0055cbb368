"""Windows: pairs, output lengths, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels.window import pair_of, window_of


def test_a_number_is_both_and_a_pooling_strides_by_its_size():
    assert window_of("pool", (2, 3)) == ((2, 3), (2, 3), (0, 0), (1, 1))
    assert window_of("conv", 3, 1, (0, 2), 4) == ((3, 3), (1, 1), (0, 2), (4, 4))


@given(*(st.integers(1, 12) for _ in range(3)), st.integers(0, 3), st.integers(1, 3))
def test_as_many_outputs_as_places_where_the_window_lies_inside(
    length, size, stride, padding, dilation
):
    reach = dilation * (size - 1)
    places = range(-padding, length + padding - reach, stride)
    window = window_of("conv2d", size, stride, padding, dilation)
    if places:
        assert window.output("conv2d", (length, length)) == (len(places), len(places))
    else:
        with pytest.raises(ShapeError, match="window"):
            window.output("conv2d", (length, length))


@pytest.mark.parametrize("value", [(1, 2, 3), 0, (1, 0), ()])
def test_what_is_no_pair_of_positive_numbers_is_refused(value):
    with pytest.raises(ShapeError, match="stride"):
        pair_of("conv2d", "stride", value, 1)
