"""CatBoost."""

import itertools

METHODS = {
    "CatBoost QueryRMSE": "QueryRMSE",
    "CatBoost YetiRank": "YetiRank",
    "CatBoost YetiRankPairwise": "YetiRankPairwise",
    "CatBoost StochasticRank": "StochasticRank:metric=NDCG;top=10",
}
GRID = [
    dict(learning_rate=rate, depth=depth, l2_leaf_reg=l2, random_strength=noise)
    for rate, depth, l2, noise in itertools.product((0.05, 0.1), (3, 4, 6), (3, 10), (0, 1))
]


def fit(method, train, vali, setting, seed):
    import catboost
    import numpy as np
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
        return catboost.Pool(inputs(split), split.labels, group_id=groups, cat_features=list(split.categories))

    model = catboost.CatBoost(dict(
        setting, loss_function=METHODS[method], eval_metric="NDCG:top=10;type=Exp", random_seed=seed,
        iterations=500, od_type="Iter", od_wait=50, thread_count=1, verbose=False, allow_writing_files=False,
    ))  # fmt: skip
    model.fit(pool(train), eval_set=pool(vali))
    return lambda split: model.predict(inputs(split), thread_count=1)
