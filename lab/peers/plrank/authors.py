"""Repeats what the program ours wrote with the code of a repository of the authors. run.py calls it.

authors.py estimates|training WORK COPY YEAR
"""

import json
import pathlib
import sys
import warnings

import numpy as np

warnings.filterwarnings("ignore", category=DeprecationWarning)  # np.bool in the authors' code

ESTIMATORS = {"plrank1": ["PL_rank_1"], "plrank2": ["PL_rank_2", "PL_rank_3"]}


def discounts(k):
    return 1 / np.log2(np.arange(2, k + 2))


def estimates(arrays, queries, code, year):
    """The largest difference of any λ, as a part of the highest gain times the sum of discounts."""
    print("code,function,ours,documents,cutoff,samples,spread,difference")
    for i, q in enumerate(queries):
        scores, gains = arrays[f"scores-{i}"], arrays[f"gains-{i}"]
        rankings = arrays[f"rankings-{i}"].astype(int)
        k = min(q["cutoff"], q["documents"])
        for ours, functions in ESTIMATORS.items():
            for name in functions:
                if not hasattr(code, name):
                    continue
                # PL-Rank-3 wants rankings of all documents, the others of the first K.
                given = rankings if name == "PL_rank_3" else rankings[:, :k]
                theirs = getattr(code, name)(discounts(k), gains, scores, sampled_rankings=given)
                off = np.abs(theirs - arrays[f"{ours}-{i}"]).max() / (max(gains.max(), 1) * discounts(k).sum())
                print(f"{year},{name},{ours},{q['documents']},{q['cutoff']},{q['samples']},{q['spread']},{off:.3g}")


class Network:
    """The paper's network: sigmoid layers and a linear one, by NumPy."""

    def __init__(self, weights):
        self.weights = [(w.copy(), b.copy()) for w, b in weights]

    def scores(self, x):
        self.layers = [x]
        for w, b in self.weights[:-1]:
            x = 1 / (1 + np.exp(-(x @ w + b)))
            self.layers.append(x)
        w, b = self.weights[-1]
        return x @ w + b[0]

    def step(self, gradient, rate):
        """Goes by rate up the gradient of the scores, after scores."""
        w, b = self.weights[-1]
        delta = np.outer(gradient, w)
        changes = [(self.layers[-1].T @ gradient, np.array([gradient.sum()]))]
        for (lower, _), x, below in zip(self.weights[-2::-1], self.layers[:0:-1], self.layers[-2::-1]):
            delta = delta * x * (1 - x)
            changes.append((below.T @ delta, delta.sum(axis=0)))
            delta = delta @ lower.T
        self.weights = [(w + rate * dw, b + rate * db) for (w, b), (dw, db) in zip(self.weights, reversed(changes))]


def dcg(scores, gains, offsets, k):
    total = 0.0
    for a, z in zip(offsets[:-1], offsets[1:]):
        best = np.argsort(-scores[a:z], kind="stable")[:k]
        total += gains[a:z][best] @ discounts(len(best))
    return total / (len(offsets) - 1)


def training(arrays, chosen, code, year):
    """The same run on the same noise, epoch by epoch; then runs by the authors' sampler beside those of
    our trainer, by seed."""
    k, n, rate = chosen["cutoff"], chosen["samples"], chosen["rate"]
    estimator = getattr(code, "PL_rank_3" if hasattr(code, "PL_rank_3") else "PL_rank_2")
    names = range(len(chosen["hidden"]) + 1)
    weights = [(arrays[f"w{i}"], arrays[f"b{i}"]) for i in names]
    x, gains, offsets = (arrays["train-" + name] for name in ("features", "gains", "offsets"))
    tests, test_gains, test_offsets = (arrays["test-" + name] for name in ("features", "gains", "offsets"))
    offsets, test_offsets, order = offsets.astype(int), test_offsets.astype(int), arrays["order"].astype(int)
    queries = len(offsets) - 1

    def epochs(network, order, rankings):
        for at, q in enumerate(order):
            a, z = offsets[q], offsets[q + 1]
            scores = network.scores(x[a:z])
            how = rankings(scores)
            network.step(estimator(discounts(min(k, z - a)), gains[a:z], scores, **how), rate)
            if (at + 1) % queries == 0:
                yield (at + 1) // queries, network.scores(tests)

    used = 0

    def by_noise(scores):
        nonlocal used
        noise = arrays["noise"][used : used + n * len(scores)].reshape(n, -1)
        used += noise.size
        full = np.argsort(-(scores + noise), axis=1)
        return dict(sampled_rankings=full if estimator.__name__ == "PL_rank_3" else full[:, :k])

    print("code,run,epoch,ours,authors,difference")
    for epoch, scores in epochs(Network(weights), order, by_noise):
        ours = arrays["scores"][epoch - 1]
        both = (dcg(s, test_gains, test_offsets, k) for s in (ours, scores))
        print(f"{year},same noise,{epoch},{','.join(f'{v:.7g}' for v in both)},{np.abs(ours - scores).max():.3g}")
    for seed in range(1, chosen["seeds"] + 1):
        np.random.seed(seed)  # the authors' sampler draws from NumPy's own generator
        fresh = []
        for w, b in weights:
            bound = np.sqrt(6 / (w.shape[0] + (w.shape[1] if w.ndim > 1 else 1)))
            fresh.append((np.random.uniform(-bound, bound, w.shape), np.zeros_like(b)))
        shuffled = np.concatenate([np.random.permutation(queries) for _ in range(chosen["epochs"])])
        *_, (_, scores) = epochs(Network(fresh), shuffled, lambda scores: dict(n_samples=n))
        ours = arrays["final"][seed - 1]
        theirs = dcg(scores, test_gains, test_offsets, k)
        print(f"{year},seed {seed},{chosen['epochs']},{ours:.7g},{theirs:.7g},")


if __name__ == "__main__":
    what, work, copy, year = sys.argv[1:]
    sys.path.insert(0, copy)
    from algorithms import PLRank

    file = np.load(pathlib.Path(work) / f"{what}.npz")
    {"estimates": estimates, "training": training}[what](
        file, json.loads(bytes(file["header"])), PLRank, year)  # fmt: skip
