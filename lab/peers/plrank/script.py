"""Runs the authors' script of 2021 for fairness as it is, on the collection that the program ours wrote, for 16 epochs.

script.py WORK COPY RUNS LOSS...

Their labels for the two measures are exchanged: what they call absolute is the mean of squares.
"""

import runpy
import sys

import tensorflow as tf


class Enough(Exception):
    """Ends the script."""


def main(work, copy, runs, *losses):
    sys.path.insert(0, copy)
    import utils.evaluate as evaluate

    compute, calls, begin = evaluate.compute_fairness_results, 0, ""
    ours = {"PL_rank_2": "disparity(plrank2)", "lambdaloss": "disparity(lambdaloss)"}

    def sometimes(*arguments):
        """The script evaluates five times an epoch, which takes longer than training: two epochs will do."""
        nonlocal calls
        epoch, calls = calls / 5, calls + 1
        if epoch not in (8, 16):
            return {"expectation absolute": 0, "expectation squared": 0}
        found = compute(*arguments)
        print(f"row,{begin},{epoch:.0f},{found['expectation absolute']:.6g},{found['expectation squared']:.6g}", flush=True)
        if epoch == 16:
            raise Enough
        return found

    evaluate.compute_fairness_results = sometimes
    for run in range(1, int(runs) + 1):
        for loss in losses:
            calls, begin = 0, f"2021,{ours[loss]},yes,{run}"
            tf.keras.utils.set_random_seed(run)
            sys.argv = ["fairrun.py", f"{work}/fairrun.json", "--num_samples", "dynamic", "--num_eval_samples", "1000", "--loss", loss]
            sys.argv += ["--dataset_info_path", f"{work}/letor/info.json"]
            try:
                runpy.run_path(f"{copy}/fairrun.py", run_name="__main__")
            except Enough:
                pass


if __name__ == "__main__":
    main(*sys.argv[1:])
