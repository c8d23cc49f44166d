"""The bias toolkit (ultr-bias-toolkit) on a log that plrank wrote: neighbouring ranks chained, and a pivot.

    pip install numpy==2.4.6 pandas==2.3.3 tqdm==4.70.1 && pip install --no-deps ultr-bias-toolkit==0.0.5
    go run ./clicks again DIR > clicks/again.csv
    python3 clicks/toolkit.py DIR >> clicks/again.csv

Rows of again.csv number the documents of all queries together.
"""

import pathlib
import sys
import types

import pandas as pd


class Stub(types.ModuleType):
    """torch, for the estimator of all pairs, which is not used here: every name is a class."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


for module in ["torch", "torch.nn", "torch.utils", "torch.utils.data"]:
    sys.modules[module] = Stub(module)
sys.modules["torch"].nn = sys.modules["torch.nn"]
sys.modules["torch"].Tensor = object

from ultr_bias_toolkit.bias.intervention_harvesting import AdjacentChainEstimator, PivotEstimator  # noqa: E402

log = pd.read_csv(pathlib.Path(sys.argv[1]) / "again.csv")
log = pd.DataFrame({"query_id": log.row // 20, "doc_id": log.row, "position": log["rank"] + 1, "click": log.click})
for name, estimator in [("chain", AdjacentChainEstimator()), ("pivot", PivotEstimator())]:
    print("toolkit", name, end=",")
    print(*(f"{x:.3f}" for x in estimator(log).sort_values("position").examination), sep=",")
