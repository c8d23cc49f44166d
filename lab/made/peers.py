"""Test NDCG@5 of LightGBM, XGBoost and CatBoost on made problems, each with the best of three settings by NDCG@10 of the validation split.

peers.py FOLDER…    CSV to standard output
"""

import pathlib
import sys

import catboost
import lightgbm
import numpy as np
import pandas
import xgboost

sys.path.append(str(pathlib.Path(__file__).parent.parent / "peers" / "quality"))
from ndcg import ndcg

ROUNDS, PATIENCE = 1000, 50


class Split:
    def __init__(self, path, like=None):
        table = pandas.read_csv(path)
        _, sizes = np.unique(table.pop("query").ne(pandas.read_csv(path)["query"].shift()).cumsum(), return_counts=True)
        self.sizes, self.offsets = sizes, np.concatenate([[0], np.cumsum(sizes)])
        self.labels = table.pop("label").to_numpy()
        self.weights = table.pop("weight").to_numpy() if "weight" in table else None
        self.categories = [c for c in table if c.endswith("_c")]
        self.table = table


def of_lightgbm(train, vali, setting):
    kinds = dict(categorical_feature=train.categories)
    data = lightgbm.Dataset(train.table, train.labels, group=train.sizes, weight=train.weights, **kinds)
    held = lightgbm.Dataset(vali.table, vali.labels, group=vali.sizes, reference=data, **kinds)
    model = lightgbm.train(
        dict(setting, metric="ndcg", eval_at=[10], seed=1, num_threads=1, bagging_fraction=0.8, bagging_freq=1, verbose=-1),
        data, ROUNDS, valid_sets=[held], callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
    )  # fmt: skip
    return lambda split: model.predict(split.table, num_threads=1)


def of_xgboost(train, vali, setting):
    def matrix(split):
        table = split.table.astype({c: pandas.CategoricalDtype(range(1000)) for c in split.categories})
        weights = None  # the library has weights of queries
        if split.weights is not None:
            weights = np.add.reduceat(split.weights, split.offsets[:-1]) / split.sizes
        return xgboost.DMatrix(table, split.labels, group=split.sizes, weight=weights, nthread=1, enable_categorical=True)

    model = xgboost.train(
        dict(setting, eval_metric="ndcg@10", seed=1, nthread=1, subsample=0.8, tree_method="hist"), matrix(train), ROUNDS,
        evals=[(matrix(vali), "vali")], early_stopping_rounds=PATIENCE, verbose_eval=False,
    )  # fmt: skip
    return lambda split: model.predict(matrix(split), iteration_range=(0, model.best_iteration + 1))


def of_catboost(train, vali, setting):
    def pool(split):
        groups = np.repeat(np.arange(len(split.sizes)), split.sizes)
        weights = split.weights if setting["loss_function"] == "QueryRMSE" else None  # others have weights of queries
        return catboost.Pool(split.table, split.labels, group_id=groups, weight=weights, cat_features=split.categories)

    model = catboost.CatBoost(dict(
        setting, eval_metric="NDCG:top=10;type=Exp", random_seed=1, iterations=ROUNDS, od_type="Iter", od_wait=PATIENCE,
        thread_count=1, verbose=False, allow_writing_files=False,
    ))  # fmt: skip
    model.fit(pool(train), eval_set=pool(vali))
    return lambda split: model.predict(pool(split), thread_count=1)


PEERS = {
    "LightGBM": (of_lightgbm, [
        dict(objective="lambdarank", learning_rate=0.05, num_leaves=31),
        dict(objective="lambdarank", learning_rate=0.05, num_leaves=8, min_data_in_leaf=50, feature_fraction=0.7),
        dict(objective="rank_xendcg", learning_rate=0.05, num_leaves=31),
    ]),
    "XGBoost": (of_xgboost, [
        dict(objective="rank:ndcg", eta=0.1, max_depth=6),
        dict(objective="rank:ndcg", eta=0.1, max_depth=3, colsample_bynode=0.7),
        dict(objective="rank:pairwise", eta=0.1, max_depth=5),
    ]),
    "CatBoost": (of_catboost, [
        dict(loss_function="QueryRMSE", learning_rate=0.1, depth=6),
        dict(loss_function="QueryRMSE", learning_rate=0.1, depth=4),
        dict(loss_function="YetiRank", learning_rate=0.1, depth=6),
    ]),
}  # fmt: skip


def main(folders):
    print("problem,seed," + ",".join(PEERS), flush=True)
    for folder in map(pathlib.Path, folders):
        train, vali, test = (Split(folder / f"{name}.csv") for name in ("train", "vali", "test"))
        values = []
        for fit, settings in PEERS.values():
            trials = [fit(train, vali, s) for s in settings]
            best = max(trials, key=lambda predict: ndcg(np.asarray(predict(vali)), vali))
            values.append(ndcg(np.asarray(best(test)), test, 5))
        print(",".join([*folder.name.split("-"), *(f"{v:.4f}" for v in values)]), flush=True)


main(sys.argv[1:])
