"""Writes golden.txt: what TensorFlow's libjpeg-turbo makes of files, whole and damaged.

    python golden.py > golden.txt     (tensorflow-cpu==2.21.0, pillow==13.0.0)

A line is one of
    file NAME BASE64
    decode NAME CUT EDITS CHANNELS RATIO FANCY ACCURATE RECOVER FRACTION CROP SHAPE CRC32
    encode H W C QUALITY OPTIMIZE SUBSAMPLE UNIT X Y XMP LENGTH CRC32
    made NAME H W C QUALITY OPTIMIZE SUBSAMPLE
where "error 0" stands for a file that is refused. A file that is made is what encode_jpeg makes of the pattern.
"""
import base64, io, os, random, zlib
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from PIL import Image


def pattern(h, w, c):
    """Edges, ramps and single pixels; the test has the same formula."""
    y, x, k = np.mgrid[0:h, 0:w, 0:c]
    v = 3 * x + 5 * y + 40 * k + (x * x + 3 * x * y) % 41 * 2 + (x // 5 + y // 3 + k) % 7 * 23
    return (v % 256).astype(np.uint8)


def pillow(mode, h, w, **kw):
    c = {"L": 1, "RGB": 3, "YCbCr": 3, "CMYK": 4}[mode]
    b = io.BytesIO()
    a = pattern(h, w, c)
    Image.fromarray(a[:, :, 0] if c == 1 else a, mode).save(b, "JPEG", **kw)
    return b.getvalue()


files = {
    "gray": pillow("L", 19, 22, quality=80),
    "rgb444": pillow("RGB", 18, 21, quality=90, subsampling=0),
    "rgb422": pillow("RGB", 21, 35, quality=70, subsampling=1),
    "rgb420": pillow("RGB", 35, 37, quality=85, subsampling=2),
    "kept": pillow("RGB", 17, 19, quality=85, keep_rgb=True),
    "progressive": pillow("RGB", 35, 37, quality=75, subsampling=2, progressive=True),
    "progressive444": pillow("RGB", 17, 25, quality=95, subsampling=0, progressive=True),
    "progressivegray": pillow("L", 33, 20, quality=60, progressive=True),
    "inks": pillow("CMYK", 17, 18, quality=80),
    "optimized": pillow("RGB", 33, 34, quality=30, optimize=True),
    "restarts": pillow("RGB", 40, 41, quality=80, restart_marker_blocks=2),
    "rowrestarts": pillow("L", 41, 40, quality=50, restart_marker_rows=1),
    "dense": pillow("RGB", 16, 16, quality=100, subsampling=0, dpi=(72, 73)),
}


def segment(data, marker):
    """Where the segment of a marker begins and ends."""
    at = data.index(bytes([0xFF, marker]))
    return at, at + 2 + int.from_bytes(data[at + 2:at + 4], "big")


def without_adobe(data, instead):
    at, end = segment(data, 0xEE)
    return data[:at] + instead + data[end:]


# The same planes under other markers mean other colors.
at, end = segment(files["inks"], 0xEE)
files["ycck"] = files["inks"][:end - 1] + b"\x02" + files["inks"][end:]
files["plaininks"] = without_adobe(files["inks"], b"")
files["rgbids"] = without_adobe(files["kept"], b"\xff\xe1\x00\x10JFIF\x00" + bytes(9))
files["jfif"] = without_adobe(files["kept"], b"\xff\xe0\x00\x10JFIF\x00\x01\x01" + bytes(7))


def decode(data, channels=0, ratio=1, fancy=True, accurate=False, recover=False, fraction=1.0, crop=None):
    kw = dict(channels=channels, ratio=ratio, fancy_upscaling=fancy, try_recover_truncated=recover,
              acceptable_fraction=fraction, dct_method="INTEGER_ACCURATE" if accurate else "INTEGER_FAST")
    try:
        if crop:
            p = tf.io.decode_and_crop_jpeg(data, list(crop), **kw).numpy()
        else:
            p = tf.io.decode_jpeg(data, **kw).numpy()
    except (tf.errors.OpError, ValueError):
        return "error 0"
    return "x".join(map(str, p.shape)) + f" {zlib.crc32(p.tobytes()):08x}"


def line(name, cut=0, edits=(), **kw):
    data = bytearray(files[name])
    for at, v in edits:
        data[at] = v
    if cut:
        data = data[:cut]
    o = dict(channels=0, ratio=1, fancy=True, accurate=False, recover=False, fraction=1.0, crop=None)
    o.update(kw)
    text = ",".join(f"{a}={v}" for a, v in edits) or "-"
    crop = ",".join(map(str, o["crop"])) if o["crop"] else "-"
    print("decode", name, cut, text, o["channels"], o["ratio"], int(o["fancy"]), int(o["accurate"]), int(o["recover"]),
          o["fraction"], crop, decode(bytes(data), **o))


def large():
    """Files of which most is far from their end: libjpeg-turbo reads these MCUs in another way."""
    r = random.Random(6)
    for h, w, c, quality, optimize, subsample in ((150, 171, 3, 95, 1, 1), (97, 210, 3, 60, 0, 0), (203, 131, 1, 100, 1, 0), (180, 161, 3, 100, 0, 1)):
        name = f"made{h}"
        files[name] = data = tf.io.encode_jpeg(pattern(h, w, c), quality=quality, optimize_size=bool(optimize), chroma_downsampling=bool(subsample)).numpy()
        print("made", name, h, w, c, quality, optimize, subsample)
        scan = data.index(b"\xff\xda")
        for accurate in (False, True):
            line(name, accurate=accurate)
            line(name, ratio=4, fancy=False, accurate=accurate, crop=(13, 21, 60, 101))
        for _ in range(8):
            cut = r.randrange(scan + 20, len(data))
            line(name, cut=cut, recover=True)
            line(name, cut=cut, fraction=0.2)
        for _ in range(16):  # bits, and the end of a scan in its midst
            line(name, edits=[(r.randrange(scan + 14, len(data)), r.randrange(256))], accurate=bool(r.randrange(2)))
            line(name, edits=[(r.randrange(scan, len(data)), 0xFF), (r.randrange(scan, len(data)), r.randrange(256))], recover=bool(r.randrange(2)))
            at, end = segment(data, 0xDB)  # large factors: values that overflow
            line(name, edits=[(r.randrange(at + 5, at + 69), r.choice([0, 200, 255]))], accurate=bool(r.randrange(2)))


def main():
    r = random.Random(5)
    for name, data in files.items():
        print("file", name, base64.b64encode(data).decode())
    for name, data in files.items():
        for channels in (0, 1, 3):
            for accurate in (False, True):
                line(name, channels=channels, accurate=accurate)
        for ratio in (2, 4, 8):
            line(name, ratio=ratio)
            line(name, ratio=ratio, accurate=True, fancy=False)
        line(name, fancy=False)
        for crop in ((0, 0, 9, 8), (3, 5, 7, 11), (8, 9, 8, 3), (0, 0, 1, 1)):
            line(name, crop=crop)
        for _ in range(3):
            cut = r.randrange(len(data) // 2, len(data))
            line(name, cut=cut)
            if "progressive" in name:
                continue  # libjpeg smooths images that lack scans (do_block_smoothing), which is not done here
            line(name, cut=cut, recover=True)
            line(name, cut=cut, fraction=0.3)
            line(name, cut=cut, fraction=0.3, recover=True, crop=(0, 1, 8, 8))
        scan = data.index(b"\xff\xda")
        for _ in range(12):  # in the entropy-coded part
            line(name, edits=[(r.randrange(scan + 14, len(data)), r.randrange(256))], accurate=bool(r.randrange(2)))
        for _ in range(12):  # in the headers
            line(name, edits=[(r.randrange(3, scan + 14), r.randrange(256))], accurate=bool(r.randrange(2)))
        for _ in range(4):
            line(name, edits=[(r.randrange(3, len(data)), 0xFF), (r.randrange(scan, len(data)), r.randrange(0xC0, 0xE0))])
    # Progressive files are written with other scans than TensorFlow's: they are not compared.
    for h, w, c in ((1, 1, 3), (7, 5, 1), (16, 17, 3), (33, 18, 3), (9, 40, 1)):
        for quality in (0, 1, 25, 41, 50, 75, 95, 100):
            for optimize, subsample in ((0, 0), (0, 1), (1, 1), (1, 0)):
                unit, x, y, xmp = r.choice([("in", 300, 300, ""), ("cm", 17, 19, "metadata"), ("in", 1, 65535, "m" * 90)])
                b = tf.io.encode_jpeg(pattern(h, w, c), quality=quality, optimize_size=bool(optimize),
                                      chroma_downsampling=bool(subsample), density_unit=unit, x_density=x, y_density=y, xmp_metadata=xmp).numpy()
                print("encode", h, w, c, quality, optimize, subsample, {"in": 1, "cm": 2}[unit], x, y, xmp or "-",
                      len(b), f"{zlib.crc32(b):08x}")


main()
large()
