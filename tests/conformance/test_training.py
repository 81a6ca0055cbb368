"""DataLoader, Trainer, evaluation, checkpoints and no_grad, on simgpu as on the CPU."""

import copy

import numpy as np
import pytest

from tests.conformance.package import host, same
from tinytorch_gpu.integration import move_model

RNG = np.random.default_rng(13)
X = RNG.normal(size=(12, 4)).astype(np.float32)
LABELS = (X[:, 0] > 0).astype(np.float32)


class Batches:
    """A DataLoader whose batches are moved, as a training loop moves them."""

    def __init__(self, loader, device):
        self.loader, self.device = loader, device

    def __iter__(self):
        return (tuple(t.to(self.device) for t in batch) for batch in self.loader)

    def __len__(self):
        return len(self.loader)


def model_of(package):
    """Make a two-layer classifier as the learner's modules have it."""
    linear, relu = package.get("Linear"), package.get("ReLU")
    base = package.get("Layer")

    class Model(base):
        def __init__(self):
            self.first, self.relu, self.last = linear(4, 8), relu(), linear(8, 2)

        def forward(self, x, training=True):
            return self.last.forward(self.relu.forward(self.first.forward(x)))

        def __call__(self, x, training=True):
            return self.forward(x)

        def parameters(self):
            return self.first.parameters() + self.last.parameters()

    model = Model()
    for parameter in model.parameters():
        parameter.requires_grad, parameter.grad = True, None
    return model


def trainer_of(package, model, device):
    """Make a Trainer of a copy of the model on a device, and its batches."""
    model = move_model(copy.deepcopy(model), device)
    optimizer = package.get("SGD")(model.parameters(), lr=0.2, momentum=0.9)
    loss = package.get("CrossEntropyLoss")()
    trainer = package.get("Trainer")(model, optimizer, loss, grad_clip_norm=1.0)
    data = package.get("TensorDataset")(package.plain(X), package.plain(LABELS))
    return trainer, Batches(package.get("DataLoader")(data, 4), device)


def test_trainer_and_evaluation(package):
    told, model = {}, model_of(package)
    for device in ("cpu", "simgpu"):
        trainer, batches = trainer_of(package, model, device)
        losses = [float(trainer.train_epoch(batches)) for _ in range(3)]
        loss, accuracy = trainer.evaluate(batches)
        told[device] = [*losses, float(loss), float(accuracy)]
    same(told["simgpu"], told["cpu"])
    assert told["simgpu"][2] < told["simgpu"][0]


@pytest.mark.parametrize(("saved", "loaded"), [("simgpu", "cpu"), ("cpu", "simgpu")])
def test_a_checkpoint_is_loaded_on_the_other_device(package, saved, loaded, tmp_path):
    path = str(tmp_path / "model.pkl")
    model = model_of(package)
    trainer, batches = trainer_of(package, model, saved)
    trainer.train_epoch(batches)
    trainer.save_checkpoint(path)
    other, _ = trainer_of(package, model, loaded)
    other.load_checkpoint(path)
    pairs = zip(other.model.parameters(), trainer.model.parameters(), strict=True)
    for mine, theirs in pairs:
        assert mine.device == {"simgpu": "simgpu:0"}.get(loaded, "cpu")
        same(host(mine), host(theirs))


def test_training_goes_on_after_a_checkpoint_of_the_other_device(package, tmp_path):
    path = str(tmp_path / "model.pkl")
    model = model_of(package)
    trainer, batches = trainer_of(package, model, "simgpu")
    trainer.train_epoch(batches)
    trainer.save_checkpoint(path)
    expected = float(trainer.train_epoch(batches))
    other, host_batches = trainer_of(package, model, "cpu")
    other.load_checkpoint(path)
    same(float(other.train_epoch(host_batches)), expected)


def test_no_grad_records_nothing_on_the_device(package):
    x = package.leaf(X, "simgpu")
    with package.get("no_grad")():
        out = package.get("Sigmoid")()(
            x.matmul(package.plain(np.ones((4, 2)), "simgpu"))
        )
    assert not out.requires_grad
    assert out.device == "simgpu:0"


def test_a_batch_of_a_loader_is_on_the_host(package):
    data = package.get("TensorDataset")(package.plain(X), package.plain(LABELS))
    x, y = next(iter(package.get("DataLoader")(data, 4)))
    assert (x.device, y.device) == ("cpu", "cpu")
