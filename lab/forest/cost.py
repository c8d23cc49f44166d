"""What trees cost: the time of one of depth 6 beside CatBoost's, and the memory of training beside LightGBM's.

    python3 forest/cost.py -work WORK [-scale 1] [-trees 7] [-measure time,memory]

The data are synthetic:mslr/trees, 64 bins a feature; each method has a process and a thread of its own. Time: the
methods grow a tree in turn, and wait while others do; seconds are processor time, and the median of the trees after the
first. CatBoost's RMSE, without sampling, has its gradients, which are subtractions, in them, and plrank has not. Memory:
the largest resident size of the process. A virtual environment and all else goes to WORK, the results of
scale 1 to this folder.
"""

import argparse
import csv
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
LAB = HERE.parent
sys.path.append(str(LAB / "fullsize"))
from run import SEED, python

FEATURES, BINS = 136, 64


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-work", type=pathlib.Path, required=True, help="a folder for everything that is made")
    parser.add_argument("-scale", type=float, default=1, help="part of the queries of MSLR-WEB30K")
    parser.add_argument("-trees", type=int, default=7, help="of each method, the first not counted")
    parser.add_argument("-measure", default="time,memory")
    options = parser.parse_args()
    if options.trees < 2:
        parser.error("-trees: want 2 or more, as the first is not counted")
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    arrays = work / f"arrays-{options.scale:g}"
    if not arrays.exists():
        writing = work / "writing"
        shutil.rmtree(writing, ignore_errors=True)
        call("go", "run", "./fullsize/collection", "mslr/trees", options.scale, SEED, writing)
        writing.rename(arrays)
    call("go", "build", "-o", work / "grow", "./forest/grow")
    call("go", "build", "-o", work / "train", "github.com/plrank/plrank/cmd/train")
    interpreter = python(work)
    one = dict(os.environ, GOMAXPROCS="1", OMP_NUM_THREADS="1")
    grow, script = [work / "grow", arrays, FEATURES, BINS], [interpreter, __file__]
    folder = HERE if options.scale == 1 else work
    measures = options.measure.split(",")
    if "time" in measures:
        rows = trees_in_turn({"package forest": grow, "CatBoost": [*script, "CatBoost", arrays]}, options.trees, one)
        write(folder / "time.csv", ("method", "seconds of a tree", "first quartile", "third quartile", "over the forest's"), rows)
    if "memory" not in measures:
        return
    shutil.rmtree(work / "run", ignore_errors=True)  # which plrank does not write over
    # the training split alone, and then what the program train has in memory, too: all splits
    train = [work / "train", "-data", "synthetic:mslr/trees", "-scale", options.scale, "-seed", SEED, "-scorer", "forest", "-bins", BINS,
             "-trees", options.trees, "-epochs", 2, "-threads", 1, "-cache", "off", "-out", work / "run"]  # fmt: skip
    lightgbm = [*script, "LightGBM", arrays, 2 * options.trees]
    rows = [
        ("package forest", "training split", peak(grow, one, "\n" * options.trees)),
        ("LightGBM", "training split", peak([*lightgbm, "train"], one)),
        ("plrank train", "all splits", peak(train, one)),
        ("LightGBM", "all splits", peak([*lightgbm, "train", "vali", "test"], one)),
    ]
    write(folder / "memory.csv", ("method", "raw features in memory", "peak in GB"), rows)


def call(*command):
    subprocess.run([str(word) for word in command], check=True, cwd=LAB)


def trees_in_turn(commands, trees, environment):
    """Starts a process for each method, and has them grow a tree each, in turn."""
    workers = {}
    for name, command in commands.items():
        workers[name] = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        if workers[name].stdout.readline() != "ready\n":
            raise SystemExit(f"{name} ended before its first tree")
    seconds = {name: [] for name in workers}
    for _ in range(trees):
        for name, worker in workers.items():
            worker.stdin.write("\n")
            worker.stdin.flush()
            seconds[name].append(float(worker.stdout.readline()))
    for worker in workers.values():
        worker.communicate()
    rows = []
    for name, of in seconds.items():
        low, middle, high = statistics.quantiles(of[1:], n=4, method="inclusive") if trees > 2 else of[1:] * 3
        ours = middle if not rows else ours
        rows.append((name, f"{middle:.2f}", f"{low:.2f}", f"{high:.2f}", f"{middle / ours:.2f}"))
        print(*rows[-1], sep=", ", flush=True)
    return rows


def peak(command, environment, text=""):
    """The largest resident size of a program, in GB: of Linux, which counts in KiB."""
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=environment)
    process.stdin.write(text)
    process.stdin.close()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command[0]}: exit status {os.waitstatus_to_exitcode(status)}")
    print(pathlib.Path(command[0]).name, *command[1:3], used.ru_maxrss, "KiB", flush=True)
    return f"{used.ru_maxrss * 1024 / 1e9:.2f}"


def write(path, columns, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([columns, *rows])


# The libraries, each in a process of its own.


class Turns:
    """Waits for a line before each tree of CatBoost, and prints the processor seconds of the one before."""

    def __init__(self):
        self.started = None

    def after_iteration(self, _):
        now = time.process_time()
        if self.started is not None:
            print(now - self.started, flush=True)
        more = sys.stdin.readline() != ""
        self.started = time.process_time()
        return more


def catboost(folder):
    import catboost
    from forest import load

    train = load(folder, "train")
    data = catboost.Pool(train.features, train.labels, thread_count=1)
    del train
    data.quantize(border_count=BINS - 1)
    print("ready", flush=True)
    catboost.CatBoost(dict(loss_function="RMSE", bootstrap_type="No", depth=6, iterations=10_000, learning_rate=0.1, thread_count=1, random_seed=1, logging_level="Silent",
                           allow_writing_files=False)).fit(data, callbacks=[Turns()])  # fmt: skip


def lightgbm(folder, trees, names):
    from forest import LightGBM, load

    splits = {name: load(folder, name) for name in names}
    model = LightGBM(dict(num_leaves=63, max_bin=BINS - 1), splits["train"])
    for _ in range(trees):
        model.model.update()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["CatBoost", folder]:
            catboost(pathlib.Path(folder))
        case ["LightGBM", folder, trees, *names]:
            lightgbm(pathlib.Path(folder), int(trees), names)
        case _:
            main()
