"""Training: learning-rate schedule, gradient clipping, and the `Trainer` loop."""

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np

from tinytorch_gpu.tinytorch.autograd import no_grad
from tinytorch_gpu.tinytorch.layers import takes_training
from tinytorch_gpu.tinytorch.tensor import Tensor

__all__ = ["CosineSchedule", "Trainer", "clip_grad_norm", "on_host"]

COUNTERS = ("epoch", "step", "history")


class CosineSchedule:
    """A learning rate that falls along half a cosine.

    Args:
        max_lr: of epoch 0.
        min_lr: of epoch `total_epochs` and later.
        total_epochs: how long it falls.

    Example:
        >>> round(CosineSchedule(1.0, 0.0, 10).get_lr(5), 6)
        0.5
    """

    def __init__(
        self, max_lr: float = 0.1, min_lr: float = 0.01, total_epochs: int = 100
    ) -> None:
        self.max_lr, self.min_lr, self.total_epochs = max_lr, min_lr, total_epochs

    def get_lr(self, epoch: int) -> float:
        """Return the learning rate of an epoch."""
        part = min(epoch / self.total_epochs, 1.0)
        share = (1.0 + math.cos(math.pi * part)) / 2
        return self.min_lr + (self.max_lr - self.min_lr) * share


def clip_grad_norm(parameters: Any, max_norm: float = 1.0) -> float:
    """Scale all gradients by one factor so that their common norm is at most max_norm.

    Returns:
        The norm before: sqrt of the sum of all squares; 0 without gradients.

    Example:
        >>> param = Tensor([0.0, 0.0])
        >>> param.grad = np.array([3.0, 4.0])
        >>> clip_grad_norm([param]), param.grad
        (5.0, array([0.6, 0.8]))
    """
    params = [param for param in parameters if param.grad is not None]
    grads = [p.grad.data if isinstance(p.grad, Tensor) else p.grad for p in params]
    norm = math.sqrt(float(sum(np.sum(grad * grad) for grad in grads)))
    if norm > max_norm:
        for param, grad in zip(params, grads, strict=True):
            param.grad = grad * (max_norm / norm)
    return norm


class Trainer:
    """The usual loop: batches, loss, backward, clipping, step, schedule, history.

    Args:
        model: a layer; its parameters are set to require gradients.
        optimizer: of the model's parameters.
        loss_fn: called with output and targets.
        scheduler: has `get_lr(epoch)`; None keeps the optimizer's rate.
        grad_clip_norm: as in `clip_grad_norm`; None does not clip.
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
        keys = ("train_loss", "eval_loss", "learning_rates")
        self.history: dict[str, list[float]] = {key: [] for key in keys}
        for param in model.parameters():
            param.requires_grad = True

    def train_epoch(self, dataloader: Any, accumulation_steps: int = 1) -> float:
        """Train on every batch once; return the mean loss of a sample.

        Args:
            dataloader: gives (inputs, targets).
            accumulation_steps: batches whose mean gradient makes one step.
        """
        if self.scheduler is not None:
            self.optimizer.lr = self.scheduler.get_lr(self.epoch)
        self.history["learning_rates"].append(self.optimizer.lr)
        total, samples, waiting = 0.0, 0, 0
        for inputs, targets in dataloader:
            loss = self.loss_fn(self._run(inputs, training=True), targets)
            loss.backward()
            total += float(loss.data) * inputs.shape[0]
            samples, waiting = samples + inputs.shape[0], waiting + 1
            if waiting == accumulation_steps:
                self._update(waiting)
                waiting = 0
        if waiting:
            self._update(waiting)
        self.epoch += 1
        return self._noted("train_loss", total, samples)

    def evaluate(self, dataloader: Any) -> tuple[float, float]:
        """Return mean loss and accuracy (0 to 1) of the samples, without gradients.

        A row's class is its largest score; of a single score, whether it is above 0.5.
        """
        total, right, samples = 0.0, 0.0, 0
        with no_grad():
            for inputs, targets in dataloader:
                output, rows = self._run(inputs, training=False), inputs.shape[0]
                total += float(self.loss_fn(output, targets).data) * rows
                right += _accuracy(on_host(output), on_host(targets)) * rows
                samples += rows
        return self._noted("eval_loss", total, samples), right / max(1, samples)

    def save_checkpoint(self, path: str | Path) -> None:
        """Write parameters, optimizer state, counters and history to a file."""
        params = enumerate(self.model.parameters())
        state = {"params": {i: param.data.copy() for i, param in params}}
        state |= {key: getattr(self, key) for key in COUNTERS}
        state["optimizer"] = {
            key: value for key, value in vars(self.optimizer).items() if key != "params"
        }
        Path(path).write_bytes(pickle.dumps(state))

    def load_checkpoint(self, path: str | Path) -> None:
        """Take over what `save_checkpoint` wrote.

        A pickle can run code: load only files that you trust.

        Raises:
            ValueError: the file's parameters have other shapes than the model's.
        """
        state = pickle.loads(Path(path).read_bytes())  # noqa: S301  (said above)
        params, saved = self.model.parameters(), state["params"]
        shapes = [p.shape for p in params], [a.shape for a in saved.values()]
        if shapes[0] != shapes[1]:
            raise ValueError(f"shape mismatch: model {shapes[0]}, {path} {shapes[1]}")
        for i, param in enumerate(params):
            param.data = saved[i].copy()
        vars(self.optimizer).update(state["optimizer"])
        vars(self).update({key: state[key] for key in COUNTERS})

    def _run(self, inputs: Any, *, training: bool) -> Any:
        """Run the model, telling it whether it trains if it asks."""
        self.training_mode = training
        if takes_training(self.model):
            return self.model(inputs, training=training)
        return self.model(inputs)

    def _update(self, batches: int) -> None:
        """Average the gradients that came together, clip them, step."""
        params = self.model.parameters()
        for param in params if batches > 1 else ():
            if param.grad is not None:
                param.grad = param.grad / batches
        if self.grad_clip_norm is not None:
            clip_grad_norm(params, self.grad_clip_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.step += 1

    def _noted(self, key: str, total: float, samples: int) -> float:
        """Add a mean to the history."""
        self.history[key].append(total / max(1, samples))
        return self.history[key][-1]


def on_host(tensor: Any) -> Any:
    """Return a tensor's array for the host to read: of `.cpu()`, if it has that."""
    return tensor.cpu().data if hasattr(tensor, "cpu") else tensor.data


def _accuracy(scores: Any, targets: Any) -> float:
    """Return the share of rows whose class is the target's."""
    if scores.ndim > 1 and scores.shape[-1] > 1:
        is_one_hot = targets.ndim == scores.ndim
        wanted = np.argmax(targets, axis=-1) if is_one_hot else targets
        return float(np.mean(np.argmax(scores, axis=-1) == wanted))
    return float(np.mean((scores.ravel() > 0.5) == (targets.ravel() > 0.5)))
