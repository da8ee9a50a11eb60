#!/usr/bin/env python3
"""Training by tinygrad, which knows OpenCL and nothing of Heddle.

    python3 -m pip install "tinygrad>=0.14" numpy
    heddle exec -- python3 examples/tinygrad_train.py
    heddle exec --mode timing --report out -- python3 examples/tinygrad_train.py --only cnn --steps 1 --reference none

Forward and backward of a small transformer, then a few training steps of a small convolutional
network on pictures that are made here. All weights and data come from a fixed seed, so that the
numbers of two devices can be compared: the same runs again on tinygrad's CPU device (compiled by
clang), and the exit code is 1 if a loss, an output or a gradient differs by more than `--tolerance`
of the largest value in its array, or if training does not lower the loss. `--write FILE` keeps the
numbers and `--compare FILE` takes them from there: those of another OpenCL platform, for example.
"""

import argparse
import os
import shutil
import sys

os.environ.setdefault("DEV", "CL")
if "CC" not in os.environ and shutil.which("clang") is None and shutil.which("clang-19"):
    os.environ["CC"] = "clang-19"

try:
    import numpy as np
    from tinygrad import Context, Device, Tensor
    from tinygrad.nn.optim import SGD
except ImportError as error:
    sys.exit(f"error: {error}; `python3 -m pip install 'tinygrad>=0.14' numpy` installs both")

# The transformer: one block, with as many heads as give each eight channels.
VOCABULARY, WIDTH, HEADS, LENGTH, SEQUENCES = 29, 32, 4, 16, 2
# The pictures, and how many of them are in a step.
SIDE, CLASSES, BATCH = 12, 3, 16


class Weights:
    """Named tensors of fixed random numbers."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.tensors = {}

    def __call__(self, name, *shape, scale=None):
        fan_in = int(np.prod(shape[1:])) if len(shape) > 2 else shape[0]
        values = self.random.normal(0, fan_in**-0.5 if scale is None else scale, shape)
        self.tensors[name] = Tensor(values.astype(np.float32))
        return self.tensors[name]


def transformer():
    """Logits, loss and gradients of one step of a language model."""
    weights = Weights(1)
    tokens = np.random.default_rng(2).integers(0, VOCABULARY, (SEQUENCES, LENGTH + 1)).astype(np.int32)
    inputs, targets = Tensor(np.ascontiguousarray(tokens[:, :-1])), Tensor(np.ascontiguousarray(tokens[:, 1:]))

    x = weights("tokens", VOCABULARY, WIDTH, scale=1.0)[inputs] + weights("positions", LENGTH, WIDTH, scale=0.3)
    heads = []
    normal = x.layernorm()
    for name in ["query", "key", "value"]:
        projected = normal @ weights(name, WIDTH, WIDTH)
        heads.append(projected.reshape(SEQUENCES, LENGTH, HEADS, WIDTH // HEADS).transpose(1, 2))
    attended = heads[0].scaled_dot_product_attention(heads[1], heads[2], is_causal=True)
    x = x + attended.transpose(1, 2).reshape(SEQUENCES, LENGTH, WIDTH) @ weights("output", WIDTH, WIDTH)
    hidden = (x.layernorm() @ weights("up", WIDTH, 4 * WIDTH)).gelu()
    x = x + hidden @ weights("down", 4 * WIDTH, WIDTH)
    logits = x.layernorm() @ weights("head", WIDTH, VOCABULARY)
    loss = logits.reshape(-1, VOCABULARY).sparse_categorical_crossentropy(targets.reshape(-1))
    loss.backward()
    numbers = {"transformer loss": loss.numpy(), "transformer logits": logits.numpy()}
    for name, tensor in weights.tensors.items():
        numbers[f"transformer gradient of {name}"] = tensor.grad.numpy()
    return numbers


def pictures(random):
    """A batch of noisy bars: upright, level and slanted ones, with their classes."""
    labels = random.integers(0, CLASSES, BATCH).astype(np.int32)
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    images = random.normal(0, 0.3, (BATCH, 1, SIDE, SIDE))
    for image, label, phase in zip(images, labels, random.integers(0, 4, BATCH)):
        image[0] += [x, y, x + y][label] + phase & 2
    return images.astype(np.float32), labels


def cnn(steps):
    """The losses of the training steps of a convolutional network, and its last weights."""
    weights, random = Weights(3), np.random.default_rng(4)
    first = weights("first", 8, 1, 3, 3)
    second = weights("second", 16, 8, 3, 3)
    side = SIDE // 4
    last = weights("last", 16 * side * side, CLASSES)
    optimizer = SGD(list(weights.tensors.values()), lr=0.05, momentum=0.9)
    losses = []
    with Context(TRAINING=1):
        for _ in range(steps):
            images, labels = pictures(random)
            x = Tensor(images).conv2d(first, padding=1).relu().max_pool2d()
            x = x.conv2d(second, padding=1).relu().max_pool2d()
            loss = (x.flatten(1) @ last).sparse_categorical_crossentropy(Tensor(labels))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    numbers = {"cnn losses": np.array(losses, np.float32)}
    for name, tensor in weights.tensors.items():
        numbers[f"cnn weights of {name}"] = tensor.numpy()
    return numbers


def compute(options):
    numbers = {}
    if options.only != "cnn":
        numbers |= transformer()
    if options.only != "transformer":
        numbers |= cnn(options.steps)
    return numbers


def compare(found, expected, tolerance):
    """Prints the largest difference of all arrays; returns whether none is too large."""
    worst, good = (0.0, "nothing"), True
    for name, values in found.items():
        if name not in expected or expected[name].shape != values.shape:
            print(f"error: the reference has no {name} of this shape", file=sys.stderr)
            good = False
            continue
        difference = np.abs(values.astype(np.float64) - expected[name]).max()
        relative = difference / max(np.abs(expected[name]).max(), 1e-30)
        worst = max(worst, (relative, name))
        # Written so that what is not a number is not good.
        if not relative <= tolerance:
            print(f"error: {name} differs by {relative:.2e} of its largest value", file=sys.stderr)
            good = False
    print(f"{len(found)} arrays compared; the largest difference is {worst[0]:.2e}, of {worst[1]}")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["transformer", "cnn"], help="one of the two networks")
    parser.add_argument("--steps", type=int, default=6, help="training steps of the convolutional network")
    parser.add_argument("--reference", default="CPU", help="tinygrad's device to compare with, or `none`")
    parser.add_argument("--tolerance", type=float, default=1e-4, help="allowed difference")
    parser.add_argument("--write", metavar="FILE", help="keep the numbers, as .npz")
    parser.add_argument("--compare", metavar="FILE", help="compare with numbers that were kept")
    options = parser.parse_args()
    if options.steps < 1:
        parser.error("--steps is at least 1")

    device = Device[Device.DEFAULT]
    print(f"{Device.DEFAULT}: {getattr(device, 'device_name', Device.DEFAULT)}")
    found = compute(options)
    if "transformer loss" in found:
        print(f"transformer: loss {float(found['transformer loss']):.6f}")
    if "cnn losses" in found:
        print("convolutional network: losses " + " ".join(f"{loss:.6f}" for loss in found["cnn losses"]))
    if options.write:
        np.savez(options.write, **found)
    good = True
    if options.compare:
        with np.load(options.compare) as file:
            good &= compare(found, dict(file), options.tolerance)
    if options.reference != "none":
        with Context(DEV=options.reference):
            good &= compare(found, compute(options), options.tolerance)
    losses = found.get("cnn losses", [])
    if len(losses) >= 6 and not losses[-1] < 0.8 * losses[0]:
        print("error: training did not lower the loss", file=sys.stderr)
        good = False
    print("right" if good else "wrong")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
