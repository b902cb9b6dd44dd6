"""Modules that do a whole task in their graph, for savedmodels.py."""
import numpy as np
import tensorflow as tf

rng = np.random.RandomState(1)


def normal(*shape):
    return rng.randn(*shape).astype(np.float32)


def function(*specs):
    return tf.function(input_signature=[tf.TensorSpec(*s) for s in specs])


class Detector(tf.Module):
    """Decodes images, finds boxes, suppresses those that overlap, cuts masks."""

    def __init__(self):
        self.filter = tf.Variable(normal(8, 8, 3, 8) / 4)
        self.boxes = tf.Variable(normal(8, 12))
        self.classes = tf.Variable(normal(8, 15) / 8)  # no scores that saturate: their order would be the library's

    @function(([None], tf.string))
    def f(self, image):
        def one(b):
            i = tf.io.decode_image(b, 3, expand_animations=False)
            return tf.image.resize(i, [48, 64], "area") / 255, tf.shape(i)
        x, size = tf.map_fn(one, image, fn_output_signature=(tf.float32, tf.int32))
        h = tf.nn.relu6(tf.nn.conv2d(x, self.filter, 8, "SAME"))
        at = tf.reshape(tf.sigmoid(h @ self.boxes[None, None]), [tf.shape(h)[0], -1, 4])
        low, high = at[..., :2] * 0.5, at[..., :2] * 0.5 + at[..., 2:] * 0.5
        score = tf.nn.softmax(tf.reshape(h @ self.classes[None, None], [tf.shape(h)[0], -1, 5]))
        found = tf.image.combined_non_max_suppression(tf.concat([low, high], -1)[:, :, None], score[..., 1:], 5, 9, 0.4, 0.2)
        owner = tf.repeat(tf.range(tf.shape(h)[0]), 3)
        mask = tf.image.crop_and_resize(h, tf.reshape(found[0][:, :3], [-1, 4]), owner, [4, 4])
        return {"boxes": found[0], "scores": found[1], "classes": found[2], "valid": found[3], "masks": mask, "sizes": size}


class Translator(tf.Module):
    """Decodes greedily with attention, until each row has ended."""

    def __init__(self):
        self.table = tf.Variable(normal(25, 8))
        self.cell = tf.Variable(normal(16, 8) / 2)
        self.out = tf.Variable(normal(16, 25))

    @function(([None, None], tf.int32), ([], tf.int32))
    def f(self, ids, steps):
        x = tf.gather(self.table, ids)
        state = tf.reduce_mean(x, 1)
        token, done = tf.ones_like(ids[:, 0]), tf.zeros_like(ids[:, 0], tf.bool)
        tokens = tf.TensorArray(tf.int32, 0, dynamic_size=True)
        weights = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[None, None])
        i = tf.constant(0)
        while i < steps:
            state = tf.tanh(tf.concat([tf.gather(self.table, token), state], 1) @ self.cell)
            w = tf.nn.softmax(tf.where(ids > 0, tf.einsum("bi,bti->bt", state, x), -1e9))
            logits = tf.concat([state, tf.einsum("bt,bti->bi", w, x)], 1) @ self.out
            token = tf.where(done, 0, tf.argmax(logits, -1, output_type=tf.int32))
            done |= token == 2
            tokens, weights, i = tokens.write(i, token), weights.write(i, w), i + 1
            if tf.reduce_all(done):
                break
        return {"tokens": tf.transpose(tokens.stack()), "weights": weights.stack(), "steps": i}


class Audio(tf.Module):
    """Cepstra of a recording in the WAV format, in both ways."""

    @function(([], tf.string))
    def f(self, wav):
        a, rate = tf.audio.decode_wav(wav, 1, 1600)
        power = tf.abs(tf.signal.stft(a[:, 0], 256, 128, pad_end=True))
        mel = power @ tf.signal.linear_to_mel_weight_matrix(20, 129, 8000, 20.0, 3800.0)
        cepstra = tf.signal.mfccs_from_log_mel_spectrograms(tf.math.log(mel + 1e-3))
        old = tf.raw_ops.AudioSpectrogram(input=a, window_size=256, stride=128, magnitude_squared=True)
        return {"cepstra": cepstra[:, :13], "old": tf.raw_ops.Mfcc(spectrogram=old, sample_rate=rate), "rate": rate}


class Words(tf.Module):
    """Ragged words, pairs of words, characters, and ids with buckets for new words."""

    def __init__(self):
        words = tf.lookup.KeyValueTensorInitializer(["a", "b", "c"], tf.range(3, dtype=tf.int64))
        self.table = tf.lookup.StaticVocabularyTable(words, 4)
        self.rows = tf.Variable(normal(7, 4))

    @function(([None], tf.string))
    def f(self, text):
        words = tf.strings.split(text, " ")
        ids = words.with_flat_values(self.table.lookup(words.flat_values))
        rows = ids.with_flat_values(tf.gather(self.rows, ids.flat_values))
        pairs = tf.strings.ngrams(words, 2, separator="+")
        return {
            "mean": tf.reduce_mean(rows, 1), "most": tf.reduce_max(ids, 1), "pairs": pairs.to_tensor("_"), "splits": pairs.row_splits,
            "joined": tf.strings.reduce_join(words, 1, separator="/"), "known": tf.ragged.boolean_mask(ids, ids < 3).to_tensor(9),
            "runes": tf.strings.unicode_decode(text, "UTF-8").to_tensor(0), "letters": tf.strings.unicode_split(text, "UTF-8").to_tensor("")}


def pictures():
    sizes = [(30, 40, 3), (64, 33, 1), (48, 64, 4)]
    return np.array([tf.io.encode_png(rng.randint(0, 255, s).astype(np.uint8)).numpy() for s in sizes], object)


def recording():
    wave = np.sin(np.arange(1600) * 0.3) / 2 + rng.randn(1600) / 100
    return np.array(tf.audio.encode_wav(wave[:, None].astype(np.float32), 8000).numpy(), object)


tasks = {
    "task_detector": (Detector, lambda: {"image": pictures()}),
    "task_translator": (Translator, lambda: {"ids": rng.randint(1, 25, (3, 5)).astype(np.int32), "steps": np.int32(6)}),
    "task_audio": (Audio, lambda: {"wav": recording()}),
    "task_words": (Words, lambda: {"text": np.array(["a b zz".encode(), "h\u00e9 c".encode(), b"b"], object)}),
}
