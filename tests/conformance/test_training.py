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


OPTIMIZERS = {
    "SGD": {"lr": 0.2, "momentum": 0.9},
    "Adam": {"lr": 0.05},
    "AdamW": {"lr": 0.05, "weight_decay": 0.1},
}


def trainer_of(package, model, device, kind="SGD"):
    """Make a Trainer of a copy of the model on a device, and its batches."""
    model = move_model(copy.deepcopy(model), device)
    optimizer = package.get(kind)(model.parameters(), **OPTIMIZERS[kind])
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


@pytest.mark.parametrize("kind", OPTIMIZERS)
@pytest.mark.parametrize(("saved", "loaded"), [("simgpu", "cpu"), ("cpu", "simgpu")])
def test_training_goes_on_after_a_checkpoint_of_the_other_device(
    package, saved, loaded, kind, tmp_path
):
    path = str(tmp_path / "model.pkl")
    model = model_of(package)
    trainer, batches = trainer_of(package, model, saved, kind)
    trainer.train_epoch(batches)
    trainer.save_checkpoint(path)
    other, other_batches = trainer_of(package, model, loaded, kind)
    other.load_checkpoint(path)
    again, _ = trainer_of(package, model, saved, kind)
    again.load_checkpoint(path)
    expected = float(again.train_epoch(batches))  # a package may not keep all of it
    same(float(other.train_epoch(other_batches)), expected)


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_an_optimizer_takes_over_the_state_of_another(package, kind):
    told = {}
    for device in ("cpu", "simgpu"):
        leaf = package.leaf(X, device)
        for _ in range(2):
            optimizer = package.get(kind)([leaf], **OPTIMIZERS[kind])
            package.needs(optimizer, "get_momentum_state", "set_momentum_state")
            optimizer.set_momentum_state(told.get("state"))
            for _ in range(2):
                leaf.grad = None
                (leaf * leaf).sum().backward()
                optimizer.step()
            told["state"] = optimizer.get_momentum_state()
        told[device] = host(leaf)
        del told["state"]
    same(told["simgpu"], told["cpu"])


@pytest.mark.parametrize("steps", [1, 2])
def test_a_schedule_and_steps_of_several_batches(package, steps):
    sigmoid, loss = package.get("Sigmoid")(), package.get("BinaryCrossEntropyLoss")()
    package.seed()
    linear = package.get("Linear")(4, 1)
    for parameter in linear.parameters():
        parameter.requires_grad, parameter.grad = True, None

    class Model:
        def __init__(self, layer):
            self.layer = layer

        def forward(self, x):
            return sigmoid.forward(self.layer.forward(x))

        def parameters(self):
            return self.layer.parameters()

        __call__ = forward

    told = {}
    for device in ("cpu", "simgpu"):
        model = Model(move_model(copy.deepcopy(linear), device))
        optimizer = package.get("SGD")(model.parameters(), lr=0.2)
        schedule = package.get("CosineSchedule")(0.5, 0.1, 4)
        trainer = package.get("Trainer")(model, optimizer, loss, schedule, 0.5)
        data = package.plain(X, device), package.plain(LABELS[:, None], device)
        batches = [data, (data[0] * 0.5, data[1]), data]
        losses = [float(trainer.train_epoch(batches, steps)) for _ in range(3)]
        told[device] = [*losses, *map(float, trainer.evaluate(batches))]
    same(told["simgpu"], told["cpu"])


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


def test_a_loader_over_device_tensors_gives_device_batches(package):
    device = package.plain(X, "simgpu"), package.plain(LABELS, "simgpu")
    loader = package.get("DataLoader")(package.get("TensorDataset")(*device), 5)
    batches = list(loader)
    assert [x.shape for x, _ in batches] == [(5, 4), (5, 4), (2, 4)]
    assert {t.device for batch in batches for t in batch} == {"simgpu:0"}
    assert np.concatenate([host(x) for x, _ in batches]).tolist() == X.tolist()
    assert np.concatenate([host(y) for _, y in batches]).tolist() == LABELS.tolist()


@pytest.mark.parametrize("name", ["RandomHorizontalFlip", "RandomCrop"])
def test_a_transform_of_a_device_image(package, name):
    image = RNG.normal(size=(3, 6, 6)).astype(np.float32)
    transform = package.get(name)(1.0 if name == "RandomHorizontalFlip" else 4)
    told = {}
    for device in ("cpu", "simgpu"):
        package.seed(4)
        out = transform(package.plain(image, device))
        assert out.device == {"simgpu": "simgpu:0"}.get(device, "cpu")
        told[device] = host(out).tolist()
    assert told["simgpu"] == told["cpu"]
