"""The time to score one query: LightGBM, XGBoost and plrank's package ranker.

Usage: predict.py TRAIN RESULT
TRAIN is a LETOR file, RESULT the CSV file to write. See README.md.
"""

import csv
import subprocess
import sys
import tempfile
import time

import lightgbm
import numpy
import xgboost

TREES = 500
DOCUMENTS = (1, 10, 100, 1000)
ROUNDS = 5
SECONDS = 0.3  # of each measurement


def read(path):
    """The features, labels and query sizes of a LETOR file."""
    rows, labels, sizes, last = [], [], [], None
    with open(path) as lines:
        for line in lines:
            words = line.split("#")[0].split()
            values = dict(word.split(":") for word in words[2:])
            rows.append({int(i): float(v) for i, v in values.items()})
            labels.append(int(words[0]))
            if words[1] != last:
                sizes.append(0)
                last = words[1]
            sizes[-1] += 1
    x = numpy.zeros((len(rows), max(max(row) for row in rows)), numpy.float32)
    for i, row in enumerate(rows):
        for feature, value in row.items():
            x[i, feature - 1] = value
    return x, numpy.array(labels), sizes


def shortest(call):
    """The shortest time of a call, in microseconds."""
    best, end = float("inf"), time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best * 1e6


def ranker(binary):
    """The shortest times of package ranker, in microseconds, by documents."""
    out = subprocess.run(
        [binary, "-test.run", "xxx", "-test.cpu", "1", "-test.benchtime", f"{SECONDS}s",
         "-test.bench", "Score/minmax.log-standard.quantile/documents"],
        cwd="ranker", check=True, capture_output=True, text=True).stdout
    times = {}
    for line in out.splitlines():
        if "best-ns/op" in line:
            words = line.split()
            times[int(words[0].split("documents=")[1].split("-")[0])] = float(words[words.index("best-ns/op") - 1]) / 1e3
    return times


def main():
    train, result = sys.argv[1:]
    x, labels, sizes = read(train)
    data = lightgbm.Dataset(x, labels, group=sizes)
    forest = lightgbm.train({"objective": "lambdarank", "num_threads": 1, "verbose": -1}, data, TREES)
    matrix = xgboost.DMatrix(x, labels)
    matrix.set_group(sizes)
    boosted = xgboost.train({"objective": "rank:ndcg", "nthread": 1}, matrix, TREES)
    with tempfile.TemporaryDirectory() as folder:
        binary = folder + "/ranker.test"
        subprocess.run(["go", "test", "-c", "-o", binary, "github.com/plrank/plrank/ranker"], check=True)
        best = {}

        def keep(library, documents, microseconds):
            best[library, documents] = min(best.get((library, documents), float("inf")), microseconds)

        for _ in range(ROUNDS):
            for n in DOCUMENTS:
                query = numpy.resize(x, (n, x.shape[1]))
                keep("LightGBM", n, shortest(lambda: forest.predict(query, num_threads=1)))
                keep("XGBoost", n, shortest(lambda: boosted.inplace_predict(query)))
            for n, microseconds in ranker(binary).items():
                keep("plrank", n, microseconds)
    with open(result, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["library", "documents", "microseconds"])
        for library in ("LightGBM", "XGBoost", "plrank"):
            for n in DOCUMENTS:
                out.writerow([library, n, f"{float(f'{best[library, n]:.3g}'):g}"])


if __name__ == "__main__":
    main()
