"""Generation A's losses; written for these tests."""

import numpy as np
from standin_a.core.tensor import Tensor


class _Loss:
    def __call__(self, predictions, targets):
        return self.forward(predictions, targets)


class MSELoss(_Loss):
    def forward(self, predictions, targets):
        return Tensor(np.mean((predictions.data - targets.data) ** 2))


class BinaryCrossEntropyLoss(_Loss):
    def forward(self, predictions, targets):
        p, y = np.clip(predictions.data, 1e-7, 1 - 1e-7), targets.data
        return Tensor(-np.mean(y * np.log(p) + (1 - y) * np.log(1 - p)))


class CrossEntropyLoss(_Loss):
    def forward(self, logits, targets):
        x = logits.data - np.max(logits.data, axis=1, keepdims=True)
        x = x - np.log(np.sum(np.exp(x), axis=1, keepdims=True))
        rows = np.arange(len(x))
        return Tensor(-np.mean(x[rows, targets.data.astype(int)]))
