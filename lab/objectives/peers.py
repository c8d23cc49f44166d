"""peers.py FOLDER OUT SEEDS METHOD … trains other libraries on a prepared fold, and writes the scores of its test split.

It is run by go run ./objectives, which gives the names, in the environment of ../peers/quality/trees.txt. Each method has one
setting, of the middle of the grid of peers/quality, and stops by its own metric on the validation split; on the large
synthetic collection fewer trees have to do, with larger steps. Scores go to
OUT/METHOD/SEED.scores; those that are there stay."""

import os
import pathlib
import sys

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
LAB = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(LAB / "peers" / "quality"), str(LAB / "fullsize")]

import numpy as np

import data
import forest

ROUNDS, PATIENCE, RATE = 300, 30, 0.1
LARGE_ROUNDS, LARGE_RATE = 100, 0.3


def lightgbm(train, vali, seed):
    import lightgbm

    grades = lightgbm.Dataset(train.features, train.labels, group=train.sizes, categorical_feature=list(train.categories))
    held = lightgbm.Dataset(vali.features, vali.labels, group=vali.sizes, reference=grades)
    model = lightgbm.train(
        dict(objective="lambdarank", metric="ndcg", eval_at=[10], learning_rate=RATE, num_leaves=15, feature_fraction=0.5,
             bagging_fraction=0.8, bagging_freq=1, seed=seed, num_threads=1, deterministic=True, verbose=-1),
        grades, num_boost_round=ROUNDS, valid_sets=[held], callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
    )  # fmt: skip
    return lambda split: model.predict(split.features, num_threads=1)


def xgboost(train, vali, seed):
    import xgboost

    kinds = ["c" if c in train.categories else "q" for c in range(train.features.shape[1])]

    def matrix(split, ref=None):
        return xgboost.QuantileDMatrix(split.features, binary(split.labels), group=split.sizes, nthread=1, ref=ref,
                                       feature_types=kinds, enable_categorical=True)  # fmt: skip

    relevant = matrix(train)
    model = xgboost.train(
        dict(objective="rank:map", eval_metric="map@10", eta=RATE, max_depth=4, colsample_bynode=0.5, subsample=0.8,
             tree_method="hist", seed=seed, nthread=1),
        relevant, num_boost_round=ROUNDS, evals=[(matrix(vali, relevant), "vali")], early_stopping_rounds=PATIENCE,
        verbose_eval=False,
    )  # fmt: skip
    return lambda split: model.inplace_predict(split.features, iteration_range=(0, model.best_iteration + 1))


def yetirank(mode, rewards):
    """CatBoost's YetiRank for a metric of rewards, which are functions of the labels and the highest of them."""

    def fit(train, vali, seed):
        import catboost
        import pandas

        def inputs(split):
            if not split.categories:
                return split.features
            table = pandas.DataFrame(split.features)
            for c in split.categories:
                table[c] = table[c].fillna(-1).astype(int)
            return table

        def pool(split):
            groups = np.repeat(np.arange(len(split.sizes)), split.sizes)
            return catboost.Pool(inputs(split), rewards(split.labels, train.labels.max()), group_id=groups,
                                 cat_features=list(split.categories))  # fmt: skip

        model = catboost.CatBoost(dict(
            loss_function=f"YetiRank:mode={mode};top=10", eval_metric=f"{mode}:top=10", learning_rate=RATE, depth=4,
            iterations=ROUNDS, od_type="Iter", od_wait=PATIENCE, random_seed=seed, thread_count=1, verbose=False,
            allow_writing_files=False,
        ))  # fmt: skip
        model.fit(pool(train), eval_set=pool(vali))
        return lambda split: model.predict(inputs(split), thread_count=1)

    return fit


def binary(labels, _=None):
    return (labels > 0).astype(float)


def satisfaction(labels, highest):
    """What ERR makes of grades; those above the highest of the training split count as it."""
    return (np.exp2(np.minimum(labels, highest)) - 1) / np.exp2(highest)


METHODS = {
    "LightGBM lambdarank": lightgbm,
    "XGBoost rank:map": xgboost,
    "CatBoost YetiRank MRR": yetirank("MRR", binary),
    "CatBoost YetiRank MAP": yetirank("MAP", binary),
    "CatBoost YetiRank ERR": yetirank("ERR", satisfaction),
}


def load(folder):
    folder = pathlib.Path(folder)
    if not (folder / "train.features").exists():
        return data.load(folder)
    global ROUNDS, RATE
    ROUNDS, RATE = LARGE_ROUNDS, LARGE_RATE
    return [forest.load(folder, split) for split in ("train", "vali", "test")]


def main(folder, out, seeds, *methods):
    train, vali, test = load(folder)
    for method in methods:
        for seed in range(1, int(seeds) + 1):
            path = pathlib.Path(out) / method / f"{seed}.scores"
            if path.exists():
                continue
            scores = np.asarray(METHODS[method](train, vali, seed)(test))
            path.parent.mkdir(parents=True, exist_ok=True)
            whole = path.with_suffix(".part")
            whole.write_text("".join(f"{s:.9g}\n" for s in scores))
            whole.rename(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
