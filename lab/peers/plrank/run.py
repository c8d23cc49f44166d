"""Our estimates and a training run beside the authors' code on the same data.

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
    subprocess.run(["go", "run", "./peers/plrank/ours", work], check=True, cwd=LAB)
    RESULTS.mkdir(parents=True, exist_ok=True)
    os.environ["OMP_NUM_THREADS"] = "1"  # of NumPy, whose products here are small
    for name in ("estimates", "training"):
        rows = []
        for year, code in (("2021", options.code2021), ("2022", options.code2022)):
            authors = [env / "bin" / "python", HERE / "authors.py", name, work, code.resolve(), year]
            done = subprocess.run(authors, check=True, stdout=subprocess.PIPE, text=True)
            head, *lines = done.stdout.splitlines()
            rows += lines
        (RESULTS / f"{name}.csv").write_text("\n".join([head, *rows]) + "\n")


if __name__ == "__main__":
    main()
