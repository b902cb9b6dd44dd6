"""Writes contrib.json and the checkpoint contrib.ckpt: the cells, the attention and
the decoders of tf.contrib, which TensorFlow 2 no longer has.

usage: python contrib.py DIRECTORY

It needs Python 3.7 with tensorflow-cpu==1.15.0, numpy<1.19 and protobuf<3.20. Each
case is in a variable scope of its own name; inputs are sin(i), [3 sequences, 5
steps, 4 numbers]."""
import json
import os
import sys
import warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
warnings.simplefilter("ignore")
import numpy as np
import tensorflow as tf
from tensorflow.contrib import rnn, seq2seq

tf.logging.set_verbosity(tf.logging.ERROR)
C, nn = tf.nn.rnn_cell, tf.nn
lengths = tf.constant([5, 2, 0])


def wave(*shape):
    return np.sin(np.arange(np.prod(shape), dtype=np.float64)).astype(np.float32).reshape(shape)


def dynamic(cell, **options):
    return lambda x: nn.dynamic_rnn(cell(), x, dtype=tf.float32, **options)


def stacked(x):
    fw, bw = [C.GRUCell(3), C.LSTMCell(2)], [C.GRUCell(3), C.GRUCell(2)]
    y, f, b = rnn.stack_bidirectional_dynamic_rnn(fw, bw, x, sequence_length=lengths, dtype=tf.float32)
    return y, [f[0], b[0], f[1], b[1]]


def memory(n=1):
    """A memory of 4 elements and their numbers, each repeated n times."""
    return tf.contrib.seq2seq.tile_batch(tf.constant(wave(3, 4, 6)), n), tf.contrib.seq2seq.tile_batch(tf.constant([4, 2, 1]), n)


def looking(mechanism, ragged, size, n=1, **options):
    """A cell that looks at the memory."""
    values, lengths = memory(n)
    m = mechanism(values, lengths if ragged else None)
    return seq2seq.AttentionWrapper(C.LSTMCell(5), m, attention_layer_size=size, **options)


def luong(scale):
    return lambda values, n: seq2seq.LuongAttention(5, values, n, scale=scale)


def bahdanau(normalize):
    return lambda values, n: seq2seq.BahdanauAttention(6, values, n, normalize=normalize)


def several(size, **options):
    """A cell that looks at two memories of other sizes in three ways."""
    values, lengths = memory()
    other = tf.constant(wave(3, 3, 5))
    m = [seq2seq.LuongAttention(5, values, lengths, scale=True), seq2seq.BahdanauAttention(4, other), seq2seq.LuongAttention(5, other, scale=True)]
    return seq2seq.AttentionWrapper(C.LSTMCell(5), m, attention_layer_size=size, **options)


def looks(cell):
    """The cell over the inputs."""
    def run(x):
        y, s = nn.dynamic_rnn(cell(), x, dtype=tf.float32)
        return y, parts(s)
    return run


def monotonic(kind, **options):
    return lambda values, n: kind(5, values, n, **options)


def watched(impute):
    """Training with the weights of all steps."""
    def run(x):
        c = looking(bahdanau(False), True, 6, alignment_history=True)
        d = seq2seq.BasicDecoder(c, seq2seq.TrainingHelper(x, tf.constant([5, 2, 3])), c.zero_state(3, tf.float32))
        out, state, n = seq2seq.dynamic_decode(d)
        return out.rnn_output, [tf.transpose(state.alignment_history.stack(), [1, 0, 2])]
    return run


def parts(s):
    """The state as Gorge has it: the cell's, the attention, the weights."""
    return [s.cell_state, s.attention, s.alignments] if isinstance(s, seq2seq.AttentionWrapperState) else s


def attention(mechanism, ragged, size, **options):
    def run(x):
        y, s = nn.dynamic_rnn(looking(mechanism, ragged, size, **options), x, dtype=tf.float32)
        return y, parts(s)
    return run


def decoded(decoder, **options):
    out, state, n = seq2seq.dynamic_decode(decoder, **options)
    return out.rnn_output, [parts(state), tf.cast(out.sample_id, tf.float32), tf.cast(n, tf.float32)]


def trained(helper, cell=lambda: C.LSTMCell(4), layer=None, **options):
    def run(x):
        c = cell()
        return decoded(seq2seq.BasicDecoder(c, helper(x), c.zero_state(3, tf.float32), layer and layer()), **options)
    return run


def greedy(x):
    table = tf.get_variable("table", [7, 4])
    c = looking(luong(True), True, 6)
    helper = seq2seq.GreedyEmbeddingHelper(table, tf.constant([1, 2, 3]), 0)
    decoder = seq2seq.BasicDecoder(c, helper, c.zero_state(3, tf.float32), tf.layers.Dense(7, name="words"))
    y, s = decoded(decoder, maximum_iterations=6, impute_finished=True)
    return y + 0 * tf.reduce_sum(x), s


def beam(width, penalty, coverage=0.0, stacked=False):
    def run(x):
        table = tf.get_variable("table", [7, 4])
        c = looking(bahdanau(False), True, 6, n=width)
        if stacked:
            c = C.MultiRNNCell([c, C.GRUCell(5)])
        decoder = seq2seq.BeamSearchDecoder(c, table, tf.constant([1, 2, 3]), 0, c.zero_state(3 * width, tf.float32), width,
                                            tf.layers.Dense(7, name="words"), length_penalty_weight=penalty,
                                            coverage_penalty_weight=coverage)
        out, state, n = seq2seq.dynamic_decode(decoder, maximum_iterations=6)
        return tf.cast(out.predicted_ids, tf.float32), [out.beam_search_decoder_output.scores[:, -1], tf.cast(state.lengths, tf.float32)]
    return run


def losses(x):
    """The sequence loss in all its forms, with logits from a layer."""
    logits = tf.layers.dense(x, 6)
    targets = tf.constant(np.arange(15).reshape(3, 5) * 7 % 6)
    weights = tf.sequence_mask(lengths, 5, tf.float32) * tf.constant([[1.0], [0.5], [1.0]])
    all = [seq2seq.sequence_loss(logits, targets, weights, t, b) for t, b in ((True, True), (True, False), (False, True), (False, False))]
    return all[3][:, :, None], all[:3]


CASES = {
    "layer_norm": dynamic(lambda: rnn.LayerNormBasicLSTMCell(3), sequence_length=lengths),
    "layer_norm_plain": dynamic(lambda: rnn.LayerNormBasicLSTMCell(3, layer_norm=False, forget_bias=0.5)),
    "highway": dynamic(lambda: rnn.HighwayWrapper(C.GRUCell(4))),
    "highway_uncoupled": dynamic(lambda: rnn.HighwayWrapper(C.GRUCell(4), couple_carry_transform_gates=False, carry_bias_init=0.5)),
    "residual_function": dynamic(lambda: C.ResidualWrapper(C.GRUCell(3), residual_fn=lambda x, y: x[:, :3] * 2 + y)),
    "block_lstm": dynamic(lambda: rnn.LSTMBlockCell(3), sequence_length=lengths),
    "block_lstm_peepholes": dynamic(lambda: rnn.LSTMBlockCell(3, use_peephole=True, forget_bias=0.5)),
    "block_gru": dynamic(lambda: rnn.GRUBlockCellV2(3), sequence_length=lengths),
    "stack_bidirectional": stacked,
    "luong": attention(luong(False), False, None),
    "luong_scaled": attention(luong(True), True, 6),
    "bahdanau": attention(bahdanau(False), True, 6),
    "bahdanau_normed": attention(bahdanau(True), False, 6),
    "attention_of_cell": attention(luong(False), True, 6, output_attention=False),
    "training": trained(lambda x: seq2seq.TrainingHelper(x, lengths)),
    "training_imputed": trained(lambda x: seq2seq.TrainingHelper(x, lengths), layer=lambda: tf.layers.Dense(6, name="words"), impute_finished=True),
    "training_limited": trained(lambda x: seq2seq.TrainingHelper(x, lengths), maximum_iterations=3, impute_finished=True, output_time_major=True),
    "training_attention": trained(lambda x: seq2seq.TrainingHelper(x, lengths), lambda: looking(bahdanau(True), True, 6), impute_finished=True),
    "scheduled_never": trained(lambda x: seq2seq.ScheduledOutputTrainingHelper(x, lengths, 0.0), impute_finished=True),
    "scheduled_always": trained(lambda x: seq2seq.ScheduledOutputTrainingHelper(x, lengths, 1.0), impute_finished=True),
    "greedy": greedy,
    "beam_1": beam(1, 0.0),
    "beam_3": beam(3, 0.0),
    "beam_4_penalty": beam(4, 0.6),
    "sequence_loss": losses,
    "attentions": looks(lambda: several([6, 3, 2])),
    "attentions_bare": looks(lambda: several(None)),
    "attentions_of_cell": looks(lambda: several([6, 3, 2], output_attention=False, cell_input_fn=lambda x, a: x + a[:, :4])),
    "attention_layer": looks(lambda: looking(luong(False), True, None, attention_layer=tf.layers.Dense(7, tf.tanh, name="look"))),
    "hardmax": looks(lambda: looking(lambda v, n: seq2seq.LuongAttention(5, v, n, probability_fn=seq2seq.hardmax), True, 6)),
    "monotonic_luong": looks(lambda: looking(monotonic(seq2seq.LuongMonotonicAttention, scale=True, score_bias_init=-0.5), True, 6)),
    "monotonic_luong_recursive": looks(lambda: looking(monotonic(seq2seq.LuongMonotonicAttention, mode="recursive"), True, 6)),
    "monotonic_luong_hard": looks(lambda: looking(monotonic(seq2seq.LuongMonotonicAttention, mode="hard"), True, 6)),
    "monotonic_bahdanau": looks(lambda: looking(monotonic(seq2seq.BahdanauMonotonicAttention), True, 6)),
    "monotonic_bahdanau_normed": looks(lambda: looking(monotonic(seq2seq.BahdanauMonotonicAttention, normalize=True, score_bias_init=0.25, mode="recursive"), False, 6)),
    "attention_history": watched(False),
    "beam_3_coverage": beam(3, 0.0, 0.7),
    "beam_4_penalties": beam(4, 0.6, 0.3),
    "beam_3_stacked": beam(3, 0.5, 0.4, stacked=True),
}


def main(directory):
    tf.set_random_seed(7)
    cases, fetches = {}, {}
    for name, build in CASES.items():
        x = tf.constant(wave(3, 5, 4))
        before = len(tf.global_variables())
        with tf.variable_scope(name):
            y, state = build(x)
        added = tf.global_variables()[before:]
        flat = tf.nest.flatten(state)
        fetches[name] = {"out": y, "state": flat, "gradients": []}
        if not name.startswith(("beam", "hardmax", "monotonic_luong_hard")):
            loss = tf.reduce_sum(y * y) + tf.add_n([tf.reduce_sum(s) for s in flat])
            fetches[name]["gradients"] = [tf.convert_to_tensor(g) for g in tf.gradients(loss, [x] + added)]
        cases[name] = {"variables": [v.op.name for v in added]}
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        all = tf.global_variables()
        values = [v + 0.1 * np.cos(np.arange(v.size, dtype=np.float32)).reshape(v.shape) for v in sess.run(all)]
        sess.run([v.initializer for v in all], {v.initializer.inputs[1]: x for v, x in zip(all, values)})
        tf.train.Saver().save(sess, os.path.join(directory, "contrib.ckpt"), write_meta_graph=False, write_state=False)
        flat = lambda v: np.asarray(v, np.float64).round(6).reshape(-1).tolist()
        for name, f in fetches.items():
            out = sess.run(f)
            cases[name].update(result=list(out["out"].shape), out=flat(out["out"]), state=[flat(s) for s in out["state"]], gradients=[flat(g) for g in out["gradients"]])
    with open(os.path.join(directory, "contrib.json"), "w") as f:
        f.write("{\n" + ",\n".join(f"{json.dumps(n)}: {json.dumps(c)}" for n, c in cases.items()) + "\n}\n")


main(sys.argv[1])
