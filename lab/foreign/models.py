"""Writes small forests of LightGBM, XGBoost and CatBoost, and the scores that the libraries give to rows.

    python -m venv v && v/bin/pip install lightgbm==4.7 xgboost-cpu==3.2 catboost==1.2.10 pandas scikit-learn
    v/bin/python foreign/models.py ../forest/foreign/testdata 30 6  # the test data of package foreign
    v/bin/python foreign/models.py /tmp/f 100000 200
    (cd .. && FOREIGN=/tmp/f go test ./forest/foreign -run Libraries -v) | sed -n 's/.*equal: //p'  # the rows of foreign/equal.csv

For each model NAME there is NAME.txt, .json or .ubj, and NAME.csv with features and, last, the score. Rows have missing
values, infinities, zeros, values at thresholds and next to them, and categories that training did not have.
"""
import json, os, re, sys, warnings
import catboost as cb, lightgbm as lgb, numpy as np, pandas as pd, xgboost as xgb

warnings.simplefilter("ignore")
out, rows, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
os.makedirs(out, exist_ok=True)
rng = np.random.default_rng(1)
n, documents = 1200, 20
qid = np.repeat(np.arange(n // documents), documents)
groups = [documents] * (n // documents)
X = rng.normal(size=(n, 5)).astype(np.float32)
X[rng.random((n, 5)) < .15] = np.nan
X[rng.random((n, 5)) < .15] = 0
few, many = rng.integers(0, 4, n), rng.integers(0, 30, n)
worth = rng.normal(size=30)
signal = np.nan_to_num(X[:, 0]) + np.where(np.isnan(X[:, 1]), 1, X[:, 1] ** 2) + (X[:, 2] == 0) + worth[many] + (few == 2)
y = np.clip(np.round(signal + rng.normal(size=n) * .3), 0, 4).astype(int)
numeric = np.column_stack([X, few, many]).astype(np.float32)  # categories as numbers
columns = ["price", "age", "stock", "x3", "x4", "shop", "city"]
shops, cities = np.array(["oslo", "bern", "rome", "x y"]), np.array([f"c{i}" for i in range(30)])
texts = pd.DataFrame(X, columns=columns[:5]).assign(shop=shops[few], city=cities[many])
ints = pd.DataFrame(X, columns=columns[:5]).assign(shop=few * 10 - 10, city=many * 7)


def thresholds(path):
    """Numbers that may be thresholds of a model."""
    text = open(path, "rb").read().decode("latin1")
    found = " ".join(re.findall(r'(?:threshold=|"borders":|"border": ?|"split_conditions":)\[?([^\]\n}]*)', text))
    words = [w for w in re.split(r"[ ,\s]+", found) if re.fullmatch(r"-?\d[\d.eE+-]*", w)]
    t = np.array(words, float).astype(np.float32)
    t = np.concatenate([t, np.float32([0, 1e-36, -1e-36, 1e-35, -1e-35, np.inf, -np.inf, 3e38, -3e38])])
    return np.concatenate([t, np.nextafter(t, np.float32(np.inf)), np.nextafter(t, np.float32(-np.inf))])


def draw(path):
    """Values of the five numbers."""
    v = rng.normal(size=(rows, 5)).astype(np.float32)
    t = thresholds(path)
    v = np.where(rng.random(v.shape) < .5, rng.choice(t, v.shape), v)
    v[rng.random(v.shape) < .15] = np.nan
    return v


def write(name, ending, frame, scores):
    frame = frame.copy()
    frame["score"] = np.asarray(scores, np.float64)
    for c in frame:
        if frame[c].dtype == np.float32:
            frame[c] = frame[c].map(lambda v: repr(float(v)) if not np.isfinite(v) else np.format_float_scientific(v, unique=True, trim="-"))
    frame.to_csv(f"{out}/{name}.csv", index=False)
    print(name, ending, os.path.getsize(f"{out}/{name}.{ending}"))


def numbers(path, odd):
    """Rows whose categories are numbers, odd ones among them."""
    v = draw(path)
    c = np.column_stack([rng.integers(0, 5, rows), rng.integers(0, 33, rows)]).astype(np.float32)
    c = np.where(rng.random(c.shape) < .3, rng.choice(np.float32(odd), c.shape), c)
    return pd.DataFrame(np.column_stack([v, c]).astype(np.float32), columns=[f"f{i}" for i in range(7)])


ODD = [np.nan, -1, 64, 1000, 2.7, 1.5, -.5, -0., 70000, 1 << 24, 3e9, -3e9, 3e38, np.inf, -np.inf]


def light(name, frame=None, best=None, trees=size, matrix=numeric, **params):
    p = dict(objective="lambdarank", num_leaves=6, min_data_in_leaf=10, verbose=-1, num_threads=1, max_cat_to_onehot=4, min_data_per_group=10,
             cat_smooth=1, seed=1, **params)
    data = matrix if frame is None else frame
    cats = params.pop("cats", [5, 6] if frame is None and matrix is numeric else "auto")
    p.pop("cats", None)
    m = lgb.train(p, lgb.Dataset(data, y, group=groups, categorical_feature=cats, params=p), trees)
    path = f"{out}/{name}.txt"
    m.save_model(path, num_iteration=best or -1)
    s = re.sub(r"\nparameters:.*?end of parameters\n", lambda p: "\nparameters:\n" + "".join(l + "\n" for l in p[0].split("\n") if "categorical_feature" in l) + "\nend of parameters\n", open(path).read(), flags=re.S)
    open(path, "w").write(s)
    m = lgb.Booster(model_file=path)
    if frame is None:
        r = numbers(path, ODD).iloc[:, : matrix.shape[1]]
        write(name, "txt", r, m.predict(r.to_numpy()))
        return
    r = pd.DataFrame(draw(path), columns=columns[:5])
    for c in ("shop", "city"):
        values = np.concatenate([frame[c].cat.categories.to_numpy(), ["none" if frame is textual else 12345]])
        v = rng.choice(values, rows)
        r[c] = v
    p = r.copy()
    for c in ("shop", "city"):
        p[c] = pd.Categorical(p[c] if frame is textual else p[c].astype(int), categories=frame[c].cat.categories)
    write(name, "txt", r, m.predict(p, raw_score=True))


def xg(name, ending="json", frame=None, trees=size, target=y, sk=False, **params):
    p = dict(dict(objective="rank:ndcg", max_depth=3, max_cat_to_onehot=4, nthread=1, seed=1, min_child_weight=.1), **params)
    if frame is None:
        d = xgb.DMatrix(numeric, target, feature_types=["q"] * 5 + ["c"] * 2, enable_categorical=True)
    else:
        d = xgb.DMatrix(frame, target, enable_categorical=True)
    d.set_group(groups)
    m = xgb.train(p, d, trees)
    path = f"{out}/{name}.{ending}"
    if sk:
        m.set_attr(best_iteration="2", scikit_learn='{"_estimator_type": "ranker"}')
    if sk is None:
        m.set_attr(best_iteration="2")
    m.save_model(path)
    m.save_model(f"{out}/{name}.tmp.json")
    t = f"{out}/{name}.tmp.json"
    upto = dict(iteration_range=(0, 3)) if sk else {}
    score = lambda x: m.inplace_predict(x, predict_type="margin", **upto)
    if frame is None:
        r = numbers(t, [v for v in ODD if v == v and np.isfinite(v)] + [np.nan])
        os.remove(t)
        write(name, ending, r, score(r.to_numpy()))
        return
    r = pd.DataFrame(draw(t), columns=columns[:5])
    os.remove(t)
    for c in ("shop", "city"):
        r[c] = rng.choice(frame[c].cat.categories.to_numpy(), rows)
    q = r.copy()
    for c in ("shop", "city"):
        q[c] = pd.Categorical(q[c], categories=frame[c].cat.categories)
    write(name, ending, r, score(q))


def shorten(path):
    """Leaves out of a file of CatBoost what no reader needs."""
    j = json.load(open(path))
    j["model_info"] = {"params": {"loss_function": j["model_info"]["params"]["loss_function"]}}
    for t in j.get("oblivious_trees", []):
        t.pop("leaf_weights")
    json.dump(j, open(path, "w"), separators=(",", ":"))


def cat(name, frame=None, trees=size, **params):
    p = dict(dict(loss_function="YetiRank", iterations=trees, depth=3, thread_count=1, random_seed=1, allow_writing_files=False, verbose=0), **params)
    cats = [] if frame is None else ["shop", "city"]
    data = pd.DataFrame(X, columns=columns[:5]) if frame is None else frame
    pool = cb.Pool(data, y, group_id=qid, cat_features=cats)
    m = cb.CatBoost(p).fit(pool)
    path = f"{out}/{name}.json"
    m.set_scale_and_bias(1.5, .25)
    m.save_model(path, format="json", pool=pool)
    shorten(path)
    r = pd.DataFrame(draw(path), columns=columns[:5])
    for c in cats:
        values = np.unique(frame[c])
        r[c] = rng.choice(np.concatenate([values, ["none" if frame is texts else -555]]), rows)
        if frame is ints:
            r[c] = r[c].astype(int)
    write(name, "json", r, m.predict(cb.Pool(r, cat_features=cats), prediction_type="RawFormulaVal"))


textual = texts.assign(shop=texts.shop.astype("category"), city=texts.city.astype("category"))
integral = ints.assign(shop=ints.shop.astype("category"), city=ints.city.astype("category"))
light("lightgbm-numbers")
light("lightgbm-zero", zero_as_missing=True)
light("lightgbm-nomissing", use_missing=False)
light("lightgbm-dart", boosting="dart", drop_rate=.5, best=size - 1)
light("lightgbm-rf", boosting="rf", bagging_freq=1, bagging_fraction=.5, feature_fraction=.9)
light("lightgbm-texts", textual)
light("lightgbm-integers", integral)
light("lightgbm-stump", trees=2, min_sum_hessian_in_leaf=1e9)
xg("xgboost-numbers")
xg("xgboost-ubj", "ubj", base_score=.75)
xg("xgboost-dart", booster="dart", rate_drop=.5)
xg("xgboost-texts", frame=textual)
xg("xgboost-integers", "ubj", frame=integral)
xg("xgboost-logistic", objective="reg:logistic", target=y / 4)
xg("xgboost-poisson", objective="count:poisson", target=y)
xg("xgboost-best", sk=True)
xg("xgboost-all", sk=None, num_parallel_tree=2, subsample=.5, tree_method="hist", grow_policy="lossguide", max_leaves=5)
cat("catboost-numbers")
cat("catboost-max", nan_mode="Max")
cat("catboost-onehot", texts, one_hot_max_size=100)
cat("catboost-integers", ints, one_hot_max_size=100)
cat("catboost-ctr", texts, max_ctr_complexity=1)
cat("catboost-ctr-types", texts, max_ctr_complexity=1, simple_ctr=["Buckets", "BinarizedTargetMeanValue", "Counter"])
cat("catboost-ctr-targets", texts, loss_function="RMSE", max_ctr_complexity=1, simple_ctr=["Borders:TargetBorderCount=3", "Buckets:TargetBorderCount=3"])
cat("catboost-lossguide", texts, grow_policy="Lossguide", max_leaves=6, max_ctr_complexity=1)
cat("catboost-depthwise", grow_policy="Depthwise")

# The shop of docs/migrating.md: 40 queries of 10 products, and a model of each library.
if size < 100:
    os.makedirs(f"{out}/shop", exist_ok=True)
    price, stars = rng.gamma(2, 20, 400).round(2), rng.integers(1, 6, 400).astype(float)
    stars[rng.random(400) < .2] = np.nan
    brand = rng.choice(["acme", "globex", "initech"], 400)
    label = np.clip(np.round(np.nan_to_num(stars, nan=2.5) / 2 - price / 40 + (brand == "acme") + rng.normal(size=400) * .4), 0, 2).astype(int)
    query = np.repeat(np.arange(1, 41), 10)
    shop = pd.DataFrame(dict(price=price, stars=stars, brand=brand))
    shop.assign(query=query, label=label)[["query", "label", *shop]].to_csv(f"{out}/shop/shop.csv", index=False)
    coded = shop.assign(brand=shop.brand.astype("category"))
    lgb.train(dict(objective="lambdarank", num_leaves=4, min_data_in_leaf=5, min_data_per_group=5, verbose=-1, num_threads=1), lgb.Dataset(coded, label, group=[10] * 40), 8).save_model(f"{out}/shop/lightgbm.txt")
    d = xgb.DMatrix(coded, label, enable_categorical=True)
    d.set_group([10] * 40)
    xgb.train(dict(objective="rank:ndcg", max_depth=2, nthread=1), d, 8).save_model(f"{out}/shop/xgboost.ubj")
    pool = cb.Pool(shop, label, group_id=query, cat_features=["brand"])
    cb.CatBoost(dict(loss_function="YetiRank", iterations=8, depth=2, thread_count=1, allow_writing_files=False, verbose=0)).fit(pool).save_model(f"{out}/shop/catboost.json", format="json", pool=pool)
    shorten(f"{out}/shop/catboost.json")

xg("xgboost-logitraw", objective="binary:logitraw", base_score=.3, target=(y > 2).astype(int))

# Texts that look like numbers, like missing values or like each other.
shops = np.array(["7", "007", "7.0", "NA"])
cities = np.array(["1.1", "1.10", "1.100", "1E2", "100", "1e2", "True", "true", "1", "01", "0", "-0", "NULL", "NaN", "nan", "?", "None", "Oslo", "oslo", " Oslo", "Oslo ", " ",
                   "", "16777216", "16777217", "inf", "0x10", "#x", "1:2", "a;b"])
odd = pd.DataFrame(X, columns=columns[:5]).assign(shop=shops[few], city=cities[many])
texts, textual = odd, odd.assign(shop=odd.shop.astype("category"), city=odd.city.astype("category"))
light("lightgbm-odd", textual)
xg("xgboost-odd", frame=textual)
cat("catboost-odd", odd, one_hot_max_size=100)
cat("catboost-odd-ctr", odd, max_ctr_complexity=1)
