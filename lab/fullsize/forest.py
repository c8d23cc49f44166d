"""One library on one collection, in a process of its own. run.py calls it.

forest.py prepare FOLDER                                writes LightGBM's and NumPy's files beside the LETOR text
forest.py read METHOD FOLDER THREADS                    reads text and bins it: seconds and memory, to standard output
forest.py memory METHOD FOLDER THREADS                  trains a little from arrays: memory, to standard output
forest.py fit METHOD FOLDER THREADS SETTING SECONDS     trains: NDCG@10 by seconds, to standard output, as CSV
"""

import csv
import json
import os
import pathlib
import resource
import sys
import time
from dataclasses import dataclass

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "peers" / "quality"))
from ndcg import ndcg

STEP = 20  # trees between two points of a curve
PATIENCE = 6  # points without a better validation value, after which a forest has ended
SAMPLE = 10  # trees that are enough to know the memory


@dataclass
class Split:
    features: np.ndarray  # [documents, features], float32
    labels: np.ndarray
    sizes: np.ndarray  # documents of each query

    @property
    def offsets(self):
        return np.concatenate([[0], np.cumsum(self.sizes)])


def load(folder, name):
    labels = np.load(folder / f"{name}.labels.npy")
    features = np.fromfile(folder / f"{name}.f32", np.float32).reshape(len(labels), -1)
    return Split(features, labels, np.loadtxt(folder / f"{name}.svm.query", dtype=int))


def prepare(folder):
    """LightGBM wants text without qid, and a file of query sizes beside it."""
    for name in ("train", "vali", "test"):
        labels, sizes, last = [], [], None
        with open(folder / "letor" / f"{name}.txt", "rb") as letor, open(folder / f"{name}.svm", "wb") as text:
            for line in letor:
                label, qid, features = line.split(b" ", 2)
                text.write(label + b" " + features)
                labels.append(float(label))
                if qid != last:
                    sizes.append(0)
                    last = qid
                sizes[-1] += 1
        np.savetxt(folder / f"{name}.svm.query", sizes, "%d")
        np.save(folder / f"{name}.labels.npy", np.array(labels))


class LightGBM:
    def __init__(self, setting, threads):
        import lightgbm

        self.library = lightgbm
        self.parameters = dict(setting, objective="lambdarank", metric="none", num_threads=threads, seed=1, verbose=-1)

    def read(self, folder):
        train = self.library.Dataset(str(folder / "train.svm"), params=self.parameters).construct()
        self.library.Dataset(str(folder / "vali.svm"), params=self.parameters, reference=train).construct()

    def begin(self, train):
        data = self.library.Dataset(train.features, train.labels, group=train.sizes, params=self.parameters)
        self.model = self.library.Booster(self.parameters, data.construct())

    def grow(self):
        self.model.update()

    def score(self, features, first, trees):
        return self.model.predict(features, start_iteration=first, num_iteration=trees, raw_score=True)


class XGBoost:
    def __init__(self, setting, threads):
        import xgboost

        self.library = xgboost
        self.parameters = dict(setting, objective="rank:ndcg", tree_method="hist", nthread=threads, seed=1, base_score=0)

    def read(self, folder):
        for name in ("train", "vali"):
            self.library.DMatrix(f"{folder / 'letor' / name}.txt?format=libsvm", nthread=self.parameters["nthread"])

    def begin(self, train):
        self.data = self.library.QuantileDMatrix(train.features, train.labels, nthread=self.parameters["nthread"])
        self.data.set_group(train.sizes)
        self.model, self.trees = self.library.Booster(self.parameters, [self.data]), 0

    def grow(self):
        self.model.update(self.data, self.trees)
        self.trees += 1

    def score(self, features, first, trees):
        return self.model.inplace_predict(features, iteration_range=(first, first + trees), predict_type="margin")


METHODS = {"LightGBM": LightGBM, "XGBoost": XGBoost}


def megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def read(method, folder, threads):
    forest, started = METHODS[method]({}, int(threads)), time.perf_counter()
    forest.read(folder)
    print(json.dumps(dict(seconds=time.perf_counter() - started, memory_mb=megabytes())))


def memory(method, folder, threads):
    """The other splits are in memory, too, as plrank has them."""
    forest = METHODS[method]({}, int(threads))
    others = [load(folder, name) for name in ("vali", "test")]
    forest.begin(load(folder, "train"))
    for _ in range(SAMPLE):
        forest.grow()
    for split in others:
        forest.score(split.features, 0, SAMPLE)
    print(json.dumps(dict(memory_mb=megabytes())))


def fit(method, folder, threads, setting, budget):
    forest = METHODS[method](json.loads(setting), int(threads))
    splits = {name: load(folder, name) for name in ("vali", "test")}
    forest.begin(load(folder, "train"))
    scores = {name: np.zeros(len(split.labels)) for name, split in splits.items()}
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["step", "seconds", "vali", "test"])
    seconds, trees, best, since = 0.0, 0, 0.0, 0
    while seconds < float(budget) and since < PATIENCE:
        started = time.perf_counter()
        for _ in range(STEP):
            forest.grow()
        seconds += time.perf_counter() - started
        values = {}
        for name, split in splits.items():  # not timed
            scores[name] += forest.score(split.features, trees, STEP)
            values[name] = ndcg(scores[name], split)
        trees += STEP
        out.writerow([trees, f"{seconds:.2f}", f"{values['vali']:.6f}", f"{values['test']:.6f}"])
        since = 0 if values["vali"] > best else since + 1
        best = max(best, values["vali"])


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    position = 0 if command == "prepare" else 1
    arguments[position] = pathlib.Path(arguments[position])
    {"prepare": prepare, "read": read, "memory": memory, "fit": fit}[command](*arguments)
