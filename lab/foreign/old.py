"""Writes models of versions whose files say less: LightGBM 2.1, which ends without "end of trees", and a random forest of XGBoost 1.5,
which does not say num_parallel_tree. What it writes is as that of models.py.

    python3.11 -m venv v && v/bin/pip install numpy==1.26.4 pandas==1.5.3 scipy==1.10.1 scikit-learn==1.2.2
    v/bin/pip install --no-deps lightgbm==2.1.2 xgboost==1.5.2
    v/bin/python foreign/old.py ../forest/foreign/testdata
"""
import sys, warnings

warnings.simplefilter("ignore")
import lightgbm as lgb, numpy as np, pandas as pd, xgboost as xgb

out = sys.argv[1]
rng = np.random.default_rng(1)
X = rng.normal(size=(600, 3)).astype(np.float32)
X[rng.random(X.shape) < .15] = np.nan
shops = np.array(["oslo", "bern", "rome", "x y"])
shop = rng.integers(0, 4, 600)
y = np.clip(np.round(np.nan_to_num(X[:, 0]) + (shop == 2) + rng.normal(size=600) * .3), 0, 4)


def rows():
    r = rng.normal(size=(30, 3)).astype(np.float32)
    r[rng.random(r.shape) < .15] = np.nan
    return r


def write(name, frame, scores):
    text = lambda v: np.format_float_scientific(v, unique=True, trim="-")
    frame = frame.apply(lambda c: c.map(text) if c.dtype == np.float32 else c)
    frame.assign(score=np.asarray(scores, np.float64)).to_csv(f"{out}/{name}.csv", index=False)


frame = lambda x, s: pd.DataFrame(x, columns=["price", "age", "stock"]).assign(shop=pd.Categorical(shops[s], categories=shops))
params = dict(objective="lambdarank", num_leaves=5, min_data_in_leaf=10, min_data_per_group=10, verbose=-1, num_threads=1)
m = lgb.train(params, lgb.Dataset(frame(X, shop), y, group=[20] * 30), 5)
m.save_model(f"{out}/lightgbm-old.txt")
r = frame(rows(), rng.integers(0, 4, 30))
write("lightgbm-old", r, m.predict(r, raw_score=True))

m = xgb.XGBRFRegressor(n_estimators=4, max_depth=3, n_jobs=1).fit(X, y)
m.save_model(f"{out}/xgboost-forest.json")
r = rows()
write("xgboost-forest", pd.DataFrame(r, columns=["f0", "f1", "f2"]), m.predict(r))
