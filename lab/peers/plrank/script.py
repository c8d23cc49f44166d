"""Runs the authors' script of 2021 for fairness as it is, on the collection that the program ours wrote.

script.py WORK COPY RUNS LOSS...

Their labels for the two measures are exchanged: what they call absolute is the mean of squares.
"""

import json
import pathlib
import runpy
import sys

import tensorflow as tf


def main(work, copy, runs, *losses):
    sys.path.insert(0, copy)
    import utils.evaluate as evaluate

    compute, calls = evaluate.compute_fairness_results, 0

    def sometimes(*arguments):
        """The script evaluates 100 times, which takes longer than training: every 20th will do."""
        nonlocal calls
        calls += 1
        return compute(*arguments) if calls % 20 == 1 else {"expectation absolute": 0, "expectation squared": 0}

    evaluate.compute_fairness_results = sometimes
    output, ours = pathlib.Path(work) / "fairrun.json", {"PL_rank_2": "disparity(plrank2)", "lambdaloss": "disparity(lambdaloss)"}
    for run in range(1, int(runs) + 1):
        for loss in losses:
            calls = 0
            tf.keras.utils.set_random_seed(run)
            sys.argv = ["fairrun.py", str(output), "--num_samples", "dynamic", "--num_eval_samples", "1000", "--loss", loss]
            sys.argv += ["--dataset_info_path", f"{work}/letor/info.json"]
            runpy.run_path(f"{copy}/fairrun.py", run_name="__main__")
            for point in json.loads(output.read_text())["results"][20::20]:
                found = point["result"]
                values = f"{found['expectation absolute']:.6g},{found['expectation squared']:.6g}"
                print(f"row,2021,{ours[loss]},yes,{run},{point['epoch']:.0f},{values}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
