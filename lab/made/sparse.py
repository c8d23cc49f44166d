"""Writes a made collection of sparse documents, ids (20,000 features, 30 of them a document) or a bag of words (5,000, 80): sums of
features, pairs of the 200 most frequent ones, and noise.

    python made/sparse.py ids|bag SEED    writes the folder ids-SEED or bag-SEED here
"""

import pathlib
import sys

import numpy as np


def make(kind, seed):
    rng = np.random.default_rng(seed * 100 + (kind == "bag"))
    width, per, informative, fall = (20_000, 30, 0.2, 0.8) if kind == "ids" else (5_000, 80, 0.1, 1.0)
    weights = rng.standard_normal(width) * (rng.random(width) < informative)
    frequency = 1 / (np.arange(width) + 20.0) ** fall
    frequency /= frequency.sum()
    rng.permutation(width)
    pairs, of_pairs = rng.integers(0, 200, (300, 2)), rng.standard_normal(300) * 2
    folder = pathlib.Path(f"{kind}-{seed}")
    folder.mkdir(exist_ok=True)
    for split, first, queries in (("train", 0, 1000), ("vali", 1000, 300), ("test", 1300, 300)):
        with open(folder / f"{split}.txt", "w") as file:
            for query in range(first, first + queries):
                rng.integers(0, 50)
                for _ in range(20):
                    ids = np.unique(rng.choice(width, per, p=frequency))
                    values = np.ones(len(ids)) if kind == "ids" else rng.geometric(0.6, len(ids)).astype(float)
                    x = np.zeros(width)
                    x[ids] = np.log1p(values) / np.log(2)
                    score = (x * weights)[ids].sum()
                    top = x[:200] > 0
                    score += (of_pairs * (top[pairs[:, 0]] & top[pairs[:, 1]])).sum() * 0.7 + rng.standard_normal()
                    label = int(np.searchsorted([1.0, 2.5, 4.0, 6.0], score))
                    file.write(f"{label} qid:{query} " + " ".join(f"{i + 1}:{int(v)}" for i, v in zip(ids, values)) + "\n")


make(sys.argv[1], int(sys.argv[2]))
