"""Repeats what the program ours wrote with the code of a repository of the authors. run.py calls it.

authors.py estimates|training|losses|spread|sharing WORK COPY YEAR
"""

import itertools
import json
import pathlib
import sys
import warnings

import numpy as np

warnings.filterwarnings("ignore", category=DeprecationWarning)  # np.bool in the authors' code

def through(loss):
    """A loss of the authors for TensorFlow as their other functions are: the weights of documents."""
    import tensorflow as tf

    def weights(discounts, gains, scores, **how):
        with tf.GradientTape() as tape:
            m = tf.constant(scores[:, None])
            tape.watch(m)
            value = loss(discounts, gains, m, **how)
        return -tf.convert_to_tensor(tape.gradient(value, m)).numpy()[:, 0]

    return weights


def functions(year):
    """The authors' functions: what each estimates in our words."""
    from algorithms import PLRank

    found = {"PL_rank_1": ("plrank1", PLRank.PL_rank_1), "PL_rank_2": ("plrank2", PLRank.PL_rank_2)}
    if year == "2021":
        from algorithms import lambdaloss, tensorflowloss

        found["policy_gradient"] = "policy-gradient", through(tensorflowloss.policy_gradient)
        found["placement_policy_gradient"] = "plrank1", through(tensorflowloss.placement_policy_gradient)
        found["lambdaloss"] = "lambdaloss", lambdaloss.lambdaloss
    else:
        found["PL_rank_3"] = "plrank2", PLRank.PL_rank_3
    return found


def discounts(k):
    return 1 / np.log2(np.arange(2, k + 2))


def estimates(arrays, queries, year):
    """The largest difference of any λ, as a part of the highest gain times the sum of discounts."""
    print("code,function,ours,documents,cutoff,samples,spread,difference")
    for i, q in enumerate(queries):
        scores, gains = arrays[f"scores-{i}"], arrays[f"gains-{i}"]
        rankings = arrays[f"rankings-{i}"].astype(int)
        k = min(q["cutoff"], q["documents"])
        for name, (ours, function) in functions(year).items():
            # PL-Rank-3 wants rankings of all documents, LambdaLoss minus the noisy scores and the rank of each.
            how, samples = dict(sampled_rankings=rankings if name == "PL_rank_3" else rankings[:, :k]), q["samples"]
            if name == "lambdaloss":
                minus = -(scores + arrays[f"noise-{i}"])
                how, samples = dict(gumbel_scores=minus, sampled_inv_rankings=minus.argsort(1).argsort(1)), len(minus)
            theirs = function(discounts(k), gains, scores, **how)
            off = np.abs(theirs - arrays[f"{ours}-{i}"]).max() / (max(gains.max(), 1) * discounts(k).sum())
            print(f"{year},{name},{ours},{q['documents']},{q['cutoff']},{samples},{q['spread']},{off:.3g}")


class Network:
    """The paper's network: sigmoid layers and a linear one, by NumPy."""

    def __init__(self, weights):
        self.weights = [(w.copy(), b.copy()) for w, b in weights]

    def scores(self, x):
        self.layers = [x]
        for w, b in self.weights[:-1]:
            x = 1 / (1 + np.exp(-(x @ w + b)))
            self.layers.append(x)
        w, b = self.weights[-1]
        return x @ w + b[0]

    def step(self, gradient, rate):
        """Goes by rate up the gradient of the scores, after scores."""
        w, b = self.weights[-1]
        delta = np.outer(gradient, w)
        changes = [(self.layers[-1].T @ gradient, np.array([gradient.sum()]))]
        for (lower, _), x, below in zip(self.weights[-2::-1], self.layers[:0:-1], self.layers[-2::-1]):
            delta = delta * x * (1 - x)
            changes.append((below.T @ delta, delta.sum(axis=0)))
            delta = delta @ lower.T
        self.weights = [(w + rate * dw, b + rate * db) for (w, b), (dw, db) in zip(self.weights, reversed(changes))]


def dcg(scores, gains, offsets, k):
    total = 0.0
    for a, z in zip(offsets[:-1], offsets[1:]):
        best = np.argsort(-scores[a:z], kind="stable")[:k]
        total += gains[a:z][best] @ discounts(len(best))
    return total / (len(offsets) - 1)


class Data:
    """What the program ours wrote: a training and a test split, and settings."""

    def __init__(self, arrays, chosen):
        self.x, self.gains = arrays["train-features"], arrays["train-gains"]
        self.offsets = arrays["train-offsets"].astype(int)
        self.tests, self.test_gains = arrays["test-features"], arrays["test-gains"]
        self.test_offsets = arrays["test-offsets"].astype(int)
        self.k, self.epochs, self.queries = chosen["cutoff"], chosen["epochs"], len(self.offsets) - 1

    def train(self, network, rate, order, weigh):
        """Trains with one query a step, in an order for all epochs; the test scores after each."""
        for at, q in enumerate(order):
            a, z = self.offsets[q], self.offsets[q + 1]
            scores = network.scores(self.x[a:z])
            network.step(weigh(discounts(min(self.k, z - a)), self.gains[a:z], scores), rate)
            if (at + 1) % self.queries == 0:
                yield network.scores(self.tests)

    def orders(self):
        """One of the queries for each epoch, as the authors' script draws them."""
        return np.concatenate([np.random.permutation(self.queries) for _ in range(self.epochs)])

    def dcg(self, scores):
        return dcg(scores, self.test_gains, self.test_offsets, self.k)


def weights_of(arrays, name="{}{}"):
    return [tuple(arrays[name.format(letter, i)] for letter in "wb") for i in range(3)]


def glorot(weights):
    """Initial weights of these shapes from NumPy's generator, as TensorFlow makes them."""
    bounds = [np.sqrt(6 / (w.shape[0] + (w.shape[1] if w.ndim > 1 else 1))) for w, _ in weights]
    return [(np.random.uniform(-u, u, w.shape), np.zeros_like(b)) for u, (w, b) in zip(bounds, weights)]


def training(work, year):
    """Our run on our noise, epoch by epoch."""
    arrays, chosen = load(work, "training")
    data, n, used = Data(arrays, chosen), chosen["samples"], 0
    name = "PL_rank_3" if year == "2022" else "PL_rank_2"
    _, function = functions(year)[name]

    def weigh(theta, gains, scores):
        nonlocal used
        noise = arrays["noise"][used : used + n * len(scores)].reshape(n, -1)
        used += noise.size
        full = np.argsort(-(scores + noise), axis=1)
        return function(theta, gains, scores, sampled_rankings=full if name == "PL_rank_3" else full[:, : len(theta)])

    print("code,epoch,ours,authors,difference")
    curve = data.train(Network(weights_of(arrays)), chosen["rate"], arrays["order"].astype(int), weigh)
    for epoch, scores in enumerate(curve):
        ours = arrays["scores"][epoch]
        off = np.abs(ours - scores).max()
        print(f"{year},{epoch + 1},{data.dcg(ours):.7g},{data.dcg(scores):.7g},{off:.3g}")


def losses(work, year, first=1, last=20, *some):
    """Every loss of the authors' from the initial weights of our runs, the rest being drawn by each code."""
    arrays, chosen = load(work, "training")
    runs, methods = load(work, "runs")
    data, known = Data(arrays, chosen), functions(year)
    names = {"plrank1": "PL_rank_1", "plrank2": "PL_rank_2"}
    print("code,loss,rate,run,epoch,dcg@5", flush=True)

    def row(code, m, run, epoch, value):
        if epoch in (1, 2, 4, 8, 16, 32, 40):
            print(f"{code},{m['loss']},{m['rate']},{run},{epoch},{value:.7g}", flush=True)

    for i, m in enumerate(methods):
        if some and i not in some:
            continue
        _, function = known[names.get(m["loss"], m["loss"].replace("-", "_"))]
        for run in range(first, last + 1):
            for epoch, value in enumerate(runs[f"curve-{i}"][run - 1], 1):
                row("plrank", m, run, epoch, value)
            np.random.seed(run)  # the authors' sampler draws from NumPy's own generator
            network = Network(weights_of(runs, "{}{}-" + str(run)))
            curve = data.train(network, m["rate"], data.orders(), lambda *a: function(*a, n_samples=chosen["samples"]))
            for epoch, scores in enumerate(curve, 1):
                row(year, m, run, epoch, data.dcg(scores))


def spread(work, year, last, parts):
    """Where runs of PL-Rank-2 end if all is drawn anew in each, and the first of them if some parts alone are."""
    arrays, chosen = load(work, "training")
    data, (_, function) = Data(arrays, chosen), functions(year)["PL_rank_2"]

    def drawn(seed):
        np.random.seed(seed)
        return glorot(weights_of(arrays)), data.orders()

    print("code,anew,run,dcg@5", flush=True)
    for run in range(1, last + 1):
        for anew in ("all", "weights", "order", "rankings") if run <= parts else ("all",):
            (weights, order), (first_weights, first_order) = drawn(run), drawn(0)
            begin = weights if anew in ("all", "weights") else first_weights
            order = order if anew in ("all", "order") else first_order
            np.random.seed(run if anew in ("all", "rankings") else 0)
            how = dict(n_samples=chosen["samples"])
            *_, scores = data.train(Network(begin), chosen["rate"], order, lambda *a: function(*a, **how))
            print(f"{year},{anew},{run},{data.dcg(scores):.7g}", flush=True)


def sharing(work, year, repeats=4000):
    """What the script for fairness does otherwise in an estimate, tried one by one: bias and standard deviation of the
    gradient of one query, as parts of its length, from 10 rankings and an exposure from 1000."""
    from algorithms import PLRank
    from utils import plackettluce

    rng, k, samples, many = np.random.default_rng(1), 5, 10, 1000
    scores, gains, theta = rng.normal(size=8), 2.0 ** rng.integers(0, 5, 8) - 1, discounts(k)
    rankings = np.array(list(itertools.permutations(range(8), k)))

    def exact(scores):
        left, p = np.exp(scores).sum() - np.cumsum(np.exp(scores)[rankings], axis=1), np.ones(len(rankings))
        for rank in range(k):
            e = np.exp(scores)[rankings[:, rank]]
            p *= e / (left[:, rank] + e)
        exposure = np.zeros(8)
        np.add.at(exposure, rankings, p[:, None] * theta)
        return exposure

    def rewards(exposure):
        """Minus the derivative of the disparity with respect to the exposure."""
        return 4 / (8 * 7) * ((np.outer(exposure, gains) - np.outer(gains, exposure)) * gains[:, None]).sum(axis=0)

    slopes = [(exact(scores + h) - exact(scores - h)) / 2e-5 for h in 1e-5 * np.eye(8)]
    truth = np.array([slope @ rewards(exact(scores)) for slope in slopes])
    print("shared draws,rank 1,repeats,bias,standard error,standard deviation")
    for shared, first in itertools.product(("no", "yes"), ("sampled", "exact")):
        found = []
        for repeat in range(repeats):
            np.random.seed(repeat)
            drawn = plackettluce.gumbel_sample_rankings(scores, many, cutoff=k)[0]
            exposure, start = np.zeros(8), int(first == "exact")
            np.add.at(exposure, drawn[:, start:], theta[start:] / many)
            if start:
                exposure += theta[0] * np.exp(scores) / np.exp(scores).sum()
            how = dict(sampled_rankings=drawn[:samples]) if shared == "yes" else dict(n_samples=samples)
            found.append(PLRank.PL_rank_2(theta, rewards(exposure), scores, **how))
        size, sd = np.linalg.norm(truth), np.sqrt(np.var(found, axis=0).sum())
        bias = np.linalg.norm(np.mean(found, axis=0) - truth) / size
        print(f"{shared},{first},{repeats},{bias:.3g},{sd / size / repeats**0.5:.3g},{sd / size:.3g}")


def load(work, name):
    with np.load(pathlib.Path(work) / f"{name}.npz") as file:
        arrays = dict(file)  # each is read once
    return arrays, json.loads(bytes(arrays["header"]))


if __name__ == "__main__":
    what, work, copy, year, *more = sys.argv[1:]
    sys.path.insert(0, copy)
    if what == "estimates":
        estimates(*load(work, what), year)
    else:
        {"training": training, "losses": losses, "spread": spread, "sharing": sharing}[what](work, year, *map(int, more))
