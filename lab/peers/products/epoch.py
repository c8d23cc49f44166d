"""Times an epoch of the paper's recipe beside the bare network in PyTorch.

usage: epoch.py GO_BENCHMARK [ROUNDS]

GO_BENCHMARK is the program that `go test -c -o GO_BENCHMARK ./train` writes. It trains: it
packs a query, draws N rankings, computes the gradient of the loss by PL-Rank-RB, and takes
a step. PyTorch runs the network alone on one random matrix: forward, backward from a
gradient that is given, a step of SGD. Both see a query a step on one thread, in turns; the
shortest time of each counts.
"""

import re
import subprocess
import sys
import time

import torch
from torch import nn

# The training split of a fold of MSLR-WEB30K has 18,919 queries and 2.26 million documents.
QUERIES, DOCUMENTS, FEATURES, HIDDEN = 18919, 119, 136, 32


def pytorch(steps=500):
    torch.manual_seed(1)
    network = nn.Sequential(
        nn.Linear(FEATURES, HIDDEN), nn.Sigmoid(), nn.Linear(HIDDEN, HIDDEN), nn.Sigmoid(), nn.Linear(HIDDEN, 1)
    )
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    x, gradient = torch.rand(DOCUMENTS, FEATURES), torch.randn(DOCUMENTS, 1) / DOCUMENTS
    best = float("inf")
    for _ in range(4):
        start = time.perf_counter()
        for _ in range(steps):
            optimizer.zero_grad()
            network(x).backward(gradient)
            optimizer.step()
        best = min(best, (time.perf_counter() - start) / steps)
    return best * QUERIES


def plrank(program, best):
    command = [program, "-test.run", "^$", "-test.bench", "Epoch/paper/batch=1/", "-test.cpu", "1", "-test.benchtime", "1x", "-test.count", "6"]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for name, seconds in re.findall(r"batch=1/(\S+).*?([\d.]+) s/fold", out):
        best[name] = min(best.get(name, float("inf")), float(seconds))


torch.set_num_threads(1)
theirs, ours = float("inf"), {}
for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 3):
    theirs = min(theirs, pytorch())
    plrank(sys.argv[1], ours)
print(f"PyTorch {torch.__version__}, the bare network: {theirs:.2f} s an epoch")
for name, seconds in ours.items():
    print(f"plrank, {name}: {seconds:.2f} s, ratio {seconds / theirs:.2f}")
