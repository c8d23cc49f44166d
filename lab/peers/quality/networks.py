"""What the neural networks of several libraries share: their inputs, batches and early stopping."""

import itertools

import numpy as np

from ndcg import ndcg

GRID = [
    dict(rate=rate, hidden=hidden, dropout=dropout, decay=decay)
    for rate, hidden, dropout, decay in itertools.product(
        (0.001, 0.003), ((64, 32), (128, 64)), (0.0, 0.3, 0.5), (0.0, 0.01)
    )
]
BATCH = 16  # queries
EPOCHS = 100
PATIENCE = 15


class Standardised:
    """sign(x)·log(1 + |x|), then the mean and standard deviation of the training documents 0 and 1."""

    def __init__(self, train):
        x = self.squash(train.features)
        self.mean, self.scale = x.mean(axis=0), x.std(axis=0)
        self.scale[self.scale < 1e-6] = 1

    def squash(self, x):
        return np.sign(x) * np.log1p(np.abs(x))

    def __call__(self, split):
        return ((self.squash(split.features) - self.mean) / self.scale).astype(np.float32)


def relevant(split):
    """The queries with a relevant document, from which alone a network learns."""
    return [q for q, (a, b) in enumerate(zip(split.offsets[:-1], split.offsets[1:])) if split.labels[a:b].any()]


def padded(split, features, random):
    """Batches in random order, of queries of similar sizes: features [BATCH, D, F], labels [BATCH, D], and
    where there is a document [BATCH, D]. D is a power of two, 32 or more."""
    sizes = split.sizes
    width = {q: max(32, 1 << int(sizes[q] - 1).bit_length()) for q in relevant(split)}
    batches = []
    for d in sorted(set(width.values())):
        queries = random.permutation([q for q in width if width[q] == d])
        batches += [(d, queries[i : i + BATCH]) for i in range(0, len(queries), BATCH)]
    for i in random.permutation(len(batches)):
        d, queries = batches[i]
        x = np.zeros((BATCH, d, features.shape[1]), np.float32)
        y, where = np.zeros((BATCH, d), np.float32), np.zeros((BATCH, d), bool)
        for row, q in enumerate(queries):
            a, n = split.offsets[q], sizes[q]
            x[row, :n], y[row, :n], where[row, :n] = features[a : a + n], split.labels[a : a + n], True
        yield x, y, where


def train(epoch, score, state, vali):
    """Runs epochs until validation NDCG@10 has not risen for PATIENCE of them; the best state.
    state() is a copy of the weights, score() the scores of the validation split."""
    best, kept, since = -1.0, None, 0
    for _ in range(EPOCHS):
        epoch()
        value = ndcg(score(), vali)
        since += 1
        if value > best:
            best, kept, since = value, state(), 0
        if since >= PATIENCE:
            break
    return kept
