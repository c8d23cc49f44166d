"""Rax's losses with a Flax network."""

from networks import GRID  # noqa: F401

METHODS = {
    "Rax softmax": "softmax",
    "Rax ApproxNDCG": "approx",
    "Rax LambdaLoss": "lambda",
    "Rax Gumbel ApproxNDCG": "gumbel",
}


def fit(method, train, vali, setting, seed):
    import functools

    import flax.linen as nn
    import jax
    import numpy as np
    import optax
    import rax

    import networks

    approx = rax.approx_t12n(rax.ndcg_metric)
    loss = {
        "softmax": rax.softmax_loss,
        "approx": approx,
        "lambda": functools.partial(rax.pairwise_logistic_loss, lambdaweight_fn=rax.dcg2_lambdaweight),
        "gumbel": rax.gumbel_t12n(approx, samples=8),
    }[METHODS[method]]

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x, learning):
            for width in setting["hidden"]:
                x = nn.Dropout(setting["dropout"], deterministic=not learning)(nn.relu(nn.Dense(width)(x)))
            return nn.Dense(1)(x)[..., 0]

    network, optimizer = Network(), optax.adamw(setting["rate"], weight_decay=setting["decay"])
    inputs = networks.Standardised(train)
    features, held = inputs(train), inputs(vali)
    random, key = np.random.default_rng(seed), jax.random.PRNGKey(seed)
    weights = network.init(key, held[:1], False)
    moments = optimizer.init(weights)

    @jax.jit
    def step(weights, moments, key, x, y, where):
        def objective(weights):
            dropped, drawn = jax.random.split(key)
            scores = network.apply(weights, x, True, rngs={"dropout": dropped})
            key_of_loss = {"key": drawn} if METHODS[method] == "gumbel" else {}
            return loss(scores, y, where=where, **key_of_loss)

        changes, moments = optimizer.update(jax.grad(objective)(weights), moments, weights)
        return optax.apply_updates(weights, changes), moments

    predict = jax.jit(lambda weights, x: network.apply(weights, x, False))

    def epoch():
        nonlocal weights, moments, key
        for batch in networks.padded(train, features, random):
            key, drawn = jax.random.split(key)
            weights, moments = step(weights, moments, drawn, *batch)

    best = networks.train(epoch, lambda: np.asarray(predict(weights, held)), lambda: weights, vali)
    return lambda split: np.asarray(predict(best, inputs(split)))
