"""Our estimates and training runs beside the authors' code on the same data.

    python3 peers/plrank/run.py -work DIR -code2021 COPY -code2022 COPY

The copies are of github.com/HarrieO/2021-SIGIR-plackett-luce and 2022-SIGIR-plackett-luce.
"""

import argparse
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
LAB = HERE.parents[1]
RESULTS = LAB / "reproduce" / "authors"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-work", type=pathlib.Path, required=True, help="a folder for everything that is made")
    for year in ("2021", "2022"):
        parser.add_argument("-code" + year, type=pathlib.Path, required=True, help="a copy of the authors' repository")
    options = parser.parse_args()
    work, env = options.work.resolve(), options.work.resolve() / "env"
    if not (env / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", env], check=True)
        subprocess.run([env / "bin" / "pip", "install", "-q", "-r", HERE / "requirements.txt"], check=True)
        (env / "complete").touch()
    for part in ("estimates", "training", "runs", "fairness"):
        subprocess.run(["go", "run", "./peers/plrank/ours", work, part], check=True, cwd=LAB)
    RESULTS.mkdir(parents=True, exist_ok=True)
    os.environ["OMP_NUM_THREADS"] = "1"  # of NumPy, whose products here are small
    os.environ["TF_NUM_INTRAOP_THREADS"] = os.environ["TF_NUM_INTEROP_THREADS"] = "1"

    def lines(script, *arguments):
        done = subprocess.run([env / "bin" / "python", HERE / script, *arguments], check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout.splitlines()

    code2021, code2022 = options.code2021.resolve(), options.code2022.resolve()
    found = {name: lines("authors.py", name, work, code2021, "2021") for name in ("estimates", "training", "losses", "spread", "sharing")}
    for name in ("estimates", "training"):
        found[name] += lines("authors.py", name, work, code2022, "2022")[1:]
    found["fairness"] = (work / "fairness.csv").read_text().splitlines()
    # The script itself prints, too.
    script = lines("script.py", work, code2021, "10", "PL_rank_2", "lambdaloss")
    found["fairness"] += [line.removeprefix("row,") for line in script if line.startswith("row,")]
    for name, rows in found.items():
        (RESULTS / f"{name}.csv").write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
