"""The position-based model fitted without plrank and without EM: the likelihood of the clicks of one file of
sessions is maximized in one parameter after another. The perplexity is of the second file.

    python3 clicks/sessions.py FIRST.dat.gz SECOND.dat.gz
"""
import collections
import gzip
import json
import math
import sys

RANKS = 10


def read(path):
    lines = (json.loads(line.split("\t")[2]) for line in gzip.open(path, "rt", encoding="utf8"))
    return {s["reqid"]: s for s in lines}


def count(sessions):
    """Results shown and clicked, by kind and rank from 0."""
    shown, clicked = collections.Counter(), collections.Counter()
    for s in sessions:
        for rank, kind in enumerate(zip(s["rel"][:RANKS], s["sntypes"])):
            shown[kind, rank] += 1
            clicked[kind, rank] += rank in s["clicks"]
    return shown, clicked


def best(pairs):
    """x in (0, 1) at which sum of c log(x y) + (n - c) log(1 - x y) over (y, n, c) is highest."""
    low, high = 0.0, 1.0
    for _ in range(50):
        x = (low + high) / 2
        if sum(c / x - (n - c) * y / (1 - x * y) for y, n, c in pairs) > 0:
            low = x
        else:
            high = x
    return low


first, second = read(sys.argv[1]), read(sys.argv[2])
both = first.keys() & second.keys()
shown, clicked = count(s for id, s in first.items() if id not in both)
theta, attraction = dict.fromkeys(range(RANKS), 0.5), {kind: 0.5 for kind, _ in shown}
for _ in range(200):
    for k in theta:
        theta[k] = best([(attraction[kind], n, clicked[kind, rank]) for (kind, rank), n in shown.items() if rank == k])
    for a in attraction:
        attraction[a] = best([(theta[rank], n, clicked[kind, rank]) for (kind, rank), n in shown.items() if kind == a])

shown, clicked = count(s for id, s in second.items() if id not in both)
bits, total = collections.Counter(), collections.Counter()
for (kind, rank), n in shown.items():
    p = min(1 - 1e-9, max(1e-9, theta[rank] * attraction.get(kind, 0)))
    bits[rank] -= clicked[kind, rank] * math.log2(p) + (n - clicked[kind, rank]) * math.log2(1 - p)
    total[rank] += n
perplexity = sum(2 ** (bits[k] / total[k]) for k in theta) / RANKS
print("maximum likelihood", *(f"{theta[k] / theta[0]:.3f}" for k in theta), f"{perplexity:.4f}", sep=",")
