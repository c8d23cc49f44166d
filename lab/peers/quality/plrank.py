"""plrank.py FOLDER WORK SEED trains the default recipe with cmd/train, as fit.py final does with the others.

The training time is the processor time of the whole command, reading and test figures included."""

import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys

OUTCOMES = {"position"}  # as in data.py, which needs numpy

folder, work, seed = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
lab = pathlib.Path(__file__).resolve().parents[2]
programs, run = work / "bin", work / "plrank-run"
programs.mkdir(exist_ok=True)
subprocess.run(["go", "build", "-o", programs, "./cmd/train"], check=True, cwd=lab.parent)
subprocess.run(["go", "build", "-o", programs, "./peers/quality/score"], check=True, cwd=lab)
shutil.rmtree(run, ignore_errors=True)

train = [programs / "train", "-data", folder, "-seed", seed, "-threads", "1", "-cache", "off", "-out", run]
test = folder / "test.txt"
if (folder / "test.csv.gz").exists():
    test = folder / "test.csv.gz"
    with gzip.open(test, "rt") as text:
        columns = text.readline().strip().split(",")
    if any(c.endswith("_c") for c in columns):
        train += ["-categorical", "*_c"]
    if outcomes := OUTCOMES.intersection(columns):
        train += ["-ignore", ",".join(outcomes)]
process = subprocess.Popen(train, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
if status:
    raise SystemExit(f"{' '.join(map(str, train))}: exit status {os.waitstatus_to_exitcode(status)}")

score = [programs / "score", run / "model.npz", test]
done = subprocess.run(score, check=True, capture_output=True, text=True)
sys.stdout.write(done.stdout)
cost = dict(
    train_seconds=used.ru_utime + used.ru_stime,
    predict_seconds=float(done.stderr.split()[-1]),
    memory_mb=used.ru_maxrss / 1024,
)
sys.stderr.write("\n" + json.dumps(cost) + "\n")
