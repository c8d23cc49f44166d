"""measure.py WORK RESULTS measures the scores that our metrics have measured with pytrec_eval and scikit-learn.

pytrec_eval ranks equal scores by name, so it is given the ranking in the order of the file; scikit-learn
takes the mean over all orders of equal scores. Both sum the labels as they are, so they get the gains."""

import csv
import pathlib
import re
import sys

import numpy as np
import pytrec_eval
from sklearn.metrics import ndcg_score

import data
import results

CUTOFFS = (5, 10)
work, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
tests, rows, worst = {}, [], 0.0
columns = ["set", "fold", "method", "seed"] + [f"{o}ndcg@{k}" for o in ("", "ordered-") for k in CUTOFFS]
with open(folder / "runs.csv") as runs:
    for run in csv.DictReader(runs):
        fold = pathlib.Path(run["set"]) / run["fold"]
        method = re.sub(r"[^A-Za-z0-9]+", "-", run["method"])
        scored = work / "runs" / fold / method / f"{run['seed']}.scores"
        if not scored.exists():
            continue  # of another working folder, and measured from there
        if fold not in tests:
            tests[fold] = data.test(pathlib.Path((work / "folds" / f"{fold}.path").read_text()))
        test = tests[fold]
        scores = np.loadtxt(scored)
        judgements, rankings, expected = {}, {}, {k: [] for k in CUTOFFS}
        for q, (a, b) in enumerate(zip(test.offsets[:-1], test.offsets[1:])):
            gains = (np.exp2(test.labels[a:b]) - 1).astype(int)
            if not gains.any():
                continue
            order = np.argsort(-scores[a:b], kind="stable")
            judgements[str(q)] = {str(d): int(g) for d, g in enumerate(gains)}
            rankings[str(q)] = {str(d): float(-rank) for rank, d in enumerate(order)}
            for k in CUTOFFS:
                one = len(gains) == 1  # which scikit-learn refuses
                expected[k].append(1.0 if one else ndcg_score([gains], [scores[a:b]], k=k))
        measures = {"ndcg_cut." + ",".join(map(str, CUTOFFS))}
        evaluated = pytrec_eval.RelevanceEvaluator(judgements, measures).evaluate(rankings)
        for k in CUTOFFS:
            theirs = {
                f"ndcg@{k}": np.mean(expected[k]),
                f"ordered-ndcg@{k}": np.mean([values[f"ndcg_cut_{k}"] for values in evaluated.values()]),
            }
            for name, value in theirs.items():
                worst = max(worst, abs(value - float(run[name])))
                run[name] = f"{value:.8f}"
        rows.append(run)
results.update(folder / "independent.csv", columns, rows)
print(f"largest difference from independent tools: {worst:.1e}")
if worst > 1e-6:
    sys.exit("our metrics and independent tools do not agree")
