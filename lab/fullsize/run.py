"""plrank beside forests at the full size of MSLR-WEB30K, on labels of several kinds, one process and one thread at a time.

    python3 fullsize/run.py -work WORK [-truths smooth,trees,additive,mixture] [-methods NAMES] [-scale 1] [-seconds 1500]

Everything goes to WORK, and the results of WORK to this folder, in the place of those of the same truth and method.
It can be interrupted at any time: the same command goes on from there, with the curve that was interrupted from its
beginning. To measure a method again, remove its CSV
files in WORK.
"""

import argparse
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
LAB = HERE.parent
SEED = 1  # of the collections, and of plrank's training

SETTINGS = {
    "LightGBM": dict(num_leaves=63, learning_rate=0.2),
    "XGBoost": dict(max_depth=6, eta=0.3),
    "CatBoost": dict(loss_function="QueryRMSE", depth=6, learning_rate=0.3),
}
TRUTHS = ("smooth", "trees", "additive", "mixture")


def main():
    options = arguments()
    work = options.work.resolve()
    for truth in options.truths:
        folder = work / f"{truth}-{options.scale:g}"
        folder.mkdir(parents=True, exist_ok=True)
        for method in options.methods:
            setting = SETTINGS.get(method, {})
            path = folder / f"{method}.{name(setting)}.csv"
            if path.exists():
                continue
            print(f"{truth}: {path.stem}", flush=True)
            if method == "plrank":
                ours(truth, options.scale, folder)
                continue
            part = path.with_suffix(".part")
            with open(part, "w") as out:
                forest(method, setting, truth, options, folder, out)
            part.rename(path)
        shutil.rmtree(folder / "arrays", ignore_errors=True)
    collect(work, options.scale)
    subprocess.run(["go", "run", "./bench", "fullsize", "-write", "fullsize.md"], check=True, cwd=LAB)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-work", type=pathlib.Path, required=True, help="a folder for everything that is made")
    parser.add_argument("-truths", default=",".join(TRUTHS), help="what labels come from, with , between")
    parser.add_argument("-methods", default=",".join(["plrank", *SETTINGS]), help="names with , between")
    parser.add_argument("-scale", type=float, default=1, help="part of the queries of MSLR-WEB30K")
    parser.add_argument("-seconds", type=float, default=1500, help="of training, after which a forest is not grown further")
    options = parser.parse_args()
    for option, known in (("truths", TRUTHS), ("methods", ("plrank", *SETTINGS))):
        names = getattr(options, option).split(",")
        setattr(options, option, names)
        if unknown := set(names) - set(known):
            parser.error(f"-{option}: no {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if options.scale < 0.05:
        parser.error("-scale: want 0.05 or more, as below 100,000 documents plrank's default is one model")
    return options


def name(setting):
    return ", ".join(f"{key} {value}" for key, value in setting.items())


def python(work):
    """The interpreter of the virtual environment, which is made if there is none."""
    folder = work / "env"
    if not (folder / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([folder / "bin" / "pip", "install", "-q", "-r", HERE / "requirements.txt"], check=True)
        (folder / "complete").touch()
    return folder / "bin" / "python"


def forest(method, setting, truth, options, folder, out):
    """The curve of a forest; the arrays of the collection are made if there are none."""
    arrays = folder / "arrays"
    if not arrays.exists():
        writing = folder / "writing"
        shutil.rmtree(writing, ignore_errors=True)
        make = ["go", "run", "./fullsize/collection", f"mslr/{truth}", str(options.scale), str(SEED), writing]
        subprocess.run(make, check=True, cwd=LAB)
        writing.rename(arrays)
    call = [python(folder.parent), HERE / "forest.py", method, arrays, json.dumps(setting), str(options.seconds)]
    subprocess.run(call, check=True, stdout=out)


def ours(truth, scale, folder):
    """The curves of plrank's default: of its forest, of its network, and of both: the forest's, and the mixture at the end."""
    program, run, log = folder.parent / "train", folder / "run", folder / "run.log"
    result = run / "result.json"
    if not result.exists() or json.loads(result.read_text())["interrupted"]:
        subprocess.run(["go", "build", "-o", program, "./cmd/train"], check=True, cwd=LAB.parent)
        shutil.rmtree(run, ignore_errors=True)
        command = [program, "-data", f"synthetic:mslr/{truth}", "-scale", str(scale), "-seed", str(SEED), "-threads", "1", "-cache", "off",
                   "-evaluate-test", "-report", "ndcg@10", "-out", run]  # fmt: skip
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        with open(log, "w") as out:
            for line in process.stderr:
                print(processor_seconds(process.pid), line, end="", file=out, flush=True)
        if process.wait():
            raise SystemExit(log.read_text())
    used = [[float(line.split()[0]) for line in part.splitlines() if re.search(r" epoch +\d+/", line)]
            for part in re.split(r"model \d of \d", log.read_text())[1:]]  # fmt: skip
    forest, network = (curve(run / f"model{i}" / "metrics.jsonl", part) for i, part in enumerate(used, 1))
    mixed = json.loads(result.read_text())["metrics"]
    end = (forest[-1][0] + network[-1][0], forest[-1][1] + network[-1][1], *(mixed[split]["ndcg@10"] for split in ("vali", "test")))
    for name, rows in (("plrank network", network), ("plrank forest", forest), ("plrank", [*forest, end])):
        with open(folder / f"{name}..csv", "w") as out:
            write = csv.writer(out, lineterminator="\n")
            write.writerow(["step", "seconds", "vali", "test"])
            write.writerows([step, f"{seconds:.2f}", f"{vali:.6f}", f"{test:.6f}"] for step, seconds, vali, test in rows)


def curve(history, used):
    """Steps, processor seconds and NDCG@10 of both splits after each epoch, given the processor seconds of the process.

    The figures of plrank are seconds by the clock. All epochs of a model have about the same steps, so that each has an equal part of
    the processor time, whatever share of a core it had."""
    epochs = [json.loads(line) for line in history.read_text().splitlines()]
    share = (used[-1] - used[0]) / sum(epoch["seconds"] for epoch in epochs[1:])
    seconds = share * sum(epoch["trainSeconds"] for epoch in epochs) / len(epochs)
    return [(epoch["steps"], number * seconds, *(epoch[split]["ndcg@10"] for split in ("vali", "test"))) for number, epoch in enumerate(epochs, 1)]


def processor_seconds(process):
    """What a process has used so far, as Linux counts it: user and system time, fields 14 and 15 of proc_pid_stat(5)."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def collect(work, scale):
    """Gathers the curves in curves.csv, which keeps those of other truths and methods."""
    path, columns = HERE / "curves.csv", ["truth", "method", "setting", "step", "seconds", "vali", "test"]
    rows = []
    for measured in sorted(work.glob(f"*-{scale:g}/*.csv")):
        truth, (method, _, setting) = measured.parent.name.rpartition("-")[0], measured.stem.partition(".")
        with open(measured, newline="") as file:
            rows += [dict(row, truth=truth, method=method, setting=setting) for row in csv.DictReader(file)]
    made = {(row["truth"], row["method"]) for row in rows}
    with open(path, newline="") as file:
        rows += [row for row in csv.DictReader(file) if (row["truth"], row["method"]) not in made]
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda row: (TRUTHS.index(row["truth"]), row["method"], row["setting"])))


if __name__ == "__main__":
    main()
