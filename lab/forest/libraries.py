"""Processor seconds of a whole tree, with its gradients, beside LightGBM, XGBoost and CatBoost, and the memory of training.

    python3 forest/libraries.py WORK [TREES] [SETTING…]

The data are made: 400,080 documents of 136 features, queries of 120, labels 0 to 4. Each method has a process and a thread of its
own; they grow a tree in turn, and wait while others do. Seconds are the least of TREES (8) trees after the first: other programs on
the machine can only add to them. Pairs of lambdarank have a document within the first 30, as is the default of LightGBM. The Python
has lightgbm, xgboost and catboost. Results go to libraries.csv here.
"""

import csv
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
WIDTH, QUERIES, SIZE = 136, 3334, 120
SETTINGS = {  # bins, leaves (0: depth 6, symmetric in plrank and CatBoost), loss, methods
    "depth 6, 64 bins": (64, 0, "mse", ["plrank", "XGBoost", "CatBoost"]),
    "depth 6, 255 bins": (255, 0, "mse", ["plrank", "XGBoost", "CatBoost"]),
    "63 leaves, 64 bins": (64, 63, "mse", ["plrank", "LightGBM", "XGBoost"]),
    "63 leaves, 255 bins": (255, 63, "mse", ["plrank", "LightGBM", "XGBoost"]),
    "lambdarank, 63 leaves, 64 bins": (64, 63, "lambdarank", ["plrank", "LightGBM", "XGBoost"]),
    "ranknet, 63 leaves, 64 bins": (64, 63, "ranknet", ["plrank", "XGBoost"]),
}


def main():
    work, trees = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 8
    if not (work / "train.features").exists():
        make(work)
    subprocess.run(["go", "build", "-o", work / "trees", "./forest/trees"], check=True, cwd=HERE.parent)
    rows = []
    for name in sys.argv[3:] or SETTINGS:
        bins, leaves, loss, methods = SETTINGS[name]
        workers = {}
        for method in methods:
            command = [sys.executable, __file__, "worker", method, work, bins, leaves, loss]
            if method == "plrank":
                command = [work / "trees", work, WIDTH, bins, leaves, loss, 30]
            environment = {"GOMAXPROCS": "1", "OMP_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"}
            workers[method] = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
            if workers[method].stdout.readline() != "ready\n":
                raise SystemExit(f"{method} ended before its first tree")
        seconds, peak = {m: [] for m in methods}, {}
        for _ in range(trees + 1):
            for method, worker in workers.items():
                worker.stdin.write("\n")
                worker.stdin.flush()
                seconds[method].append(float(worker.stdout.readline()))
        for method, worker in workers.items():
            status = pathlib.Path(f"/proc/{worker.pid}/status").read_text()
            peak[method] = int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e9
            worker.kill()
            worker.wait()
        for method in methods:
            rows.append((name, method, f"{min(seconds[method][1:]):.3f}", f"{sorted(seconds[method][1:])[trees // 2]:.3f}", f"{peak[method]:.2f}"))
            print(*rows[-1], sep=", ", flush=True)
    with open(HERE / "libraries.csv" if len(sys.argv) < 4 else work / "libraries.csv", "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("trees", "method", "least seconds", "median", "peak GB"), *rows])


def make(work):
    import numpy as np

    work.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(1)
    x = rng.standard_normal((QUERIES * SIZE, WIDTH), dtype=np.float32)
    truth = x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + np.maximum(x[:, 3], x[:, 4]) + 0.5 * rng.standard_normal(len(x), dtype=np.float32)
    labels = np.searchsorted(np.quantile(truth, [0.5, 0.75, 0.9, 0.97]), truth).astype(np.float32)
    x.tofile(work / "train.features")
    labels.tofile(work / "train.labels")
    (np.arange(QUERIES + 1, dtype=np.int64) * SIZE).tofile(work / "train.offsets")


def turns():
    """Says that a method is ready, and yields for each tree: the time between is printed."""
    print("ready", flush=True)
    for _ in sys.stdin:
        started = time.process_time()
        yield
        print(time.process_time() - started, flush=True)


def worker(method, work, bins, leaves, loss):
    import numpy as np

    labels = np.fromfile(work / "train.labels", np.float32)
    x = np.fromfile(work / "train.features", np.float32).reshape(len(labels), WIDTH)
    sizes, common = [SIZE] * QUERIES, dict(learning_rate=0.1)
    if method == "LightGBM":
        import lightgbm

        parameters = dict(common, objective={"mse": "regression"}.get(loss, loss), num_leaves=leaves, max_bin=bins - 1, metric="none", num_threads=1,
                          verbose=-1, lambdarank_truncation_level=30)  # fmt: skip
        model = lightgbm.Booster(parameters, lightgbm.Dataset(x, labels, group=sizes, params=parameters).construct())
        del x
        for _ in turns():
            model.update()
    elif method == "XGBoost":
        import xgboost

        objective = {"mse": "reg:squarederror", "lambdarank": "rank:ndcg", "ranknet": "rank:pairwise"}[loss]
        shape = dict(grow_policy="lossguide", max_leaves=leaves, max_depth=0) if leaves else dict(max_depth=6)
        pairs = {"mse": {}, "lambdarank": dict(lambdarank_pair_method="topk", lambdarank_num_pair_per_sample=30)}.get(
            loss, dict(lambdarank_pair_method="topk", lambdarank_num_pair_per_sample=SIZE))  # fmt: skip
        data = xgboost.QuantileDMatrix(x, labels, qid=None if loss == "mse" else np.repeat(np.arange(QUERIES), SIZE), max_bin=bins)
        del x
        model = xgboost.Booster(dict(common, **shape, **pairs, objective=objective, tree_method="hist", max_bin=bins, nthread=1), [data])
        for i, _ in enumerate(turns()):
            model.update(data, i)
    else:
        import catboost

        class Turns:
            def __init__(self):
                self.turns = turns()
                next(self.turns)

            def after_iteration(self, _):
                return next(self.turns, False) is None

        data = catboost.Pool(x, labels, thread_count=1)
        data.quantize(border_count=bins - 1)
        del x
        catboost.CatBoost(dict(common, loss_function="RMSE", bootstrap_type="No", depth=6, iterations=10_000, thread_count=1, random_seed=1,
                               logging_level="Silent", allow_writing_files=False)).fit(data, callbacks=[Turns()])  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1] == "worker":
        worker(sys.argv[2], pathlib.Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]), sys.argv[6])
    else:
        main()
