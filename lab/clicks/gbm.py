"""LightGBM's position and XGBoost's lambdarank_unbiased on the logs that plrank learned from.

    pip install lightgbm==4.6.0 xgboost-cpu==3.2.0 numpy==2.4.6 scipy==1.17.1
    go run ./clicks cascade -data EXAMPLE -out LOGS > clicks/cascade.csv
    python3 clicks/gbm.py EXAMPLE LOGS >> clicks/cascade.csv

EXAMPLE is LightGBM's examples/lambdarank. Settings are those of LightGBM's own test of positions; XGBoost has as
many trees, and else its defaults. Every impression is a query, its clicks are labels.
"""

import pathlib
import sys

import lightgbm
import numpy as np
import xgboost

THREADS = 1


def read(path):
    """Labels, features by id and the sizes of queries."""
    lines = [line.split() for line in path.read_text().splitlines()]
    x = np.zeros((len(lines), 301), dtype=np.float32)
    for row, words in enumerate(lines):
        for word in words[1:]:
            feature, value = word.split(":")
            x[row, int(feature)] = float(value)
    labels = np.array([float(words[0]) for words in lines])
    return labels, x, [int(n) for n in (path.parent / (path.name + ".query")).read_text().split()]


def ndcg(labels, scores, sizes, cutoff=3):
    """The mean over the queries with a relevant document."""
    values, start = [], 0
    for n in sizes:
        gains = 2 ** labels[start : start + n] - 1
        order = np.argsort(-scores[start : start + n], kind="stable")
        start += n
        discounts = 1 / np.log2(np.arange(2, min(n, cutoff) + 2))
        best = np.sort(gains)[::-1][:cutoff] @ discounts
        if best > 0:
            values.append(gains[order][:cutoff] @ discounts / best)
    return np.mean(values)


def boost_lightgbm(x, clicks, sizes, ranks, seed, unbiased):
    params = {
        "objective": "lambdarank", "verbose": -1, "bagging_freq": 1, "bagging_fraction": 0.9, "min_data_in_leaf": 50,
        "min_sum_hessian_in_leaf": 5.0, "num_threads": THREADS, "deterministic": True, "seed": seed,
    }
    data = lightgbm.Dataset(x, clicks, group=sizes, position=ranks if unbiased else None, params=params)
    return lightgbm.train(params, data, num_boost_round=50).predict


def boost_xgboost(x, clicks, sizes, ranks, seed, unbiased):
    params = {"objective": "rank:ndcg", "lambdarank_unbiased": unbiased, "nthread": THREADS, "seed": seed}
    data = xgboost.DMatrix(x, clicks)
    data.set_group(sizes)  # rows come in the order shown, which XGBoost takes for the positions
    model = xgboost.train(params, data, num_boost_round=50)
    return lambda x: model.predict(xgboost.DMatrix(x))


def main():
    example, logs = map(pathlib.Path, sys.argv[1:3])
    _, x, _ = read(example / "rank.train")
    labels, x_test, test_sizes = read(example / "rank.test")
    for path in sorted(logs.glob("*-*.csv"), key=lambda p: [int(n) for n in p.stem.split("-")]):
        impressions, seed = map(int, path.stem.split("-"))
        impression, row, rank, click = np.loadtxt(path, delimiter=",", skiprows=1, dtype=int).T
        sizes = np.bincount(impression)
        for system, boost in [("LightGBM", boost_lightgbm), ("XGBoost", boost_xgboost)]:
            for method, unbiased in [("naive", False), ("unbiased", True)]:
                predict = boost(x[row], click, sizes, rank, seed, unbiased)
                print(f"{impressions},{seed},{system},{method},{ndcg(labels, predict(x_test), test_sizes):.4f}", flush=True)


main()
