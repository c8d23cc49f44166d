"""One forest on one collection, in a process of its own, on one thread. run.py calls it.

forest.py METHOD FOLDER SETTING SECONDS      NDCG@10 by processor seconds of training, to standard output, as CSV
"""

import csv
import json
import os
import pathlib
import sys
import time
from dataclasses import dataclass

os.environ.update(OMP_NUM_THREADS="1")  # LightGBM goes back to this after predict

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "peers" / "quality"))
from ndcg import ndcg

STEP = 1.4  # seconds at a point of the curve over those at the point before
PATIENCE = 2  # points without a better validation value, after which a forest has ended


@dataclass
class Split:
    features: np.ndarray  # [documents, features], float32
    labels: np.ndarray
    offsets: np.ndarray  # [queries + 1]
    categories: tuple = ()  # there are none

    @property
    def sizes(self):
        return np.diff(self.offsets)


def load(folder, name):
    labels, offsets = (np.fromfile(folder / f"{name}.{what}", dtype) for what, dtype in (("labels", np.float32), ("offsets", np.int64)))
    return Split(np.fromfile(folder / f"{name}.features", np.float32).reshape(len(labels), -1), labels, offsets)


# A library has the training data binned when it is made. grow adds trees for some seconds, and gives
# the seconds of training so far after each. score is what some of the trees add to scores.


class LightGBM:
    def __init__(self, setting, train):
        import lightgbm

        parameters = dict(setting, objective="lambdarank", metric="none", num_threads=1, seed=1, verbose=-1)
        data = lightgbm.Dataset(train.features, train.labels, group=train.sizes, params=parameters)
        self.model = lightgbm.Booster(parameters, data.construct())

    def grow(self, seconds):
        return one_by_one(self.model.update, seconds)

    def score(self, features, first, last):
        return self.model.predict(features, start_iteration=first, num_iteration=last - first, raw_score=True)


class XGBoost:
    def __init__(self, setting, train):
        import xgboost

        self.data = xgboost.QuantileDMatrix(train.features, train.labels, nthread=1)
        self.data.set_group(train.sizes)
        parameters = dict(setting, objective="rank:ndcg", tree_method="hist", nthread=1, seed=1, base_score=0)
        self.model = xgboost.Booster(parameters, [self.data])

    def grow(self, seconds):
        return one_by_one(lambda: self.model.update(self.data, self.model.num_boosted_rounds()), seconds)

    def score(self, features, first, last):
        return self.model.inplace_predict(features, iteration_range=(first, last), predict_type="margin")


class CatBoost:
    def __init__(self, setting, train):
        import catboost

        queries = np.repeat(np.arange(len(train.sizes)), train.sizes)
        self.data = catboost.Pool(train.features, train.labels, group_id=queries, thread_count=1)
        self.data.quantize(border_count=setting.get("border_count", 254))
        self.model = catboost.CatBoost(dict(setting, iterations=100_000, thread_count=1, random_seed=1, logging_level="Silent",
                                            allow_writing_files=False))  # fmt: skip

    def grow(self, seconds):
        """The whole forest, as it cannot be scored while it grows."""
        clock = Clock(seconds)
        self.model.fit(self.data, callbacks=[clock])
        return clock.times

    def score(self, features, first, last):
        return self.model.predict(features, ntree_start=first, ntree_end=last, thread_count=1)


METHODS = {"LightGBM": LightGBM, "XGBoost": XGBoost, "CatBoost": CatBoost}


def one_by_one(add, seconds):
    used = 0.0
    while used < seconds:
        started = time.process_time()
        add()
        used += time.process_time() - started
        yield used


class Clock:
    """Ends CatBoost's training."""

    def __init__(self, seconds):
        self.seconds, self.started, self.times = seconds, time.process_time(), []

    def after_iteration(self, _):
        self.times.append(time.process_time() - self.started)
        return self.times[-1] < self.seconds


def main(method, folder, setting, budget):
    folder, budget = pathlib.Path(folder), float(budget)
    forest = METHODS[method](json.loads(setting), load(folder, "train"))
    splits = {name: load(folder, name) for name in ("vali", "test")}
    scores = {name: np.zeros(len(split.labels)) for name, split in splits.items()}
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["step", "seconds", "vali", "test"])
    drawn, due, best, since = 0, 0.0, 0.0, 0
    for trees, seconds in enumerate(forest.grow(budget), 1):
        if seconds < due:
            continue
        values = {}
        for name, split in splits.items():
            scores[name] += forest.score(split.features, drawn, trees)
            values[name] = ndcg(scores[name], split)
        out.writerow([trees, f"{seconds:.2f}", f"{values['vali']:.6f}", f"{values['test']:.6f}"])
        sys.stdout.flush()
        drawn, due = trees, min(budget, STEP * seconds)
        since = 0 if values["vali"] > best else since + 1
        best = max(best, values["vali"])
        if since == PATIENCE:
            break


if __name__ == "__main__":
    main(*sys.argv[1:])
