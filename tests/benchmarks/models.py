"""The code that is measured: blocks as an author writes them, run with or without being recorded."""

from __future__ import annotations

from typing import Final

from sphinx_graphviz_autograd.tracing.record import Recorder

CHAIN: Final = """
import torch
w = torch.ones(2, requires_grad=True)
h = w
for step in range({nodes}):
    h = h + 1
loss = h.sum()
"""

SCALED: Final = """
import torch
w = torch.ones(2, requires_grad=True)
h = w
for step in range({nodes}):
    h = h * 1.5
loss = h.sum()
"""

RECURRENT: Final = """
import torch
cell = torch.nn.RNNCell(4, 4)
x = torch.randn(1, 4)
h = torch.zeros(1, 4)
for step in range({nodes} // 6):
    h = cell(x, h)
loss = h.sum()
"""

PERCEPTRON: Final = """
import torch
from torch import nn
net = nn.Sequential(*[part for _ in range({nodes} // 5) for part in (nn.Linear(4, 4), nn.ReLU())])
x = torch.randn(3, 4)
loss = net(x).sum()
"""

ENCODER: Final = """
import torch
layer = torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0)
net = torch.nn.TransformerEncoder(layer, max(1, {nodes} // 45), enable_nested_tensor=False)
x = torch.randn(5, 1, 16)
loss = net(x).sum()
"""

SHARED: Final = """
import torch
w_in, w_hidden, b = (torch.randn(*size, requires_grad=True) for size in ((3, 4), (4, 4), (4,)))
h = torch.zeros(1, 4)
for step in range({nodes}):
    h = torch.tanh(torch.ones(1, 3) @ w_in + h @ w_hidden + b)
loss = h.sum()
"""

RESNET: Final = """
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)
        self.relu = nn.ReLU()

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.relu(out + x)

class ResNet(nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.blocks = nn.ModuleList([Block(8) for _ in range(blocks)])
        self.fc = nn.Linear(8, 10)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.fc(x.mean((2, 3)))

net = ResNet(16)
loss = nn.functional.cross_entropy(net(torch.randn(2, 3, 8, 8)), torch.tensor([1, 2]))
"""

TRANSFORMER: Final = """
import torch
layer = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
encoder = torch.nn.TransformerEncoder(layer, 12, enable_nested_tensor=False)
loss = encoder(torch.randn(2, 7, 32)).mean()
"""

GPT: Final = """
import torch
from torch import nn

class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        q, k, v = self.c_attn(x).split(x.shape[-1], dim=-1)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (q, k, v))
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).flatten(-2))

class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln_1, self.attn, self.ln_2 = nn.LayerNorm(width), Attention(width, heads), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))

class GPT(nn.Module):
    def __init__(self, layers=12, width=32, heads=4, words=50, context=16):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(words, width), nn.Embedding(context, width)
        self.h = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(width)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1]))
        for block in self.h:
            x = block(x)
        return self.ln_f(x) @ self.wte.weight.T

gpt = GPT()
tokens = torch.randint(50, (2, 16))
loss = nn.functional.cross_entropy(gpt(tokens)[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
"""


def run(code: str, recorder: Recorder | None = None) -> dict[str, object]:
    """Run a block, recorded if there is a recorder, and return its variables."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    compiled = compile(code, "<block 0>", "exec")
    if recorder is None:
        exec(compiled, namespace)  # noqa: S102 - the code stands above
        return namespace
    recorder.add_block("<block 0>", 0, code)
    with recorder:
        exec(compiled, namespace)  # noqa: S102 - likewise
    return namespace


def recorded(code: str) -> tuple[dict[str, object], Recorder]:
    """Run a block while recording it, and return its variables and the recording."""
    recorder = Recorder()
    return run(code, recorder), recorder
