"""NDCG for picking settings and stopping early. The published figures are not from here."""

import numpy as np


def ndcg(scores, split, k=10):
    """Mean NDCG@k over the queries with a relevant document: gain 2^label − 1, discount
    1/log2(rank + 1), and the expected value where scores are equal."""
    discounts = 1 / np.log2(np.arange(2, k + 2))
    total, queries = 0.0, 0
    for a, b in zip(split.offsets[:-1], split.offsets[1:]):
        gains = np.exp2(split.labels[a:b]) - 1
        if not gains.any():
            continue
        ideal = np.sort(gains)[::-1][:k]
        _, block, count = np.unique(-scores[a:b], return_inverse=True, return_counts=True)
        mean = np.bincount(block, gains) / count
        got = np.repeat(mean, count)[:k]
        total += got @ discounts[: len(got)] / (ideal @ discounts[: len(ideal)])
        queries += 1
    return total / queries
