"""Kernels that between them use every construct of the kernel language.

Each is small, reads `x`, writes `out`, and has no race: a thread writes its own
elements. `CASES` pairs each kernel with a launch.
"""

import math

import numpy as np

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32, int32

N = 100  # elements; four blocks of 40 threads leave warps and the last block ragged
TILE = 8

# Branches.


@cuda.jit
def if_elif_else(x, out):
    i = cuda.grid(1)
    if i < out.size:
        if x[i] < -3:
            out[i] = x[i] * 2
        elif x[i] < 0:
            out[i] = -x[i]
        elif x[i] == 0:
            out[i] = 100
        else:
            out[i] = x[i] // 3


@cuda.jit
def nested_if(x, out):
    i = cuda.grid(1)
    if i < out.size:
        result = 1
        if x[i] > 0:
            if x[i] > 4:
                result = 2
                if i % 2 == 0:
                    result = result + 10
            else:
                result = 3
            result = result * 2
        elif i % 3:
            result = result - 7
        out[i] = result


@cuda.jit
def assigned_in_one_branch(x, out):
    i = cuda.grid(1)
    a = 5
    b = 7
    if i < out.size:
        if x[i] > 2:
            a = x[i]
        if x[i] < -2:
            b = a + x[i]
        out[i] = a * 1000 + b


@cuda.jit
def both_branches_assign(x, out):
    i = cuda.grid(1)
    if i < out.size:
        if x[i] > 0:
            a = i
        else:
            a = -i
        out[i] = a


@cuda.jit
def uniform_branches(x, out, n):
    i = cuda.grid(1)
    if i < out.size:
        if n > 3:
            out[i] = x[i] + n
        else:
            out[i] = x[i] - n
        if cuda.blockIdx.x == 1:
            out[i] = out[i] * 2


# Loops.


@cuda.jit
def for_uniform(x, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for k in range(5):
            total += x[i] * k
        for k in range(2, 9, 3):
            total -= k
        out[i] = total


@cuda.jit
def for_bound_of_each_lane(x, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for k in range(abs(x[i])):
            total += k + 1
        for k in range(x[i], 4):
            total += 100
        out[i] = total


@cuda.jit
def for_negative_steps(x, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for k in range(9, -1, -2):
            total = total * 3 + k
        for k in range(x[i], -4, -1):
            total = total + k * 1000
        step = 1 if x[i] < 0 else -1
        for k in range(x[i], 0, step):
            total += k
        out[i] = total


@cuda.jit
def bounds_are_evaluated_once(x, out):
    i = cuda.grid(1)
    if i < out.size:
        n = abs(x[i])
        total = 0
        for k in range(n):
            n = n - 1
            k = k * 2
            total += k + n
        out[i] = total * 10 + n


@cuda.jit
def while_of_each_lane(x, out):
    i = cuda.grid(1)
    if i < out.size:
        value = abs(x[i]) + 1
        steps = 0
        while value != 1:
            if value % 2:
                value = 3 * value + 1
            else:
                value = value // 2
            steps += 1
        out[i] = steps


@cuda.jit
def while_true_with_break(x, out):
    i = cuda.grid(1)
    if i >= out.size:
        return
    count = 0
    while True:
        count += 1
        if count > abs(x[i]):
            break
        count += i % 2
    out[i] = count


@cuda.jit
def break_leaves_the_loop(x, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for k in range(10):
            if k > x[i]:
                break
            total += k
        out[i] = total


@cuda.jit
def continue_before_and_after(x, out):
    i = cuda.grid(1)
    if i < out.size:
        before = 0
        after = 0
        for k in range(8):
            before += k
            if (k + x[i]) % 3 == 0:
                continue
            after = after * 2 + k
        out[i] = before * 1000 + after


@cuda.jit
def carried_past_continue(x, out):
    i = cuda.grid(1)
    if i < out.size:
        last = -1
        for k in range(6):
            if k % 2 == x[i] % 2:
                continue
            step = k - last
            last = k
            if step > 1:
                continue
            last = last + 10
        out[i] = last


@cuda.jit
def continue_in_while(x, out):
    i = cuda.grid(1)
    if i < out.size:
        k = 0
        total = 0
        while k < 10:
            k += 1
            if k == x[i]:
                continue
            if k > 8 + x[i]:
                break
            total += k
        out[i] = total


@cuda.jit
def for_else(x, out):
    i = cuda.grid(1)
    if i < out.size:
        for k in range(5):
            if k == x[i]:
                out[i] = k
                break
        else:
            out[i] = -100


@cuda.jit
def for_else_of_each_lane(x, out):
    i = cuda.grid(1)
    if i < out.size:
        found = 0
        for k in range(x[i]):
            if k == 3:
                found = 1
                break
        else:
            found = 2
        out[i] = found


@cuda.jit
def while_else(x, out):
    i = cuda.grid(1)
    if i < out.size:
        k = 0
        result = 0
        while k < 6:
            if k == x[i]:
                result = k + 50
                break
            k += 1
        else:
            result = -k
        out[i] = result


@cuda.jit
def else_of_the_inner_loop_continues_the_outer(x, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for j in range(5):
            for k in range(4):
                if k == x[i]:
                    break
            else:
                continue
            total += 10 + j
        out[i] = total


@cuda.jit
def else_of_the_inner_loop_breaks_the_outer(x, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for j in range(5):
            for k in range(4):
                if k == x[i] - j:
                    break
            else:
                break
            total += 10 + j
        out[i] = total


@cuda.jit
def else_of_the_inner_while_continues_the_outer(x, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for j in range(4):
            k = 0
            while k < 3:
                if k == x[i] + j:
                    break
                k += 1
            else:
                total += 100
                continue
            total += k + 1
        out[i] = total


@cuda.jit
def else_of_a_loop_assigns_and_returns(x, out):
    i = cuda.grid(1)
    a = 3
    for _ in range(2):
        if x[i] > 0:
            break
    else:
        a -= 6
        return
    out[i] = a


@cuda.jit
def break_of_the_inner_loop(x, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for j in range(4):
            for k in range(4):
                if j * k > x[i]:
                    break
                total += 1
            total += 100
        out[i] = total


@cuda.jit
def variables_of_inner_loops(x, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for j in range(3):
            part = j
            for k in range(abs(x[i]) % 4):
                part = part * 2 + k
                if part > 9:
                    break
            total += part
        out[i] = total


@cuda.jit
def loop_variable_afterwards(x, out):
    i = cuda.grid(1)
    if i < out.size:
        k = -5
        for k in range(x[i]):
            if k == 4:
                break
        j = 100
        for j in range(3):
            pass
        out[i] = k * 1000 + j


@cuda.jit
def return_inside_loops(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = -1
        for j in range(4):
            for k in range(4):
                if j * 4 + k == x[i]:
                    out[i] = j
                    return
                if k > j:
                    break
            out[i] = out[i] - 10
        out[i] = out[i] * 2


@cuda.jit
def return_inside_while(x, out):
    i = cuda.grid(1)
    k = 0
    while k < 20:
        if i >= out.size:
            return
        if k > x[i]:
            out[i] = k
            return
        k += 3
    out[i] = 99


@cuda.jit
def grid_stride(x, out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = x[i] * 2 + 1


# Leaving early.


@cuda.jit
def early_return(x, out):
    i = cuda.grid(1)
    if i >= out.size:
        return
    if x[i] < 0:
        out[i] = -1
        return
    else:
        out[i] = 1
    out[i] = out[i] + x[i]


@cuda.jit
def return_before_pass(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i]
        return
    pass


@cuda.jit
def continue_before_pass(x, out):
    i = cuda.grid(1)
    if i < out.size:
        for k in range(3):
            out[i] = x[i] + k
            if x[i] == k:
                continue
            pass


@cuda.jit
def code_after_return(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i]
    return
    out[0] = 12345


# Expressions that evaluate only what they need.


@cuda.jit
def ternary_guards_a_load(x, out):
    i = cuda.grid(1)
    value = x[i] if i < x.size else 0
    if i < out.size:
        out[i] = value + (x[i + 1] if i + 1 < x.size else -1)


@cuda.jit
def and_guards_a_load(x, out):
    i = cuda.grid(1)
    if i < x.size and x[i] > 0:
        out[i] = 1
    if i < x.size and x[i] <= 0 and x[i - x[i] % 2] != 3:
        out[i] = 2


@cuda.jit
def or_guards_a_load(x, out):
    i = cuda.grid(1)
    if i >= x.size or x[i] < 0:
        return
    out[i] = 7


@cuda.jit
def chained_comparison(x, out):
    i = cuda.grid(1)
    if 0 <= i < out.size:
        out[i] = 1 if -2 < x[i] <= 3 != x[i] else 0


@cuda.jit
def chained_comparison_guards_a_load(x, out):
    i = cuda.grid(1)
    if x.size > i >= x[i]:
        out[i] = 1


@cuda.jit
def and_or_give_an_operand(x, out):
    i = cuda.grid(1)
    if i < out.size:
        a = x[i]
        b = a - 2
        out[i] = (a or 50) * 100 + (a and b) + (a and b or 7)


@cuda.jit
def and_or_give_a_loaded_operand(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = (x[i] or x[0] - 40) * 100 + (x[i] and x[i] - 2)


@cuda.jit
def not_and_bools_as_numbers(x, out):
    i = cuda.grid(1)
    if i < out.size:
        is_large = x[i] > 2
        out[i] = (not is_large) * 10 + is_large + (x[i] == 0) * 100


# Assignments.


@cuda.jit
def tuples(x, out):
    i = cuda.grid(1)
    if i < out.size:
        a, b = x[i], i
        (c, d), e = (a + b, a - b), 3
        pair = (c, d)
        out[i] = pair[0] * e + pair[1]


@cuda.jit
def swap(x, out):
    i = cuda.grid(1)
    if i < out.size:
        a, b = 1, x[i]
        for _ in range(3):
            if b > a:
                a, b = b, a
            b = b + a
        a, b = b, a
        out[i] = a * 1000 + b


@cuda.jit
def swap_elements(x, out):
    i = cuda.grid(1) * 2
    if i + 1 < x.size:
        x[i], x[i + 1] = x[i + 1], x[i]


@cuda.jit
def augmented(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 5
        out[i] += x[i]
        out[i] *= 3
        out[i] -= 1
        out[i] //= 2
        out[i] %= 7
        out[i] <<= 2
        out[i] |= 1
        out[i] ^= 6
        out[i] &= 0xFF
        out[i] **= 2
        x[i] >>= 1


@cuda.jit
def chained_and_annotated(x, out):
    i = cuda.grid(1)
    if i < out.size:
        a = b = x[i] + 1
        c: int = a * 2
        d: int
        d = b
        out[i] = a = c + d
        out[i] += a


@cuda.jit
def parameters_are_variables(x, out, n):
    i = cuda.grid(1)
    if i < out.size:
        if x[i] > 0:
            n = n + x[i]
        n *= 2
        out[i] = n


@cuda.jit
def negative_indices(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[-1] + x[i - x.size] * 10 + x[i - 3] * 100


# Device functions.


@cuda.jit(device=True)
def clamp(value, low, high):
    if value < low:
        return low
    if value > high:
        return high
    return value


@cuda.jit(device=True)
def divided(a, b):
    return a // b, a % b


@cuda.jit(device=True)
def first_multiple(start, factor):
    for k in range(start, start + 10):
        if k % factor == 0:
            return k
    return -1


@cuda.jit(device=True)
def store_twice(out, i, value):
    if value < 0:
        return
    out[i] = value
    out[i] = clamp(out[i] * 2, 1, 9)


@cuda.jit
def device_functions(x, out):
    i = cuda.grid(1)
    if i < out.size:
        quotient, rest = divided(x[i] * 7, 5)
        value = clamp(x[i], -2, 2)
        if value == x[i]:
            value = first_multiple(x[i], 4)
        out[i] = quotient * 1000 + rest * 100 + value


@cuda.jit
def device_function_that_stores(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = -7
        store_twice(out, i, x[i])


@cuda.jit
def device_function_in_a_while_test(x, out):
    i = cuda.grid(1)
    if i < out.size:
        k = 0
        while clamp(k, 0, 5) < 5:
            k += 1
            if k > x[i] % 4:
                break
        out[i] = k


@cuda.jit
def device_function_guarded(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = clamp(x[i], 0, 3) if x[i] != 1 else -clamp(i, 5, 6)
        if x[i] > 2 and first_multiple(x[i], 3) > 4:
            out[i] += 100


# Arithmetic of mixed types.


@cuda.jit
def mixed_arithmetic(y, out):
    i = cuda.grid(1)
    if i < out.size:
        a = y[i] * 0.1 + i
        b = y[i] * y[i] - float32(2.5)
        c = int32(a) / 3
        out[i] = a * b + c // 2 + math.sqrt(abs(b)) % 3


@cuda.jit
def conversions(y, out):
    i = cuda.grid(1)
    if i < out.size:
        big = y[i] * 1e18 * 100
        out[i] = cuda.int64(big) // 3 + cuda.int32(y[i] * 1e9) + cuda.uint8(i * 50)
        out[i] += np.int16(y[i] * 7) + min(3, i, i - 50) * max(y[i], 2.5)


@cuda.jit
def accumulate_in_float32(y, out):
    i = cuda.grid(1)
    total = float32(0)
    for k in range(y.size):
        total += y[k] * y[(k + i) % y.size]
    if i < out.size:
        out[i] = total


@cuda.jit
def accumulate_in_float64(y, out):
    i = cuda.grid(1)
    total = 0.0
    for k in range(y.size):
        total += y[k] * y[(k + i) % y.size]
    if i < out.size:
        out[i] = total


# Geometry.


@cuda.jit
def geometry_1d(out):
    i = cuda.grid(1)
    out[i, 0] = cuda.threadIdx.x + 1000 * cuda.blockIdx.x
    out[i, 1] = cuda.blockDim.x + 1000 * cuda.gridDim.x
    out[i, 2] = cuda.laneid + 1000 * cuda.warpsize
    out[i, 3] = cuda.gridsize(1) + cuda.threadIdx.y + cuda.blockIdx.z


@cuda.jit
def geometry_2d(out):
    i, j = cuda.grid(2)
    m, n = cuda.gridsize(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = cuda.threadIdx.y * 100 + cuda.blockIdx.x + m * n + cuda.laneid


@cuda.jit
def geometry_3d(out):
    x, y, z = cuda.grid(3)
    if x < out.shape[0] and y < out.shape[1] and z < out.shape[2]:
        linear = (cuda.blockIdx.z * cuda.gridDim.y + cuda.blockIdx.y) * cuda.gridDim.x
        out[x, y, z] = linear + cuda.blockIdx.x + cuda.laneid * 1000


@cuda.jit
def row_views(a, out):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        row = a[i]
        total = 0
        for k in range(len(row)):
            total += row[k] * a[i][j]
        out[i][j] = total + row[j - 1] + row.size


# Shared memory.


@cuda.jit
def tree_sum(x, out):
    part = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    width = 32
    while width > 0:
        if t < width:
            part[t] += part[t + width]
        cuda.syncthreads()
        width //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


@cuda.jit
def tiled_matmul(a, b, out):
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array(shape=(TILE, TILE), dtype=float32)
    j, i = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for start in range(0, a.shape[1], TILE):
        k = start + tx
        tile_a[ty, tx] = a[i, k] if i < a.shape[0] and k < a.shape[1] else float32(0)
        k = start + ty
        tile_b[ty, tx] = b[k, j] if k < b.shape[0] and j < b.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def reverse_in_block(x, out):
    part = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i >= x.size:
        return
    part[t] = x[i]
    cuda.syncthreads()
    other = x.size - cuda.blockIdx.x * 32 - 1
    last = min(31, other)
    out[i] = part[last - t]


@cuda.jit
def rows_of_shared_memory(x, out):
    part = cuda.shared.array((2, 32), int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[0][t] = x[i] if i < x.size else 0
    part[1][31 - t] = t
    cuda.syncthreads()
    if i < out.size:
        out[i] = part[t % 2][(t + 1) % 32] + part[1, t]


def _integers(seed=0):
    return np.random.default_rng(seed).integers(-8, 9, N).astype(np.int32)


def _floats(*shape):
    return np.random.default_rng(1).normal(0, 3, shape or N).astype(np.float32)


def _one_to_one(kernel, *more):
    return kernel, 4, 40, (_integers(), np.zeros(N, np.int64), *more)


ONE_TO_ONE = (
    if_elif_else, nested_if, assigned_in_one_branch, both_branches_assign, for_uniform,
    for_bound_of_each_lane, for_negative_steps, bounds_are_evaluated_once,
    while_of_each_lane, while_true_with_break, break_leaves_the_loop,
    continue_before_and_after, carried_past_continue, continue_in_while, for_else,
    for_else_of_each_lane, while_else, else_of_the_inner_loop_continues_the_outer,
    else_of_the_inner_loop_breaks_the_outer,
    else_of_the_inner_while_continues_the_outer, break_of_the_inner_loop,
    variables_of_inner_loops, loop_variable_afterwards, return_inside_loops,
    return_inside_while, early_return, return_before_pass, continue_before_pass,
    code_after_return, ternary_guards_a_load, and_guards_a_load, or_guards_a_load,
    chained_comparison, chained_comparison_guards_a_load, and_or_give_an_operand,
    and_or_give_a_loaded_operand, not_and_bools_as_numbers, tuples, swap, swap_elements,
    augmented, chained_and_annotated, negative_indices, device_functions,
    device_function_that_stores, device_function_guarded,
    device_function_in_a_while_test, grid_stride,
)  # fmt: skip

CASES = (
    *(_one_to_one(kernel) for kernel in ONE_TO_ONE),
    _one_to_one(uniform_branches, 5),
    _one_to_one(uniform_branches, 2),
    _one_to_one(parameters_are_variables, 3),
    (
        # As many lanes break as finish: masks are told apart by more than their count.
        else_of_a_loop_assigns_and_returns,
        1,
        32,
        (np.array([0, 1] * 16, np.int32), np.zeros(32, np.int32)),
    ),
    (grid_stride, 1, 33, (_integers(), np.zeros(N, np.int32))),
    (while_of_each_lane, 100, 1, (_integers(2), np.zeros(N, np.int32))),
    *(
        (kernel, 2, 64, (_floats(), np.zeros(N, dtype)))
        for kernel in (mixed_arithmetic, conversions)
        for dtype in (np.float32, np.float64, np.int32)
    ),
    (accumulate_in_float32, 1, 40, (_floats(30), np.zeros(40, np.float32))),
    (accumulate_in_float64, 1, 40, (_floats(30), np.zeros(40, np.float32))),
    (geometry_1d, 3, 40, (np.zeros((120, 4), np.int32),)),
    (geometry_2d, (3, 2), (5, 7), (np.zeros((14, 13), np.int32),)),
    (geometry_3d, (2, 2, 3), (3, 2, 5), (np.zeros((5, 4, 14), np.int16),)),
    (row_views, (2, 3), (4, 3), (_floats(7, 8), np.zeros((7, 8), np.float32))),
    (tree_sum, 5, 64, (np.arange(290, dtype=np.int32), np.zeros(5, np.int64))),
    (
        tiled_matmul,
        (2, 3),
        (TILE, TILE),
        (_floats(19, 13), _floats(13, 11), np.zeros((19, 11), np.float32)),
    ),
    (reverse_in_block, 4, 32, (_integers(), np.zeros(N, np.int64))),
    (rows_of_shared_memory, 4, 32, (_integers(), np.zeros(N, np.int64))),
)
