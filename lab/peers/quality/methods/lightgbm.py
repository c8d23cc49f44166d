"""LightGBM."""

import itertools

METHODS = {"LightGBM lambdarank": "lambdarank", "LightGBM rank_xendcg": "rank_xendcg"}
GRID = [
    dict(learning_rate=rate, num_leaves=leaves, min_data_in_leaf=least, feature_fraction=part)
    for rate, leaves, least, part in itertools.product((0.05, 0.1), (7, 15, 31), (20, 50), (1.0, 0.5))
]


def fit(method, train, vali, setting, seed):
    import lightgbm

    data = lightgbm.Dataset(train.features, train.labels, group=train.sizes, categorical_feature=list(train.categories))
    held = lightgbm.Dataset(vali.features, vali.labels, group=vali.sizes, reference=data)
    model = lightgbm.train(
        dict(setting, objective=METHODS[method], metric="ndcg", eval_at=[10], seed=seed, num_threads=1,
             bagging_fraction=0.8, bagging_freq=1, deterministic=True, verbose=-1),
        data, num_boost_round=500, valid_sets=[held],
        callbacks=[lightgbm.early_stopping(50, verbose=False)],
    )  # fmt: skip
    return lambda split: model.predict(split.features, num_threads=1)
