"""Our estimates and training runs beside the authors' code on the same data.

    python3 peers/plrank/run.py -work DIR -code2021 COPY -code2022 COPY

The copies are of github.com/HarrieO/2021-SIGIR-plackett-luce and 2022-SIGIR-plackett-luce. What each part prints is kept
in a folder of DIR for these numbers of runs: a call that was interrupted goes on with the first part that is missing.
"""

import argparse
import os
import pathlib
import resource
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
LAB = HERE.parents[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-work", type=pathlib.Path, required=True, help="a folder for everything that is made")
    for year in ("2021", "2022"):
        parser.add_argument("-code" + year, type=pathlib.Path, required=True, help="a copy of the authors' repository")
    parser.add_argument("-runs", type=int, default=20, help="of each loss; five times as many where all is drawn anew for the table of spreads")
    parser.add_argument("-fair-runs", type=int, default=10, help="of each row of the table for fairness")
    parser.add_argument("-results", type=pathlib.Path, default=LAB / "reproduce" / "authors", help="a folder for the CSV files")
    options = parser.parse_args()
    work, env = options.work.resolve() / f"{options.runs}-{options.fair_runs}", options.work.resolve() / "env"
    work.mkdir(parents=True, exist_ok=True)
    if not (env / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", env], check=True)
        subprocess.run([env / "bin" / "pip", "install", "-q", "-r", HERE / "requirements.txt"], check=True)
        (env / "complete").touch()
    options.results.mkdir(parents=True, exist_ok=True)
    os.environ["OMP_NUM_THREADS"] = "1"  # of NumPy, whose products here are small
    os.environ["TF_NUM_INTRAOP_THREADS"] = os.environ["TF_NUM_INTEROP_THREADS"] = "1"
    code2021, code2022 = options.code2021.resolve(), options.code2022.resolve()
    runs, many, fair = str(options.runs), str(5 * options.runs), str(options.fair_runs)

    def part(name, *command):
        """The lines that a command prints, which are kept."""
        path = work / f"{name}.txt"
        if not path.exists():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=LAB).stdout
            path.write_text(text)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            print(f"{name}: {after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime:.0f} processor seconds", file=sys.stderr)
        return path.read_text().splitlines()

    def ours(name, number):
        return part(f"ours-{name}", "go", "run", "./peers/plrank/ours", work, name, number)

    def theirs(script, name, *arguments):
        return part(name, env / "bin" / "python", HERE / script, *arguments)

    for name in ("estimates", "training"):
        ours(name, "1")
    ours("runs", runs)
    found = {"fairness": ours("fairness", fair)}
    for name in ("estimates", "training"):
        found[name] = theirs("authors.py", f"{name}-2021", name, work, code2021, "2021")
        found[name] += theirs("authors.py", f"{name}-2022", name, work, code2022, "2022")[1:]
    found["losses"] = []
    for method in range(4):
        rows = theirs("authors.py", f"losses-{method}", "losses", work, code2021, "2021", "1", runs, str(method))
        found["losses"] += rows[bool(found["losses"]) :]
    found["spread"] = ours("spread", many)
    found["spread"] += theirs("authors.py", "spread", "spread", work, code2021, "2021", many, runs)[1:]
    found["sharing"] = theirs("authors.py", "sharing", "sharing", work, code2021, "2021")
    # The script itself prints, too.
    script = theirs("script.py", "script", work, code2021, fair, "PL_rank_2", "lambdaloss")
    found["fairness"] += [line.removeprefix("row,") for line in script if line.startswith("row,")]
    for name, rows in found.items():
        (options.results / f"{name}.csv").write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
