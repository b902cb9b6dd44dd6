"""Writes beams.json: what the beam search of tf.contrib.seq2seq finds in random Markov
chains, which TensorFlow 2 no longer has.

usage: python beams.py DIRECTORY

It needs Python 3.7 with tensorflow-cpu==1.15.0, numpy<1.19 and protobuf<3.20. Of the
random cases those stay whose sequences are the same when the scores change a little:
their order is not left to rounding. In the cases "ties" all continuations of a
sequence have the same score, exactly."""
import json
import os
import sys
import warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
warnings.simplefilter("ignore")
import numpy as np
import tensorflow as tf
from tensorflow.contrib import seq2seq

tf.logging.set_verbosity(tf.logging.ERROR)


class Chain(tf.nn.rnn_cell.RNNCell):
    """Its scores are its inputs: the row of the last word."""

    state_size, output_size = 1, None

    def __init__(self, words):
        super(Chain, self).__init__()
        self.output_size = words

    def call(self, x, state):
        return x, state


def search(table, starts, width, norm, steps):
    with tf.Graph().as_default(), tf.Session() as sess:
        state = seq2seq.tile_batch(tf.zeros([len(starts), 1]), width)
        d = seq2seq.BeamSearchDecoder(Chain(len(table)), tf.constant(table), tf.constant(starts), 0, state, width, length_penalty_weight=norm)
        o, s, _ = seq2seq.dynamic_decode(d, maximum_iterations=steps)
        return sess.run([o.predicted_ids, o.beam_search_decoder_output.scores, s.lengths, o.beam_search_decoder_output.parent_ids])


def moved(lengths, parents):
    """Whether the beams of a sequence change their places after they have all ended."""
    return any((p[n.max():] != np.arange(len(n))).any() for n, p in zip(lengths, parents))


def early(rng, words):
    """The first sequence of the batch soon ends in all beams, the last one hardly."""
    table, half = rng.randn(words, words), words // 2 + 1
    table[1:half, 0] += rng.choice([0.5, 1.5, 3])
    table[1:half, half:] = -40
    table[half:, :half] = -20
    return table


def case(kind, table, starts, width, norm, steps):
    table = np.round(table, 3).astype(np.float32)
    ids, scores, lengths, parents = search(table, starts, width, norm, steps)
    if kind == "early" and not moved(lengths, parents):
        return []
    if kind != "ties":
        for seed in range(3):
            noise = 1e-5 * np.random.RandomState(seed).randn(*table.shape).astype(np.float32)
            if (search(table + noise, starts, width, norm, steps)[0] != ids).any():
                return []
    last = scores[:, -1] if scores.shape[1] else np.zeros(0)
    finite = [max(float(x), -1e30) for x in last.reshape(-1)]
    return [dict(kind=kind, words=len(table), table=[round(float(x), 3) for x in table.reshape(-1)], starts=starts, width=width, norm=norm, steps=steps,
                 ids=ids.reshape(-1).tolist(), time=ids.shape[1], scores=finite, lengths=lengths.reshape(-1).tolist())]


def main(directory):
    rng, out = np.random.RandomState(11), []
    for i in range(300):
        words, width = int(rng.choice([4, 5, 6])), int(rng.choice([2, 3, 4]))
        out += case("early", early(rng, words), [1, words - 1], width, float(rng.choice([0.6, 1, 2, 3])), 6)
    for i in range(8):
        words, width = int(rng.choice([2, 3, 5])), int(rng.choice([2, 4, 8]))
        out += case("ties", np.zeros([words, words]) + (rng.rand(words, 1) > 0.5), [1, 0], width, float(rng.choice([0, 1])), 4)
        out += case("any", rng.randn(words, words), [1, words - 1], width, float(rng.choice([0, 1])), int(rng.choice([1, 5])))
    out += case("none", rng.randn(3, 3), [1, 2], 2, 1.0, 0)
    with open(os.path.join(directory, "beams.json"), "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(c, sort_keys=True) for c in out) + "\n]\n")


main(sys.argv[1])
