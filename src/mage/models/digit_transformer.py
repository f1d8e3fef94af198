"""A small vision transformer for digits: 28 × 28 pixels as 49 patches of 4 × 4."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from mage.models.checkpoints import restore
from mage.models.zoo import zoo_folder

CHECKPOINT = "mnist_vit"
SIDE = 28


class _Block(nn.Module):
    """Attention among patches, then two linear layers for each, both added to what comes in."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(width)
        self.queries_keys_values = nn.Linear(width, 3 * width)
        self.mix = nn.Linear(width, width)
        self.hidden_norm = nn.LayerNorm(width)
        self.hidden = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        """Patches [b, p, width] after attention among them."""
        batch, patches, width = x.shape
        parts = self.queries_keys_values(self.attention_norm(x)).view(batch, patches, 3, self.heads, -1)
        queries, keys, values = parts.permute(2, 0, 3, 1, 4)
        attended = nn.functional.scaled_dot_product_attention(queries, keys, values)
        x = x + self.mix(attended.transpose(1, 2).reshape(batch, patches, width))
        return torch.add(x, self.hidden(self.hidden_norm(x)))


class DigitTransformer(nn.Module):
    """A vision transformer after Dosovitskiy et al. (ICLR 2021), with learnt positions and the mean over patches.

    Args:
        width: Width of a patch's features.
        depth: Number of blocks.
        heads: Heads of attention in each block.
        patch: Side of a patch in pixels.
        num_classes: Number of logits.
    """

    def __init__(self, width: int = 48, depth: int = 3, heads: int = 4, patch: int = 4, num_classes: int = 10) -> None:
        super().__init__()
        self.architecture: dict[str, Any] = {
            "kind": "vit",
            "width": width,
            "depth": depth,
            "heads": heads,
            "patch": patch,
            "num_classes": num_classes,
        }
        self.embed = nn.Conv2d(1, width, patch, stride=patch)
        self.positions = nn.Parameter(0.02 * torch.randn(1, (SIDE // patch) ** 2, width))
        self.blocks = nn.Sequential(*(_Block(width, heads) for _ in range(depth)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, num_classes)

    def forward(self, images: Tensor) -> Tensor:
        """Logits [b, classes] of images [b, 1, 28, 28] whose ink is 1 and whose paper is 0."""
        if images.shape[1:] != (1, SIDE, SIDE):
            raise ValueError(f"images must have shape [b, 1, {SIDE}, {SIDE}], got {list(images.shape)}")
        patches = self.embed(images).flatten(2).transpose(1, 2)
        logits: Tensor = self.head(self.norm(self.blocks(patches + self.positions)).mean(dim=1))
        return logits


def load_digit_transformer() -> DigitTransformer:
    """The transformer that ships with the library, trained on MNIST by ``python -m mage.models.digit_training``."""
    model, _ = restore(zoo_folder() / "images" / CHECKPOINT, _make)
    return model


def _make(architecture: dict[str, Any]) -> DigitTransformer:
    return DigitTransformer(**{name: value for name, value in architecture.items() if name != "kind"})
