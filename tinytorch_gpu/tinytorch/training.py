"""Training: learning-rate schedule, gradient clipping, and the `Trainer` loop."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np

from tinytorch_gpu.tinytorch.autograd import no_grad

__all__ = ["CosineSchedule", "Trainer", "clip_grad_norm"]


class CosineSchedule:
    """From `max_lr` down to `min_lr` along half a cosine.

    Example:
        >>> CosineSchedule(1.0, 0.0, 10).get_lr(5)
        0.5
    """

    def __init__(
        self, max_lr: float = 0.1, min_lr: float = 0.01, total_epochs: int = 100
    ) -> None:
        self.max_lr, self.min_lr, self.total_epochs = max_lr, min_lr, total_epochs

    def get_lr(self, epoch: int) -> float:
        """Return the learning rate of an epoch."""
        part = min(epoch / self.total_epochs, 1.0)
        swing = (self.max_lr - self.min_lr) * (1 + np.cos(np.pi * part)) / 2
        return round(float(self.min_lr + swing), 12)


def clip_grad_norm(parameters: Any, max_norm: float = 1.0) -> float:
    """Scale all gradients so that their common norm is at most `max_norm`.

    Returns:
        The norm before.
    """
    params = [p for p in parameters if p.grad is not None]
    norm = float(sum(float(np.sum(p.grad**2)) for p in params)) ** 0.5
    if norm > max_norm:
        for param in params:
            param.grad = param.grad * (max_norm / norm)
    return norm


class Trainer:
    """The usual loop over batches, with schedule, clipping and checkpoints.

    Args:
        model: a layer.
        optimizer: holds the model's parameters.
        loss_fn: called with output and targets.
        scheduler: has `get_lr(epoch)`, or None.
        grad_clip_norm: as in `clip_grad_norm`, or None.
    """

    def __init__(
        self,
        model: Any,
        optimizer: Any,
        loss_fn: Any,
        scheduler: Any = None,
        grad_clip_norm: float | None = None,
    ) -> None:
        self.model, self.optimizer, self.loss_fn = model, optimizer, loss_fn
        self.scheduler, self.grad_clip_norm = scheduler, grad_clip_norm
        self.epoch = self.step = 0
        self.training_mode = True
        names = ("train_loss", "eval_loss", "learning_rates")
        self.history: dict[str, list[float]] = {name: [] for name in names}
        for param in model.parameters():
            param.requires_grad = True

    def train_epoch(self, dataloader: Any, accumulation_steps: int = 1) -> float:
        """Train on every batch once; return the mean loss of the samples."""
        if self.scheduler is not None:
            self.optimizer.lr = self.scheduler.get_lr(self.epoch)
        self.training_mode = True
        total = samples = 0.0
        batches = list(dataloader)
        for number, (inputs, targets) in enumerate(batches, start=1):
            loss = self.loss_fn(self.model(inputs), targets)
            loss.backward()
            total += float(loss.data) * inputs.shape[0]
            samples += inputs.shape[0]
            if number % accumulation_steps == 0 or number == len(batches):
                self._update(number, accumulation_steps)
        self.epoch += 1
        self.history["train_loss"].append(total / max(1.0, samples))
        self.history["learning_rates"].append(self.optimizer.lr)
        return total / max(1.0, samples)

    def _update(self, number: int, accumulation_steps: int) -> None:
        """Average the accumulated gradients, clip them, step."""
        count = number % accumulation_steps or accumulation_steps
        for param in self.model.parameters() if count > 1 else ():
            if param.grad is not None:
                param.grad /= count
        if self.grad_clip_norm is not None:
            clip_grad_norm(self.model.parameters(), self.grad_clip_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.step += 1

    def evaluate(self, dataloader: Any) -> tuple[float, float]:
        """Return mean loss and accuracy, without gradients."""
        self.training_mode = False
        total = right = samples = 0.0
        with no_grad():
            for inputs, targets in dataloader:
                output = self.model(inputs)
                total += float(self.loss_fn(output, targets).data) * inputs.shape[0]
                samples += inputs.shape[0]
                scores, labels = _host(output), _host(targets)
                if scores.ndim == 2 and labels.ndim == 1:
                    right += int((np.argmax(scores, axis=1) == labels).sum())
        self.history["eval_loss"].append(total / max(1.0, samples))
        return total / max(1.0, samples), right / max(1.0, samples)

    def save_checkpoint(self, path: str) -> None:
        """Write parameters, counters and history to a file."""
        state = {
            "params": {i: _host(p).copy() for i, p in enumerate(self._params())},
            "epoch": self.epoch,
            "step": self.step,
            "history": self.history,
        }
        Path(path).write_bytes(pickle.dumps(state))

    def load_checkpoint(self, path: str) -> None:
        """Read a file that `save_checkpoint` wrote; pickles run code: trust the file."""
        state = pickle.loads(Path(path).read_bytes())  # noqa: S301  (the learner's own)
        for i, param in enumerate(self._params()):
            param.data = state["params"][i].copy()
        self.epoch, self.step = state["epoch"], state["step"]
        self.history = state["history"]

    def _params(self) -> list[Any]:
        return list(self.model.parameters())


def _host(tensor: Any) -> Any:
    """Return a tensor's data on the host, wherever it is."""
    return tensor.cpu().data if hasattr(tensor, "cpu") else tensor.data
