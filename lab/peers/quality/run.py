"""Runs every library on every fold, one process at a time, and goes on where it was interrupted.

    python3 peers/quality/run.py -data DIR -work DIR [-methods NAMES] [-sets NAMES] [-pl-rank DIR]

DIR of -data holds a folder for each collection: train.txt, vali.txt and test.txt, or Fold1, Fold2, …
Everything goes to the folder -work: virtual environments, trials, scores; and the results to peers, where
those of other sets, folds and methods stay as they are.
"""

import argparse
import csv
import json
import os
import pathlib
import platform
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
LAB = HERE.parents[1]
RESULTS = LAB / "peers"
SEEDS = (1, 2, 3)

# The methods by environment, the cheap ones first. The requirements of an environment are in NAME.txt.
ENVIRONMENTS = {
    "trees": [
        "best single feature",
        "ridge regression",
        "LightGBM lambdarank",
        "LightGBM rank_xendcg",
        "XGBoost rank:ndcg",
        "XGBoost rank:pairwise",
        "CatBoost QueryRMSE",
        "CatBoost YetiRank",
        "CatBoost StochasticRank",
        "CatBoost YetiRankPairwise",
    ],
    "rax": ["Rax softmax", "Rax ApproxNDCG", "Rax LambdaLoss", "Rax Gumbel ApproxNDCG"],
    "torch": ["PL-Rank-3, authors' code", "PL-Rank-2, authors' code"],
    "tensorflow": ["TF-Ranking ApproxNDCG"],
}
OURS = "plrank"  # the default recipe, without settings to pick
FOR_TABLES = [m for m in ENVIRONMENTS["trees"] if re.match("LightGBM|XGBoost|CatBoost (QueryRMSE|YetiRank$)", m)] + [OURS]


def main():
    options = arguments()
    work = options.work.resolve()
    os.environ.update(JAX_COMPILATION_CACHE_DIR=str(work / "jax"), JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS="0")
    os.environ["PL_RANK"] = str(options.pl_rank.resolve()) if options.pl_rank else ""
    for collection in sorted(p for p in options.data.resolve().iterdir() if p.is_dir()):
        if options.sets and collection.name not in options.sets:
            continue
        import_folds(collection, work)
    for method in options.methods:
        for fold in sorted((work / "folds").glob("*/*.path")):
            if not options.sets or fold.parent.name in options.sets:
                run(method, fold, work)
    measure(work)


def arguments():
    everything = [OURS] + sum(ENVIRONMENTS.values(), [])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-data", type=pathlib.Path, required=True, help="a folder of collections")
    parser.add_argument("-work", type=pathlib.Path, required=True, help="a folder for everything that is made")
    parser.add_argument("-methods", default=";".join(everything), help="names with ; between: " + "; ".join(everything))
    parser.add_argument("-sets", default="", help="names of collections with , between; all of -data if empty")
    parser.add_argument("-pl-rank", type=pathlib.Path, help="a copy of github.com/HarrieO/2022-SIGIR-plackett-luce")
    options = parser.parse_args()
    options.methods = [m for m in options.methods.split(";") if m]
    if not options.pl_rank:
        print("without -pl-rank, the methods of the authors' code are left out", file=sys.stderr)
        options.methods = [m for m in options.methods if "authors' code" not in m]
    options.sets = [s for s in options.sets.split(",") if s]
    unknown = set(options.methods) - set(everything)
    if unknown:
        parser.error(f"-methods: no {', '.join(sorted(unknown))}; there are {', '.join(everything)}")
    return options


def python(environment, work):
    """The interpreter of a virtual environment, which is made if there is none."""
    folder = work / "env" / environment
    if not (folder / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([folder / "bin" / "pip", "install", "-q", "-r", HERE / f"{environment}.txt"], check=True)
        (folder / "complete").touch()
    return folder / "bin" / "python"


def import_folds(collection, work):
    """Writes where the folds of a collection are, and splits it where it has no validation split."""
    subprocess.run([python("trees", work), HERE / "prepare.py", collection, work / "folds" / collection.name], check=True)


def run(method, fold, work):
    """Picks the setting of a method for a fold, and fits it for every seed."""
    place = work / "runs" / fold.parent.name / fold.stem / re.sub(r"[^A-Za-z0-9]+", "-", method)
    if all((place / f"{seed}.json").exists() for seed in SEEDS):
        return
    folder, setting = fold.read_text(), "{}"
    table = (pathlib.Path(folder) / "train.csv.gz").exists()
    if method not in FOR_TABLES if table else method == "CatBoost QueryRMSE":
        return
    place.mkdir(parents=True, exist_ok=True)
    print(f"{fold.parent.name} {fold.stem}: {method}", flush=True)
    if method != OURS:
        environment = next(e for e, methods in ENVIRONMENTS.items() if method in methods)
        fit = [python(environment, work), HERE / "fit.py"]
        subprocess.run([*fit, "search", method, folder, place / "trials.csv"], check=True)
        with open(place / "trials.csv") as trials:
            setting = max(csv.DictReader(trials), key=lambda trial: float(trial["vali"]))["setting"]
    for seed in SEEDS:
        if (place / f"{seed}.json").exists():
            continue
        if method == OURS:
            command = [sys.executable, HERE / "plrank.py", folder, work, str(seed)]
        else:
            command = [*fit, "final", method, folder, setting, str(seed)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        (place / f"{seed}.scores").write_text(done.stdout)
        cost = json.loads(done.stderr.strip().splitlines()[-1])
        row = dict(set=fold.parent.name, fold=fold.stem, method=method, seed=seed, setting=setting, machine=machine(), **cost)
        (place / f"{seed}.json").write_text(json.dumps(row))


def machine():
    """The name of the processor."""
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    names = re.search(r"^model name\s*: (.*)$", cpuinfo.read_text() if cpuinfo.exists() else "", re.MULTILINE)
    return names.group(1) if names else platform.processor() or platform.machine()


def measure(work):
    """Measures the scores with our metrics and independent tools, and makes the tables of the documents."""
    bench = ["go", "run", "./bench", "peers"]
    subprocess.run([*bench, "-measure", work, "-results", RESULTS], check=True, cwd=LAB)
    subprocess.run([python("trees", work), HERE / "measure.py", work, RESULTS], check=True)
    subprocess.run([*bench, "-results", RESULTS, "-write", "../README.md,peers.md"], check=True, cwd=LAB)


if __name__ == "__main__":
    main()
