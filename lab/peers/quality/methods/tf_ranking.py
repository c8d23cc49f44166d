"""TF-Ranking's ApproxNDCG with a Keras network."""

from networks import GRID  # noqa: F401

METHODS = {"TF-Ranking ApproxNDCG": "approx"}


def fit(method, train, vali, setting, seed):
    import numpy as np
    import tensorflow as tf
    import tensorflow_ranking as tfr

    import networks

    tf.keras.utils.set_random_seed(seed)
    inputs = networks.Standardised(train)
    features, held = inputs(train), inputs(vali)
    network = tf.keras.Sequential()
    for width in setting["hidden"]:
        network.add(tf.keras.layers.Dense(width, "relu"))
        network.add(tf.keras.layers.Dropout(setting["dropout"]))
    network.add(tf.keras.layers.Dense(1))
    network.build((None, features.shape[1]))
    optimizer = tf.keras.optimizers.AdamW(setting["rate"], weight_decay=setting["decay"])
    loss = tfr.keras.losses.ApproxNDCGLoss()
    random = np.random.default_rng(seed)

    @tf.function(reduce_retracing=True)
    def step(x, y, where):
        with tf.GradientTape() as tape:
            value = loss(tf.where(where, y, -1.0), network(x, training=True)[..., 0])  # a label of −1 is no document
        weights = network.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(value, weights), weights))

    def epoch():
        for batch in networks.padded(train, features, random):
            step(*map(tf.constant, batch))

    def predict(x):
        return network(x, training=False).numpy()[:, 0]

    network.set_weights(networks.train(epoch, lambda: predict(held), network.get_weights, vali))
    return lambda split: predict(inputs(split))
