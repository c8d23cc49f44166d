"""Writes small models of RankLib, of Solr, and of the plugins of Elasticsearch and OpenSearch, and the scores that they give.

    python -m venv v && v/bin/pip install xgboost-cpu==3.2 pandas
    mvn dependency:get -Dartifact=com.o19s:RankyMcRankFace:0.1.1              # RankLib, into the repository of Maven
    mvn dependency:copy-dependencies -DoutputDirectory=JARS                   # of a project on org.apache.solr:solr-ltr:8.11.2
    v/bin/python foreign/engines.py ../forest/foreign/testdata/engines RANKLIB.jar JARS  # the test data of package foreign

For each model NAME there is NAME.txt or .json, and NAME.csv with features and, last, the score. Rows have features without a
value, zeros, and values at thresholds and next to them. The scores of the plugins are those of XGBoost: they compute the same.
"""
import json, os, re, subprocess, sys, tempfile
import numpy as np, pandas as pd, xgboost as xgb

out, ranklib, solr = sys.argv[1:4]
here, folder = os.path.dirname(os.path.abspath(__file__)), tempfile.mkdtemp()
rng = np.random.default_rng(3)
IDS = [1, 2, 4, 5, 9]


def draw(rows, thresholds=()):
    """Values of the features, many of them at thresholds or the next number."""
    v = np.column_stack([rng.random(rows), rng.normal(size=rows) * 3, rng.choice([0, 0, 1, 2, 5], rows), rng.exponential(1e-4, rows),
                         rng.random(rows) * 1e4])
    v = v.astype(np.float32)
    if len(thresholds):
        t = np.float32(thresholds)
        t = np.concatenate([t, np.nextafter(t, np.float32(np.inf)), np.nextafter(t, np.float32(-np.inf))])
        v = np.where(rng.random(v.shape) < .5, rng.choice(t, v.shape), v)
    v[:, :3][rng.random((rows, 3)) < .2] = np.nan  # the last ones are always there: RankLib does not look beyond the end of a line
    return v


def numbers(text, pattern):
    return [float(w) for w in re.findall(pattern, text)]


def text_of(v):
    return np.format_float_scientific(v, unique=True, trim="-")


def write(name, ids, values, scores):
    frame = pd.DataFrame(values, columns=[str(i) for i in ids]).map(lambda v: "" if np.isnan(v) else text_of(v))
    frame["score"] = [repr(float(s)) for s in scores]
    frame.to_csv(f"{out}/{name}.csv", index=False)


def letor(path, values, labels, queries):
    with open(path, "w") as f:
        for v, y, q in zip(values, labels, queries):
            f.write(f"{y} qid:{q} " + " ".join(f"{i}:{text_of(x)}" for i, x in zip(IDS, v) if x == x) + "\n")


def java(*args):
    return subprocess.run(["java", *args], check=True, capture_output=True, text=True, cwd=folder).stdout


def evaluator(*args):
    java("-cp", os.path.abspath(ranklib), "ciir.umass.edu.eval.Evaluator", *args)


X = draw(320)
F = np.nan_to_num(X)
y = np.clip(2 * F[:, 0] + .5 * F[:, 1] - .3 * F[:, 2] + 3e3 * F[:, 3] + F[:, 4] / 1e4 + rng.normal(size=320) * .5 + 1, 0, 4).astype(int)
letor(f"{folder}/train", X, y, np.repeat(np.arange(40), 8))
for name, flags in {
    "lambdamart": "-ranker 6 -tree 8 -leaf 6", "mart": "-ranker 0 -tree 6 -leaf 5", "forests": "-ranker 8 -bag 5 -leaf 8 -frate 0.7",
    "linear": "-ranker 9", "coordinate": "-ranker 4 -i 5 -r 2", "adarank": "-ranker 3 -round 30",
}.items():
    path = os.path.abspath(f"{out}/ranklib-{name}.txt")
    evaluator("-train", "train", "-metric2t", "NDCG@5", "-save", path, *flags.split())
    text = open(path).read()
    rows = draw(30, numbers(text, r"<threshold> (\S+)"))
    letor(f"{folder}/rows", rows, [0] * 30, [1] * 30)
    evaluator("-load", path, "-rank", "rows", "-score", "scores")
    scores = [float(line.split()[2]) for line in open(f"{folder}/scores")]
    pattern = r"<feature> (\d+)" if "<feature>" in text else r"(?m)(?:^| )(\d+):(?!0\.0\b)"
    used = {int(i) for i in re.findall(pattern, re.sub(r"(?m)^##.*$", "", text))} - {0}
    missing = sorted(used - set(IDS))
    values = np.column_stack([rows] + [np.full(30, np.nan)] * len(missing))
    order = [i for i in np.argsort(IDS + missing) if (IDS + missing)[i] in used]
    write(f"ranklib-{name}", [(IDS + missing)[i] for i in order], values[:, order], scores)

columns = ["title score", "body", "clicks", "age", "price"]


def boosted(name, names, wrap):
    """A dump of XGBoost, and its margins. The base score is 0, as a dump has none."""
    params = dict(objective="rank:ndcg", max_depth=3, eta=.3, base_score=0, nthread=1)
    train = xgb.DMatrix(X, label=y, feature_names=names, qid=np.repeat(np.arange(40), 8))
    booster = xgb.train(params, train, 6)
    trees = booster.get_dump(dump_format="json", with_stats=wrap is None)
    rows = draw(30, numbers("".join(trees), r'"split_condition": (\S+?),'))
    rows[rng.random(rows.shape) < .15] = np.nan
    text = "[\n" + ",\n".join(trees) + "\n]"
    with open(f"{out}/{name}.json", "w") as f:
        f.write(text if wrap is None else json.dumps(wrap(text), indent=1))
    used = sorted({w for w in re.findall(r'"split": "([^"]*)"', text)})
    at = [(names or [f"f{i}" for i in range(5)]).index(w) for w in used]
    return at, used, rows, booster.predict(xgb.DMatrix(rows, feature_names=names), output_margin=True), trees


at, used, rows, scores, _ = boosted("xgboost-dump", None, None)
write("xgboost-dump", [a + 1 for a in at], rows[:, at], scores)
at, used, rows, scores, trees = boosted("elasticsearch-trees", columns, lambda text: {"model": {"name": "boosted", "model": {
    "type": "model/xgboost+json", "definition": '{"objective": "rank:ndcg", "splits": ' + text + "}"}}})
order = list(dict.fromkeys(re.findall(r'"split": "([^"]*)"', "".join(trees))))  # features have the order in which the trees name them
write("elasticsearch-trees", order, rows[:, [columns.index(w) for w in order]], scores)


def node(n):
    """A node of Solr of one of XGBoost's dump."""
    if "leaf" in n:
        return {"value": str(n["leaf"])}
    return {"feature": n["split"], "threshold": str(n["split_condition"]), "left": node(n["children"][0]), "right": node(n["children"][1])}


def engine(name, kind, params, thresholds):
    model = {"class": "org.apache.solr.ltr.model." + kind, "name": name, "features": [{"name": c} for c in columns], "params": params}
    with open(f"{out}/{name}.json", "w") as f:
        json.dump(model, f, indent=1)
    rows = draw(30, thresholds)
    pd.DataFrame(rows, columns=columns).to_csv(f"{folder}/rows.csv", index=False)
    order = sorted(range(5), key=lambda i: len(columns[i])) if kind == "LinearModel" else list(range(5))  # of the columns here
    scores = java("-cp", os.path.abspath(solr) + "/*", f"{here}/SolrScores.java", os.path.abspath(f"{out}/{name}.json"), "rows.csv")
    write(name, [columns[i] for i in order], rows[:, order], scores.split())


thresholds = np.float32(numbers("".join(trees), r'"split_condition": (\S+?),'))
engine("solr-trees", "MultipleAdditiveTreesModel",
       {"trees": [{"weight": str(w), "root": node(json.loads(t))} for w, t in zip([1, .5, 1.25, -1, .1, 3], trees)]},
       np.concatenate([thresholds, thresholds + np.float32(1e-6)]))
engine("solr-linear", "LinearModel", {"weights": dict(zip(columns, [.5, -1.25, 3, 100, 1e-3]))}, [])
