"""A PyTorch network that learns by the authors' PL-Rank, of which there must be a copy."""

from networks import GRID  # noqa: F401

METHODS = {
    "PL-Rank-3, authors' code": "PL_rank_3",
    "PL-Rank-2, authors' code": "PL_rank_2",
}
CUTOFF, SAMPLES = 10, 100


def fit(method, train, vali, setting, seed):
    import numpy as np
    import torch

    import networks

    torch.manual_seed(seed)
    np.random.seed(seed)  # PL-Rank draws from NumPy's own generator
    torch.set_num_threads(1)
    inputs = networks.Standardised(train)
    features, held = inputs(train), torch.tensor(inputs(vali))
    layers, last = [], features.shape[1]
    for width in setting["hidden"]:
        layers += [torch.nn.Linear(last, width), torch.nn.ReLU(), torch.nn.Dropout(setting["dropout"])]
        last = width
    network = torch.nn.Sequential(*layers, torch.nn.Linear(last, 1), torch.nn.Flatten(0))
    optimizer = torch.optim.AdamW(network.parameters(), setting["rate"], weight_decay=setting["decay"])
    random, loss = np.random.default_rng(seed), pl_rank(METHODS[method])

    def epoch():
        network.train()
        for x, y, where in networks.padded(train, features, random):
            where = torch.tensor(where)
            optimizer.zero_grad()
            scores = torch.zeros(where.shape).masked_scatter(where, network(torch.tensor(x)[where]))
            loss(scores, torch.tensor(y), where).backward()
            optimizer.step()

    def predict(x):
        network.eval()
        with torch.no_grad():
            return network(x).numpy()

    def state():
        return {name: w.clone() for name, w in network.state_dict().items()}

    network.load_state_dict(networks.train(epoch, lambda: predict(held), state, vali))
    return lambda split: predict(torch.tensor(inputs(split)))


def pl_rank(name):
    """PL-Rank as a loss of scores [B, D], labels [B, D], and where there is a document [B, D]."""
    import os
    import sys

    import numpy as np
    import torch

    if not os.environ.get("PL_RANK"):
        raise SystemExit(f"{name}: -pl-rank must name a copy of github.com/HarrieO/2022-SIGIR-plackett-luce")
    sys.path.insert(0, os.environ["PL_RANK"])
    from algorithms import PLRank

    estimator = getattr(PLRank, name)
    discounts = 1 / np.log2(np.arange(2, CUTOFF + 2))

    def loss(scores, labels, where):
        gradient = np.zeros(scores.shape)
        for q, present in enumerate(where.numpy()):
            if not present.any():
                continue
            gains = np.exp2(labels[q].numpy()[present].astype(float)) - 1
            ideal = np.sort(gains)[::-1][:CUTOFF]
            gains /= ideal @ discounts[: len(ideal)]
            m = scores[q].detach().numpy()[present].astype(float)
            gradient[q, present] = estimator(discounts[: len(m)], gains, m, n_samples=SAMPLES)
        return -(scores * torch.tensor(gradient, dtype=scores.dtype)).sum() / len(scores)

    return loss
