"""Open Bandit Pipeline on a log that plrank wrote: propensities by enumeration, SIPS, IIPS, RIPS.

    go run ./clicks log DIR
    pip install numpy==2.4.6 pandas==3.1.1 scikit-learn==1.9.1 scipy==1.17.1 tqdm==4.70.1 pyyaml==6.0.3 matplotlib==3.11.2 seaborn==0.13.2
    pip install --no-deps --ignore-requires-python obp==0.5.5
    python3 clicks/obp_check.py DIR

It ends with 1 if a placement or an estimate differs by more than 1e-12.
"""

import json
import pathlib
import sys
import types

import numpy as np


class Stub(types.ModuleType):
    """torch, which obp imports for learners that are not used here: every name is a class."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


for module in ["torch", "torch.nn", "torch.nn.functional", "torch.optim", "torch.utils", "torch.utils.data"]:
    sys.modules[module] = Stub(module)
    parent, _, name = module.rpartition(".")
    if parent:
        setattr(sys.modules[parent], name, sys.modules[module])

from obp.dataset import SyntheticSlateBanditDataset  # noqa: E402
from obp.ope import SlateIndependentIPS, SlateRewardInteractionIPS, SlateStandardIPS  # noqa: E402

folder = pathlib.Path(sys.argv[1])
theirs = json.loads((folder / "estimates.json").read_text())
scores, actions, clicked, number = [], [], {}, {}
for line in (folder / "log.jsonl").read_text().splitlines():
    line = json.loads(line)
    if "action_name" in line:
        clicked[number[line["query_id"]], line["event_attributes"]["object"]["object_id"]] = 1
        continue
    ours = line["query_attributes"]["plrank"]
    number[line["query_id"]] = len(scores)
    scores.append(ours["scores"])
    actions.append([(d, ours["candidates"].index(d)) for d in line["query_response_hit_ids"]])

rounds, ranks = len(actions), len(actions[0])
data = SyntheticSlateBanditDataset(n_unique_action=len(scores[0]), len_list=ranks, dim_context=1)
action = np.array([a for row in actions for _, a in row])
log = dict(
    slate_id=np.repeat(np.arange(rounds), ranks),
    position=np.tile(np.arange(ranks), rounds),
    reward=np.array([clicked.get((i, d), 0) for i, row in enumerate(actions) for d, _ in row], dtype=float),
)
scores = np.array(scores)
whole, placed, cascade = data.obtain_pscore_given_evaluation_policy_logit(action, scores)
target = data.obtain_pscore_given_evaluation_policy_logit(action, 2 * scores)

largest = np.abs(placed - np.concatenate(theirs["Placements"])).max()
print(f"placements: largest difference {largest:.1e}")
worst = largest
for name, value in {
    "whole-ranking": SlateStandardIPS(len_list=ranks).estimate_policy_value(**log, pscore=whole, evaluation_policy_pscore=target[0]),
    "iips": SlateIndependentIPS(len_list=ranks).estimate_policy_value(**log, pscore_item_position=placed, evaluation_policy_pscore_item_position=target[1]),
    "rips": SlateRewardInteractionIPS(len_list=ranks).estimate_policy_value(**log, pscore_cascade=cascade, evaluation_policy_pscore_cascade=target[2]),
}.items():
    difference = abs(value - theirs["Estimates"][name])
    worst = max(worst, difference)
    print(f"{name}: obp {value:.15f}, plrank {theirs['Estimates'][name]:.15f}, difference {difference:.1e}")
sys.exit(worst > 1e-12)
