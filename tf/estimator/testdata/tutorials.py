"""Writes tutorials.json: what the programs of TensorFlow 1.x's tutorials of
Estimators compute, on small data of their own.

It needs Python 3.7 with tensorflow==1.15:

    python tutorials.py > tutorials.json
"""
import json
import os
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
v1 = tf.compat.v1
fc = tf.feature_column
STEPS = 30


# Premade and custom estimators: iris.
KEYS = ["SepalLength", "SepalWidth", "PetalLength", "PetalWidth"]


def iris():
    i = np.arange(90)
    kind = (i * 7 % 3).astype(np.int64)
    grid = np.stack([5 + kind + np.sin(i), 3 - kind * 0.3 + 0.5 * np.cos(i), 1.5 + 2 * kind + 0.3 * np.sin(i * 2), 0.2 + kind + 0.1 * np.cos(i * 3)], 1)
    return {k: grid[:, n].astype(np.float32) for n, k in enumerate(KEYS)}, kind


def iris_train():
    return tf.data.Dataset.from_tensor_slices(iris()).repeat().batch(20)


def iris_eval():
    return tf.data.Dataset.from_tensor_slices(iris()).batch(20)


def premade(d):
    return v1.estimator.DNNClassifier([10, 10], [fc.numeric_column(k) for k in KEYS], d, n_classes=3)


def my_model(features, labels, mode, params):
    net = v1.feature_column.input_layer(features, params["feature_columns"])
    for units in params["hidden_units"]:
        net = v1.layers.dense(net, units=units, activation=tf.nn.relu)
    logits = v1.layers.dense(net, params["n_classes"], activation=None)
    predicted_classes = tf.argmax(logits, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"class_ids": predicted_classes[:, tf.newaxis], "probabilities": tf.nn.softmax(logits), "logits": logits}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = v1.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    accuracy = v1.metrics.accuracy(labels=labels, predictions=predicted_classes, name="acc_op")
    v1.summary.scalar("accuracy", accuracy[1])
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"accuracy": accuracy})
    optimizer = v1.train.AdagradOptimizer(learning_rate=0.1)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=optimizer.minimize(loss, global_step=v1.train.get_global_step()))


def custom(d):
    return tf.estimator.Estimator(my_model, d, params={"feature_columns": [fc.numeric_column(k) for k in KEYS], "hidden_units": [10, 10], "n_classes": 3})


# Wide and deep: the census, out of lines of CSV.
COLUMNS = ["age", "workclass", "education", "hours_per_week", "occupation", "income_bracket"]
DEFAULTS = [[0.0], [""], [""], [0.0], [""], [""]]


def lines():
    out = []
    for i in range(60):
        age, hours = 18 + i * 7 % 50, 20 + i * 11 % 40
        work, edu, job = ["Private", "State-gov", "?"][i % 3], ["Bachelors", "HS-grad", "Masters", "9th"][i * i % 4], ["Sales", "Tech-support", "Exec, managerial"][i * 5 % 3]
        out.append('%d,%s,%s,%s,"%s",%s' % (age, work, edu, "" if i % 13 == 5 else "%.1f" % hours, job, ">50K" if (age > 40) != (edu == "9th") else "<=50K"))
    return out


def census():
    def parse(value):
        features = dict(zip(COLUMNS, tf.io.decode_csv(value, record_defaults=DEFAULTS)))
        return features, tf.equal(features.pop("income_bracket"), ">50K")
    return tf.data.Dataset.from_tensor_slices(lines()).map(parse).repeat().batch(15)


def census_once():
    return census().take(4)


def wide_deep(d):
    age, hours = fc.numeric_column("age"), fc.numeric_column("hours_per_week")
    education = fc.categorical_column_with_vocabulary_list("education", ["Bachelors", "HS-grad", "Masters"], num_oov_buckets=1)
    workclass = fc.categorical_column_with_vocabulary_list("workclass", ["Private", "State-gov"])
    occupation = fc.categorical_column_with_hash_bucket("occupation", hash_bucket_size=50)
    age_buckets = fc.bucketized_column(age, boundaries=[18, 25, 30, 35, 40, 45, 50, 55, 60, 65])
    wide = [education, workclass, occupation, age_buckets, fc.crossed_column(["education", "occupation"], 100), fc.crossed_column([age_buckets, "education", "occupation"], 100)]
    deep = [age, hours, fc.indicator_column(workclass), fc.indicator_column(education), fc.embedding_column(occupation, dimension=8)]
    return v1.estimator.DNNLinearCombinedClassifier(d, wide, dnn_feature_columns=deep, dnn_hidden_units=[20, 15, 10, 5])


# Text: bags of words, and a network that reads them.
VOCABULARY, LENGTH = 30, 8


def reviews():
    i = np.arange(24)
    x = np.zeros([24, LENGTH], np.int32)
    n = 3 + i % (LENGTH - 2)
    for k in i:
        x[k, : n[k]] = 1 + (k * 5 + np.arange(n[k]) * 3) % (VOCABULARY - 1)
    return {"x": x, "len": n.astype(np.int32)}, (x.sum(1) % 2).astype(np.int64)


def text():
    return tf.data.Dataset.from_tensor_slices(reviews()).repeat().batch(12)


def text_once():
    return tf.data.Dataset.from_tensor_slices(reviews()).batch(12)


def bag(d):
    column = fc.categorical_column_with_identity("x", VOCABULARY)
    return v1.estimator.DNNClassifier([10], [fc.embedding_column(column, 5)], d, optimizer="Adam")


def words(d):
    return v1.estimator.LinearClassifier([fc.categorical_column_with_identity("x", VOCABULARY)], d, optimizer=v1.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01))


def reader(features, labels, mode, params):
    table = v1.get_variable("embeddings", [VOCABULARY, 4])
    inputs = tf.nn.embedding_lookup(table, features["x"])
    if params == "lstm":
        _, state = v1.nn.dynamic_rnn(v1.nn.rnn_cell.BasicLSTMCell(6), inputs, sequence_length=features["len"], dtype=tf.float32)
        logits = v1.layers.dense(state.h, 1)
    else:
        conv = v1.layers.conv1d(inputs, 6, 3, padding="same", activation=tf.nn.relu)
        hidden = v1.layers.dense(tf.reduce_max(conv, axis=1), 5, activation=tf.nn.relu)
        logits = v1.layers.dense(v1.layers.dropout(hidden, 0.0, training=mode == "train"), 1)
    head = tf.contrib.estimator.binary_classification_head()
    step = lambda loss: v1.train.AdamOptimizer(0.05).minimize(loss, global_step=v1.train.get_global_step())
    return head.create_estimator_spec(features=features, labels=labels, mode=mode, logits=logits, train_op_fn=step)


# Sparse features with weights, weighed examples, a head and metrics of one's own.
@tf.autograph.experimental.do_not_convert
def tagged():
    i = np.arange(10)
    at = [[k, j] for k in i for j in range(k % 3)]
    n = len(at)
    tags = tf.SparseTensor(at, tf.constant(["t%d" % (j * 5 % 7) for j in range(n)]), [10, 3])
    share = tf.SparseTensor(at, tf.constant((1 + np.arange(n) % 4).astype(np.float32)), [10, 3])
    x, weight = np.sin(i).astype(np.float32), (0.5 + i % 3).astype(np.float32)
    labels = np.stack([i % 2, i % 3 == 0, x > 0], 1).astype(np.int64)
    return {"tags": tags, "share": share, "x": x, "weight": weight}, labels


def linear_input():
    return tf.data.Dataset.range(1).map(lambda _: (tagged()[0], tf.constant(tagged()[1][:, 0]))).repeat()


def labels_input():
    return tf.data.Dataset.range(1).map(lambda _: tagged()).repeat()


def sparse_linear(d):
    tags = fc.weighted_categorical_column(fc.categorical_column_with_hash_bucket("tags", 20), "share")
    return v1.estimator.LinearClassifier([tags, fc.numeric_column("x")], d, weight_column="weight", sparse_combiner="mean")


def several(d):
    head = tf.contrib.estimator.multi_label_head(3, weight_column="weight")
    tags = fc.embedding_column(fc.categorical_column_with_hash_bucket("tags", 20), 3, combiner="sqrtn")
    e = v1.estimator.DNNEstimator(head, [6], [tags, fc.numeric_column("x")], d, optimizer=lambda: v1.train.GradientDescentOptimizer(v1.train.exponential_decay(0.2, v1.train.get_global_step(), 10, 0.5)), batch_norm=True)
    def metrics(labels, predictions, features):
        return {"mean_x": v1.metrics.mean(features["x"]), "off": v1.metrics.mean_absolute_error(tf.cast(labels, tf.float32), predictions["probabilities"], weights=features["weight"][:, None])}
    return tf.estimator.add_metrics(e, metrics)


MODELS = {
    "premade": (premade, iris_train, iris_eval),
    "custom": (custom, iris_train, iris_eval),
    "wide_deep": (wide_deep, census, census_once),
    "bag": (bag, text, text_once),
    "words": (words, text, text_once),
    "lstm": (lambda d: tf.estimator.Estimator(reader, d, params="lstm"), text, text_once),
    "cnn": (lambda d: tf.estimator.Estimator(reader, d, params="cnn"), text, text_once),
    "sparse_linear": (sparse_linear, linear_input, linear_input),
    "several": (several, labels_input, labels_input),
}


def initial(name, shape):
    n, seed = int(np.prod(shape)), sum(ord(c) for c in name)
    return (np.sin(np.arange(n) * 1.7 + seed % 17) * 0.3).astype(np.float32).reshape(shape)


class Watch(v1.train.SessionRunHook):
    def __init__(self):
        self.losses = []

    def begin(self):
        name = lambda v: v.op.name.replace("/part_0", "")
        self.sets = [v.assign(initial(name(v), v.shape.as_list())) for v in v1.trainable_variables() if not name(v).startswith("linear/")]
        self.loss = v1.get_default_graph().get_operation_by_name("loss").inputs[1]

    def after_create_session(self, session, coord):
        session.run(self.sets)

    def before_run(self, context):
        return v1.train.SessionRunArgs(self.loss)

    def after_run(self, context, values):
        self.losses.append(float(values.results))


def model(make, train, evaluate):
    with tempfile.TemporaryDirectory() as d:
        e, watch = make(d), Watch()
        e.train(train, steps=STEPS, hooks=[watch])
        metrics = e.evaluate(evaluate, steps=4)
        p = next(iter(e.predict(evaluate)))
        return {
            "losses": watch.losses,
            "metrics": {k: float(v) for k, v in metrics.items()},
            "predictions": {k: v.astype(np.float64).reshape(-1).tolist() for k, v in p.items() if v.dtype.kind in "fi"},
            "variables": {n: list(e.get_variable_value(n).shape) for n in e.get_variable_names()},
        }


print(json.dumps({"lines": lines(), "models": {k: model(*m) for k, m in MODELS.items()}}, indent=1, sort_keys=True))
