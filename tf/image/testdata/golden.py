"""Numbers of tf.image, with tensorflow-cpu 2.21.0: golden.py > golden.json"""
import json
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

i = tf.image
v1 = tf.compat.v1


def wave(*shape, phase=0):
    n = int(np.prod(shape))
    return ((np.arange(n) * 37 + phase * 11) % 101 / np.float32(101)).astype(np.float32).reshape(shape)


one, batch = tf.constant(wave(5, 6, 3)), tf.constant(wave(2, 5, 6, 3))
small = tf.constant((batch.numpy() * 255).astype(np.uint8))
gray = tf.constant(wave(2, 5, 6, 1))
big, other = tf.constant(wave(2, 50, 57, 1)), tf.constant(wave(2, 50, 57, 1, phase=3) * 0.3 + wave(2, 50, 57, 1) * 0.7)
out = {}


def entry(v):
    """Some 30 numbers of an array, at even distances."""
    flat = v.astype(np.float64).ravel()
    step = max(1, flat.size // 30)
    return {"shape": list(v.shape), "step": step, "values": [float("%.10g" % x) for x in flat[::step]]}


def put(name, *values):
    for k, v in enumerate(values):
        out[f"{name}.{k}" if len(values) > 1 else name] = entry(v.numpy())


for name, x in ("one", one), ("batch", batch):
    put("FlipLeftRight " + name, i.flip_left_right(x))
    put("FlipUpDown " + name, i.flip_up_down(x))
    put("Transpose " + name, i.transpose(x))
    for k in 0, 1, 2, 3, -1:
        put(f"Rot90 {k} {name}", i.rot90(x, k))
    put("PadToBoundingBox " + name, i.pad_to_bounding_box(x, 1, 2, 7, 9))
    put("CropToBoundingBox " + name, i.crop_to_bounding_box(x, 1, 2, 3, 3))
    put("CentralCrop " + name, i.central_crop(x, 0.5))
    put("ResizeWithCropOrPad " + name, i.resize_with_crop_or_pad(x, 4, 9))
    put("ResizeWithPad " + name, i.resize_with_pad(x, 7, 4))
    for method in "bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic":
        put(f"Resize {method} {name}", i.resize(x, [4, 8], method))
        put(f"Resize {method} antialias {name}", i.resize(x, [4, 8], method, antialias=True))
    for method in ("bilinear", "nearest", "bicubic", "area"):
        for corners in (False, True):
            put(f"Resize v1 {method} {'corners ' if corners else ''}{name}", v1.image.resize_images(x, [4, 8], method, align_corners=corners))
    put("Resize aspect " + name, i.resize(x, [4, 8], preserve_aspect_ratio=True))
    put("PerImageStandardization " + name, i.per_image_standardization(x))
    put("TotalVariation " + name, i.total_variation(x))
for name, x in ("float", batch), ("uint8", small):
    put("AdjustBrightness " + name, i.adjust_brightness(x, 0.3))
    put("AdjustContrast " + name, i.adjust_contrast(x, 1.7))
    put("AdjustGamma " + name, i.adjust_gamma(x, 0.7, 1.1))
    put("AdjustHue " + name, i.adjust_hue(x, 0.2))
    put("AdjustSaturation " + name, i.adjust_saturation(x, 0.6))
    put("RGBToGrayscale " + name, i.rgb_to_grayscale(x))
    put("PSNR " + name, i.psnr(x, x[::-1], 1.0 if name == "float" else 255))
    for d in tf.uint8, tf.int16, tf.int32, tf.float16, tf.float32, tf.float64:
        put(f"ConvertDType {d.name} {name}", i.convert_image_dtype(x, d))
        put(f"ConvertDType {d.name} saturate {name}", i.convert_image_dtype(x * 2 if name == "float" else x, d, saturate=True))
put("AdjustJPEGQuality", i.adjust_jpeg_quality(one, 30))
put("GrayscaleToRGB", i.grayscale_to_rgb(gray))
put("RGBToYIQ", i.rgb_to_yiq(batch))
put("YIQToRGB", i.yiq_to_rgb(batch))
put("RGBToYUV", i.rgb_to_yuv(batch))
put("YUVToRGB", i.yuv_to_rgb(batch))
put("Gradients", *i.image_gradients(batch))
put("SobelEdges", i.sobel_edges(batch))
put("SSIM", i.ssim(big, other, 1.0))
put("SSIM small", i.ssim(batch, batch[::-1], 1.0, filter_size=4, filter_sigma=1.1, k1=0.02, k2=0.05))
put("SSIMMultiscale", i.ssim_multiscale(big, other, 1.0, filter_size=3))


def drawn(name, f):
    """Draws in a graph of its own, with seed 7 of the graph and 3 of the op."""
    with v1.Graph().as_default(), v1.Session() as s:
        v1.set_random_seed(7)
        y = f()
        for run in range(2):
            out[f"{name} run {run}"] = entry(s.run(y))


drawn("RandomFlipLeftRight one", lambda: i.random_flip_left_right(tf.constant(wave(5, 6, 3)), seed=3))
drawn("RandomFlipUpDown batch", lambda: i.random_flip_up_down(tf.constant(wave(2, 5, 6, 3)), seed=3))
drawn("RandomBrightness", lambda: i.random_brightness(tf.constant(wave(5, 6, 3)), 0.4, seed=3))
drawn("RandomContrast", lambda: i.random_contrast(tf.constant(wave(5, 6, 3)), 0.4, 1.3, seed=3))
drawn("RandomSaturation", lambda: i.random_saturation(tf.constant(wave(5, 6, 3)), 0.4, 1.3, seed=3))
drawn("RandomHue", lambda: i.random_hue(tf.constant(wave(5, 6, 3)), 0.4, seed=3))
drawn("RandomJPEGQuality", lambda: i.random_jpeg_quality(tf.constant(wave(5, 6, 3)), 20, 90, seed=3))
drawn("RandomCrop", lambda: i.random_crop(tf.constant(wave(5, 6, 3)), [2, 3, 3], seed=3))

print("{\n" + ",\n".join(json.dumps(k) + ": " + json.dumps(v, separators=(",", ":")) for k, v in sorted(out.items())) + "\n}")
