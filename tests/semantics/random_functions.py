"""Device functions that random kernels call."""

from tinytorch_gpu import cuda


@cuda.jit(device=True)
def pick(a, b):
    for k in range(3):
        if a > b + k:
            return a - k
        if a == b:
            break
    else:
        return b * 2
    return a + b


@cuda.jit(device=True)
def both(a, b):
    if b < 0:
        return b, a
    return a, b


@cuda.jit(device=True)
def scaled(a, by=3):
    return a * by


@cuda.jit
def total_of(values):
    total = 0
    for k, value in enumerate(values):
        total += value * (k + 1)
    return total
