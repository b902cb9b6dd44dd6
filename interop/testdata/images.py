"""What TensorFlow makes of images.

Usage: images.py write DIR    writes files of many kinds and prints their names
       images.py read DIR     reads lines of DIR/cases.json, each with the name
                              of an op, a file and attributes, and prints for
                              each the shape and the hash of what comes out, or
                              the code and the text of the error
"""
import hashlib
import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

raw = tf.raw_ops
SIZES = [(1, 1), (7, 2), (3, 5), (16, 16), (17, 33), (45, 67)]


def pixels(h, w, channels, dtype=np.uint8):
    """Something between a photograph and noise."""
    rng = np.random.RandomState(h * 1000 + w * 10 + channels)
    y, x, c = np.meshgrid(np.arange(h), np.arange(w), np.arange(channels), indexing="ij")
    smooth = 128 + 100 * np.sin(x / 7.0 + c) * np.cos(y / 5.0 - c)
    noisy = np.clip(smooth + rng.randn(h, w, channels) * 25, 0, 255) / 255
    return (noisy * np.iinfo(dtype).max).astype(dtype)


def write(directory):
    def save(name, data):
        with open(os.path.join(directory, name), "wb") as f:
            f.write(data.numpy())
        print(name)

    jpeg = {
        "plain": {},
        "444": {"chroma_downsampling": False},
        "low": {"quality": 20},
        "best": {"quality": 100},
        "progressive": {"progressive": True, "xmp_metadata": "some text"},
        "optimized": {"optimize_size": True, "density_unit": "cm", "x_density": 72, "y_density": 7},
    }
    for h, w in SIZES:
        for channels in 1, 3:
            for name, attrs in jpeg.items():
                save(f"{h}x{w}x{channels}-{name}.jpg", raw.EncodeJpeg(image=pixels(h, w, channels), **attrs))
        for channels in 1, 2, 3, 4:
            for dtype in np.uint8, np.uint16:
                save(f"{h}x{w}x{channels}-{dtype.__name__}.png", raw.EncodePng(image=pixels(h, w, channels, dtype)))


def read(directory):
    with open(os.path.join(directory, "cases.json")) as f:
        cases = json.load(f)
    for case in cases:
        with open(os.path.join(directory, case["file"]), "rb") as f:
            inputs = {"contents": f.read()}
        attrs = dict(case["attrs"] or {})
        if "crop_window" in attrs:
            inputs["crop_window"] = np.array(attrs.pop("crop_window"), np.int32)
        if "dtype" in attrs:
            attrs["dtype"] = tf.as_dtype(attrs["dtype"])
        try:
            out = getattr(raw, case["op"])(**inputs, **attrs).numpy()
            print(json.dumps({"shape": list(out.shape), "hash": hashlib.sha256(out.tobytes()).hexdigest()}))
            if len(sys.argv) > 3:
                out.tofile(os.path.join(directory, "out-%d" % cases.index(case)))
        except tf.errors.OpError as e:
            print(json.dumps({"code": e.error_code, "text": e.message.replace("{{function_node __wrapped__%s_device_/job:localhost/replica:0/task:0/device:CPU:0}} " % case["op"], "").split(" [Op:")[0]}))


{"write": write, "read": read}[sys.argv[1]](sys.argv[2])
