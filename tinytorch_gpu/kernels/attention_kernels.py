"""Attention in one kernel: softmax(q kᵀ scale) v without writing q kᵀ to memory.

Decomposed, the scores (queries × keys) are stored and loaded again by each step: scale,
mask, softmax, product. Here a block takes one query; the scores of its keys stay in
shared memory, so global memory sees q, k, v and the result only. That is the idea of
"FlashAttention" (Dao et al., 2022) without its tiles over keys: hence at most KEYS
keys.
"""

# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN201
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

import math

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32
from tinytorch_gpu.kernels.block_sums import block_max, block_sum

__all__ = ["KEYS", "THREADS", "attention_fused"]

KEYS = 1024  # scores of one query: 4 KiB of shared memory
LOWEST = float32(-math.inf)
THREADS = 128  # most threads of a block, and length of the cache for sums


@cuda.jit
def attention_fused(q, k, v, mask, scale, out):
    """Store one row of out (B, Lq, dv); q (B, Lq, d), k (B, Lk, d), v (B, Lk, dv)."""
    scores = cuda.shared.array(KEYS, float32)
    cache = cuda.shared.array(THREADS, float32)
    matrix = cuda.blockIdx.x // q.shape[1]
    row = cuda.blockIdx.x % q.shape[1]
    tid = cuda.threadIdx.x
    top = LOWEST
    for key in range(tid, k.shape[1], cuda.blockDim.x):
        score = float32(0.0)
        for c in range(q.shape[2]):
            score += q[matrix, row, c] * k[matrix, key, c]
        score *= scale
        score = score if mask[matrix, row, key] else LOWEST  # a select, no branch
        scores[key] = score
        top = max(top, score)
    top = block_max(cache, top)
    total = float32(0.0)
    for key in range(tid, k.shape[1], cuda.blockDim.x):
        # A query whose keys are all masked has top -inf: its weights are 0, not NaN.
        score = scores[key]
        weight = math.exp(score - top)
        weight = weight if score > LOWEST else float32(0.0)
        scores[key] = weight
        total += weight
    total = block_sum(cache, total)  # its barriers also complete the scores
    for c in range(tid, v.shape[2], cuda.blockDim.x):
        mixed = float32(0.0)
        for key in range(k.shape[1]):
            mixed += scores[key] * v[matrix, key, c]
        mean = mixed / total
        out[matrix, row, c] = mean if total > float32(0.0) else float32(0.0)
