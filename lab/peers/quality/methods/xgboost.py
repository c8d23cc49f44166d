"""XGBoost."""

import itertools

METHODS = {"XGBoost rank:ndcg": "rank:ndcg", "XGBoost rank:pairwise": "rank:pairwise"}
GRID = [
    dict(eta=rate, max_depth=depth, min_child_weight=least, colsample_bynode=part)
    for rate, depth, least, part in itertools.product((0.05, 0.1), (3, 4, 6), (0.1, 1), (1.0, 0.5))
]


def fit(method, train, vali, setting, seed):
    import xgboost

    kinds = ["c" if c in train.categories else "q" for c in range(train.features.shape[1])]

    def matrix(split, ref=None):
        return xgboost.QuantileDMatrix(
            split.features, split.labels, group=split.sizes, nthread=1, ref=ref, feature_types=kinds, enable_categorical=True
        )

    data = matrix(train)
    held = matrix(vali, data)
    model = xgboost.train(
        dict(setting, objective=METHODS[method], eval_metric="ndcg@10", seed=seed, nthread=1,
             subsample=0.8, tree_method="hist"),
        data, num_boost_round=500, evals=[(held, "vali")], early_stopping_rounds=50, verbose_eval=False,
    )  # fmt: skip
    best = (0, model.best_iteration + 1)
    return lambda split: model.inplace_predict(split.features, iteration_range=best)
