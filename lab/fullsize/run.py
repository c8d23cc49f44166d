"""plrank beside LightGBM and XGBoost at the full size of MSLR-WEB30K, one process at a time.

    python3 fullsize/run.py -work DIR [-truth smooth] [-collections 1,2,3] [-methods NAMES] [-scale 1] [-seconds 250]

A collection is synthetic:mslr/TRUTH of that seed. On the first one, each library tries its whole grid; on the others
the setting that was best there on the validation split. Everything goes to DIR, and the results of DIR to this folder
(to the folder TRUTH of it if that is not smooth), in the place of those that were there: they are compared with each other, so they are of one machine. It can be
interrupted at any time: the same command goes on from there.
"""

import argparse
import csv
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
LAB = HERE.parent

GRIDS = {
    "LightGBM": [
        dict(num_leaves=leaves, learning_rate=rate)
        for leaves, rate in itertools.product((31, 63, 127, 255), (0.05, 0.1, 0.2, 0.3))
    ],
    "XGBoost": [dict(max_depth=8, eta=rate) for rate in (0.1, 0.3)],
}
OURS = "plrank"


def main():
    options = arguments()
    work = options.work.resolve()
    for seed in options.collections:
        folder = work / f"collection-{seed}"
        make(folder, seed, dict(truth=options.truth, scale=options.scale), work)
        for method in options.methods:
            if method == OURS:
                once(folder / f"{OURS}.csv", lambda: network(folder, seed, options.threads, work))
                continue
            forest = [python(work), HERE / "forest.py"]
            for cost in ("read", "memory"):
                call = [*forest, cost, method, folder, str(options.threads)]
                once(folder / f"{method}.{cost}.json", lambda: output(call))
            for setting in settings(method, seed, options.collections[0], work):
                call = [*forest, "fit", method, folder, str(options.threads), json.dumps(setting), str(options.seconds)]
                once(folder / f"{method}.{name(setting)}.csv", lambda: output(call))
        if options.remove:
            for path in itertools.chain(folder.glob("letor/*"), folder.glob("*.svm"), folder.glob("*.f32")):
                path.unlink()
    results = HERE if options.truth == "smooth" else HERE / options.truth
    collect(work, results)
    documents = ["../README.md", "fullsize.md"] if results == HERE else [page(results, options)]
    subprocess.run(["go", "run", "./bench", "fullsize", "-results", results, "-write", ",".join(documents)],
                   check=True, cwd=LAB)  # fmt: skip


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-work", type=pathlib.Path, required=True, help="a folder for everything that is made")
    parser.add_argument("-truth", default="smooth", help="what labels come from: smooth, trees, additive or mixture")
    parser.add_argument("-collections", default="1,2,3", help="seeds of the collections, with , between")
    parser.add_argument("-methods", default=",".join([OURS, *GRIDS]), help="names with , between")
    parser.add_argument("-scale", type=float, default=1, help="part of the queries of MSLR-WEB30K")
    parser.add_argument("-seconds", type=float, default=250, help="of training, after which a forest is not grown further")
    parser.add_argument("-threads", type=int, default=2)
    parser.add_argument("-remove", action="store_true", help="remove the files of a collection (8 GB) when it is done")
    options = parser.parse_args()
    options.collections = [int(seed) for seed in options.collections.split(",")]
    options.methods = options.methods.split(",")
    unknown = set(options.methods) - {OURS, *GRIDS}
    if unknown:
        parser.error(f"-methods: no {', '.join(sorted(unknown))}; there are {', '.join([OURS, *GRIDS])}")
    return options


def python(work):
    """The interpreter of the virtual environment, which is made if there is none."""
    folder = work / "env"
    if not (folder / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([folder / "bin" / "pip", "install", "-q", "-r", HERE / "requirements.txt"], check=True)
        (folder / "complete").touch()
    return folder / "bin" / "python"


def once(path, make):
    """Writes a file if there is none."""
    if path.exists():
        return
    print(f"{path.parent.name}: {path.stem}", flush=True)
    text = make()
    path.with_suffix(".part").write_text(text)
    path.with_suffix(".part").rename(path)


def output(call):
    return subprocess.run(call, check=True, stdout=subprocess.PIPE, text=True).stdout


def name(setting):
    return ", ".join(f"{key} {value}" for key, value in setting.items())


def make(folder, seed, kind, work):
    """The text and arrays of a collection."""

    def write():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["go", "run", "./fullsize/collection", f"mslr/{kind['truth']}", str(kind["scale"]), str(seed), folder],
                       check=True, cwd=LAB)  # fmt: skip
        subprocess.run([python(work), HERE / "forest.py", "prepare", folder], check=True)
        return json.dumps(kind)

    folder.mkdir(parents=True, exist_ok=True)
    once(folder / "collection.json", write)
    if dict(dict(truth="smooth"), **json.loads((folder / "collection.json").read_text())) != kind:
        raise SystemExit(f"{folder} has another truth or scale: name another -work")


def settings(method, seed, first, work):
    """The grid on the first collection; on the others what was best there on the validation split."""
    if seed == first:
        return GRIDS[method]

    def best(setting):
        return max(float(row["vali"]) for row in rows(work / f"collection-{first}" / f"{method}.{name(setting)}.csv"))

    return [max(GRIDS[method], key=best)]


def network(folder, seed, threads, work):
    """plrank's curve, by the default recipe; what it cost goes to files beside it."""
    program, run = work / "train", folder / "run"
    subprocess.run(["go", "build", "-o", program, "./cmd/train"], check=True, cwd=LAB.parent)
    subprocess.run(["rm", "-rf", run], check=True)
    command = [program, "-data", folder / "letor", "-seed", str(seed), "-threads", str(threads), "-cache", "off", "-evaluate-test",
               "-report", "ndcg@10", "-out", run]  # fmt: skip
    started, begun = time.perf_counter(), None
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    log = []
    for line in process.stderr:
        log.append(line)
        if begun is None and re.search(r"epoch +1/", line):
            begun = time.perf_counter()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit("".join(log))
    epochs = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    read = dict(seconds=begun - started - epochs[0]["seconds"])
    (folder / f"{OURS}.read.json").write_text(json.dumps(read))
    (folder / f"{OURS}.memory.json").write_text(json.dumps(dict(memory_mb=used.ru_maxrss / 1024)))
    lines, seconds = ["step,seconds,vali,test"], 0
    for epoch in epochs:
        seconds += epoch["trainSeconds"]
        lines.append(f"{epoch['steps']},{seconds:.2f},{epoch['vali']['ndcg@10']:.6f},{epoch['test']['ndcg@10']:.6f}")
    return "\n".join(lines) + "\n"


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def page(results, options):
    """The document of another truth, with places for the tables."""
    places = [f"<!-- fullsize-{table} -->\n<!-- /fullsize-{table} -->" for table in ("end", "training", "text", "costs")]
    given = dict(truth=options.truth, collections=",".join(map(str, options.collections)), methods=",".join(options.methods),
                 scale=f"{options.scale:g}", seconds=f"{options.seconds:g}", threads=options.threads)  # fmt: skip
    made = " ".join(["python3 fullsize/run.py -work WORK", *(f"-{name} {value}" for name, value in given.items())])
    head = f"# synthetic:mslr/{options.truth} at scale {options.scale:g}\n\nAs [fullsize](../README.md) describes, by\n\n    {made}"
    pictures = [f"![NDCG@10 over {by}]({name}.svg)" for name, by in (("training", "seconds of training"), ("text", "seconds from text on disk"))]
    (results / "README.md").write_text("\n\n".join([head, *places, *pictures]) + "\n")
    return str(results / "README.md")


def collect(work, results):
    """Gathers curves and costs of all collections."""
    results.mkdir(exist_ok=True)
    with open(results / "curves.csv", "w", newline="") as curves, open(results / "costs.csv", "w", newline="") as costs:
        curve, cost = csv.writer(curves, lineterminator="\n"), csv.writer(costs, lineterminator="\n")
        curve.writerow(["collection", "method", "setting", "step", "seconds", "vali", "test"])
        cost.writerow(["collection", "method", "read_seconds", "memory_mb"])
        for folder in sorted(work.glob("collection-*")):
            seed = folder.name.split("-")[1]
            for path in sorted(folder.glob("*.csv")):
                method, _, setting = path.stem.partition(".")
                for row in rows(path):
                    curve.writerow([seed, method, setting, *row.values()])
            for path in sorted(folder.glob("*.read.json")):
                method = path.name.split(".")[0]
                read, memory = (json.loads((folder / f"{method}.{what}.json").read_text()) for what in ("read", "memory"))
                cost.writerow([seed, method, f"{read['seconds']:.1f}", f"{memory['memory_mb']:.0f}"])


if __name__ == "__main__":
    main()
