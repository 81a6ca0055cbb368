"""Every test here runs over each package, with the device added to it."""

import pytest

from tests.conformance.package import Package, packages
from tinytorch_gpu import installed


@pytest.fixture(params=packages())
def package(request):
    found = Package(request.param)
    with installed("t4", package=request.param):
        yield found
