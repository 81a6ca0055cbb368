"""The shipped digits."""

import numpy as np

from tinytorch_gpu.demo.digits import load_digits


def test_all_1797_digits_are_split_without_overlap():
    digits = load_digits()
    assert len(digits.train_labels) + len(digits.test_labels) == 1797
    assert digits.train_images.dtype == digits.test_labels.dtype == np.float32
    assert (digits.train_images.min(), digits.train_images.max()) == (0.0, 1.0)
    assert set(digits.train_labels) == set(digits.test_labels) == set(range(10))


def test_the_split_never_changes():
    first, second = load_digits(), load_digits()
    np.testing.assert_array_equal(first.test_images, second.test_images)
    assert first.test_labels[:5].tolist() == second.test_labels[:5].tolist()
