"""Times a training step of plrank's list transformer beside the same network in PyTorch.

usage: step.py GO_BENCHMARK [ROUNDS]

GO_BENCHMARK is the program that `go test -c -o GO_BENCHMARK ./nn` writes. Both run on the
same 2 threads, in turns; the shortest time of each counts.
"""

import re
import subprocess
import sys
import time

import torch
from torch import nn
from torch.nn import functional

QUERIES, DOCUMENTS, FEATURES, WIDTH, HEADS = 32, 128, 136, 128, 4


class Network(nn.Module):
    """nn.Transformer with one hidden layer and one block, without dropout."""

    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(FEATURES, WIDTH)
        self.norm1, self.norm2, self.norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.merge = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.score = nn.Linear(WIDTH, 1)

    def forward(self, x):
        h = functional.relu(self.hidden(x))
        qkv = self.qkv(self.norm1(h)).view(QUERIES, DOCUMENTS, 3, HEADS, WIDTH // HEADS)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(q, k, v)
        h = h + self.merge(y.transpose(1, 2).reshape(QUERIES, DOCUMENTS, WIDTH))
        h = h + self.down(functional.relu(self.up(self.norm2(h))))
        return self.score(self.norm(h))


def pytorch(steps=10):
    torch.manual_seed(1)
    network, x = Network(), torch.randn(QUERIES, DOCUMENTS, FEATURES)
    best = float("inf")
    for _ in range(steps):
        network.zero_grad()
        start = time.perf_counter()
        network(x).square().sum().backward()
        best = min(best, time.perf_counter() - start)
    return 1e3 * best


def plrank(program, steps=10):
    best = float("inf")
    command = [program, "-test.run", "^$", "-test.bench", "TransformerStep", "-test.cpu", "2", "-test.benchtime", "3x", "-test.count", str(steps)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for ns in re.findall(r"([\d.]+) ns/op", out):
        best = min(best, float(ns) / 1e6)
    return best


torch.set_num_threads(2)
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
ours = theirs = float("inf")
for _ in range(rounds):
    theirs = min(theirs, pytorch())
    ours = min(ours, plrank(sys.argv[1]))
print(f"PyTorch {torch.__version__}: {theirs:.1f} ms, plrank: {ours:.1f} ms, ratio {ours / theirs:.2f}")
