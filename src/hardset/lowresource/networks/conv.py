"""The paper's small convolutional nets: weak, biased predictors (arXiv 2303.03840, section 3)."""

from __future__ import annotations

from torch import Tensor, nn

from hardset.errors import UsageError
from hardset.lowresource.network import Network
from hardset.lowresource.networks.pictures import CIFAR, IMAGENET, Pictures


class ConvNet(nn.Module):
    """Two convolutions, each with ReLU and max-pooling, then three linear layers.

    Args:
        size: side of the square pictures, in pixels.
        kernel: side of both convolutions' kernels.
        pool: side, and stride, of both poolings.
        hidden: widths of the two hidden linear layers.
        outputs: classes, or 1 for real-valued labels.

    Raises:
        UsageError: nothing of the pictures is left after the poolings.
    """

    def __init__(
        self, size: int, kernel: int, pool: int, hidden: tuple[int, int], outputs: int
    ) -> None:
        super().__init__()
        given = size
        for _ in range(2):
            size = (size - kernel + 1) // pool
        if size < 1:
            raise UsageError(f"pictures of {given} pixels a side are too small for this conv net")
        self.conv1 = nn.Conv2d(3, 6, kernel)
        self.conv2 = nn.Conv2d(6, 16, kernel)
        self.pool = nn.MaxPool2d(pool)
        self.fc1 = nn.Linear(16 * size * size, hidden[0])
        self.fc2 = nn.Linear(hidden[0], hidden[1])
        self.fc3 = nn.Linear(hidden[1], outputs)

    def forward(self, inputs: Tensor) -> Tensor:
        """Return logits (batch, outputs) for pictures (batch, 3, size, size)."""
        inputs = self.pool(self.conv1(inputs).relu())
        inputs = self.pool(self.conv2(inputs).relu())
        inputs = self.fc1(inputs.flatten(1)).relu()
        logits: Tensor = self.fc3(self.fc2(inputs).relu())
        return logits


def ffn(outputs: int, size: int | None) -> Network:
    """Return the CIFAR net: conv 3-6 k5, conv 6-16 k5, linear 400-800-100-outputs at 32 pixels."""
    side = size or 32
    collate = Pictures((side, side), CIFAR)
    return Network(
        ConvNet(side, 5, 2, (800, 100), outputs), collate, "ffn", "conv", collate.facts()
    )


def ffn_imagenet(outputs: int, size: int | None) -> Network:
    """Return the ImageNet net: conv 3-6 k3, conv 6-16 k3, linear 2704-2000-1000-outputs at 224."""
    side = size or 224
    collate = Pictures((side, side), IMAGENET, centre=0.875)
    module = ConvNet(side, 3, 4, (2000, 1000), outputs)
    return Network(module, collate, "ffn-imagenet", "conv", collate.facts())
