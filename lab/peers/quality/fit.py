"""Fits one library to one fold, in a process of its own. run.py calls it.

fit.py search METHOD FOLDER TRIALS       tries every setting that is not in TRIALS yet
fit.py final METHOD FOLDER SETTING SEED  fits one; test scores to standard output, costs to standard error
"""

import csv
import importlib
import json
import os
import pathlib
import resource
import sys
import time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1", JAX_PLATFORMS="cpu",
                  XLA_FLAGS="--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")  # fmt: skip

import numpy as np

import data
from ndcg import ndcg

INPUTS = ("raw", "raw+minmax")


def module(method):
    """The module that has a method."""
    for path in sorted((pathlib.Path(__file__).parent / "methods").glob("*.py")):
        found = importlib.import_module("methods." + path.stem)
        if method in found.METHODS:
            return found
    raise SystemExit(f"no method {method!r}")


def settings(grid, split):
    """The settings for a collection: the grid, for every kind of input that makes a difference."""
    if split.categories:  # tables take longer: both rates by the two larger sizes
        return [dict(s, input=INPUTS[0]) for s in grid[5::6]]
    inputs = INPUTS[:1] if data.normalised(split) else INPUTS
    return [dict(s, input=i) for i in inputs for s in grid]


def fit(method, splits, setting, seed):
    """The predictor, the splits as it wants them, and the processor time that it took."""
    setting = dict(setting)
    if setting.pop("input") == "raw+minmax":
        splits = [s.with_minmax() for s in splits]
    started = time.process_time()
    predict = module(method).fit(method, splits[0], splits[1], setting, seed)
    return predict, splits, time.process_time() - started


def search(method, folder, trials):
    splits = data.load(folder)
    trials = pathlib.Path(trials)
    if not trials.exists():
        trials.write_text("setting,vali,seconds\n")
    done = {row["setting"] for row in csv.DictReader(trials.open())}
    with trials.open("a", newline="") as out:
        rows = csv.writer(out)
        for setting in settings(module(method).GRID, splits[0]):
            name = json.dumps(setting, sort_keys=True)
            if name in done:
                continue
            predict, ready, seconds = fit(method, splits, setting, 1)
            vali = ndcg(np.asarray(predict(ready[1])), ready[1])
            rows.writerow([name, f"{vali:.6f}", f"{seconds:.3f}"])
            out.flush()


def final(method, folder, setting, seed):
    predict, splits, seconds = fit(method, data.load(folder), json.loads(setting), int(seed))
    scores = np.asarray(predict(splits[2]))
    started, passes = time.process_time(), 0
    while passes < 3 or time.process_time() - started < 0.3:
        predict(splits[2])
        passes += 1
    cost = dict(
        vali=ndcg(np.asarray(predict(splits[1])), splits[1]),
        train_seconds=seconds,
        predict_seconds=(time.process_time() - started) / passes,
        memory_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )
    sys.stderr.write("\n" + json.dumps(cost) + "\n")
    sys.stdout.write("".join(f"{s:.9g}\n" for s in scores))


if __name__ == "__main__":
    {"search": search, "final": final}[sys.argv[1]](*sys.argv[2:])
