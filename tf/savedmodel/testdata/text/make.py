"""Saves a model that reads text by TensorFlow Text, and what it computes.

    python make.py

writes model.zip, the SavedModel, and want.json: inputs and outputs of its signatures. Needs what
tf/ops/tftext/testdata/textops.py says.
"""

import json
import os
import sys
import tempfile
import zipfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "../../../ops/tftext/testdata"))
sys.dont_write_bytecode = True

from textops import text  # noqa: E402, first of all

import tensorflow as tf  # noqa: E402

WORDS = ["", "[UNK]", "[START]", "[END]", "?", ".", ",", "¿", "todavia", "esta", "en", "casa", "como", "estas", "nino", "fi"]
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "un", "##aff", "##able", "fox", "##es", "don", "'", "t", "cre", "##me", "日", "本", ".", ",", "!", "ss"]


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        words = tf.lookup.KeyValueTensorInitializer(WORDS, tf.range(len(WORDS), dtype=tf.int64))
        self.words = tf.lookup.StaticHashTable(words, 1)
        pieces = tf.lookup.KeyValueTensorInitializer(PIECES, tf.range(len(PIECES), dtype=tf.int64))
        self.pieces = tf.lookup.StaticHashTable(pieces, 1)
        self.bert = text.BertTokenizer(self.pieces, lower_case=True, token_out_type=tf.int64)

    # As in TensorFlow's tutorial "Neural machine translation with attention".
    def standardize(self, x):
        x = tf.strings.lower(text.normalize_utf8(x, "NFKD"))
        x = tf.strings.regex_replace(x, "[^ a-z.?!,¿]", "")
        x = tf.strings.regex_replace(x, "[.?!,¿]", r" \0 ")
        return tf.strings.join(["[START]", tf.strings.strip(x), "[END]"], separator=" ")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")])
    def translate(self, x):
        x = self.standardize(x)
        ids = tf.ragged.map_flat_values(self.words.lookup, tf.strings.split(x))
        return {"text": x, "ids": ids.to_tensor()}

    # As BERT's models prepare text.
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")])
    def preprocess(self, x):
        ids, start, end = self.bert.tokenize_with_offsets(x)
        ids = ids.merge_dims(-2, -1)
        edge = lambda v: tf.fill([ids.nrows(), 1], tf.constant(PIECES.index(v), tf.int64))
        all_ids = tf.concat([edge("[CLS]"), ids[:, :10], edge("[SEP]")], axis=1)
        dense = all_ids.to_tensor(shape=[None, 12])
        return {
            "input_word_ids": dense,
            "input_mask": tf.ones_like(all_ids).to_tensor(shape=[None, 12]),
            "start": start.merge_dims(-2, -1).to_tensor(-1),
            "end": end.merge_dims(-2, -1).to_tensor(-1),
        }


TEXTS = ["¿Todavía está en casa?", "¿Cómo estás, niño?", "ﬁ ＦＩ", "", "The unaffable foxes don't.", "日本 CRÈME, straßen\u00ad!", "unaffablex\tfox\u3000fox \U0001F600"]

model = Model()
signatures = {"serving_default": model.translate, "preprocess": model.preprocess}

with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(os.path.join(here, "model.zip"), "w", zipfile.ZIP_DEFLATED) as z:
    tf.saved_model.save(model, scratch, signatures=signatures, options=tf.saved_model.SaveOptions(experimental_debug_stripper=True))
    for folder, _, files in os.walk(scratch):
        for name in files:
            path = os.path.join(folder, name)
            z.write(path, os.path.relpath(path, scratch))


def plain(v):
    v = v.numpy().tolist()
    as_text = lambda x: [as_text(y) for y in x] if isinstance(x, list) else x.decode() if isinstance(x, bytes) else x
    return as_text(v)


want = {k: {n: plain(v) for n, v in f(tf.constant(TEXTS)).items()} for k, f in signatures.items()}
with open(os.path.join(here, "want.json"), "w") as f:
    json.dump({"texts": TEXTS, "want": want}, f, ensure_ascii=False, indent=1)
