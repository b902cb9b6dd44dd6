package image_test

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/image"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	addGlimpses()
	addProjections()
	addTranslations()
	addOldContrast()
}

func addGlimpses() {
	const rough = "places jump between pixels"
	x, size, offsets := within(-9, 9, 2, 6, 7, 2), i32(3, 4), arr(tf.Shape{2, 2}, float32(0.1), -0.2, -0.4, 0.3)
	for _, op := range []string{"ExtractGlimpse", "ExtractGlimpseV2"} {
		for name, o := range map[string]image.GlimpseOpts{"": {}, "corner": {FromCorner: true}, "pixels": {InPixels: true}, "pixels from corner": {FromCorner: true, InPixels: true}} {
			o.Noise = "zero"
			addSamples(
				sample{Op: op, Name: name, In: tensors{x, size, offsets}, F: applied(op, o), Rough: rough},
				sample{Op: op, Name: name + " beyond", In: tensors{x, i32(8, 9), arr(tf.Shape{2, 2}, float32(5), -3, -2, 0)}, F: applied(op, o), Rough: rough},
				sample{Op: op, Name: name + " wide", In: tensors{x, i32(4, 20), arr(tf.Shape{2, 2}, float32(0), -0.9, 0.9, 0)}, F: applied(op, o), Rough: rough})
		}
		zero := image.GlimpseOpts{Noise: "zero"}
		addSamples(
			sample{Op: op, Name: "no pixels", In: tensors{x, i32(0, 2), offsets}, F: applied(op, zero), Rough: rough},
			failing(op, "flat", applied(op, zero), seq(6, 7, 2), size, offsets),
			failing(op, "size", applied(op, zero), x, i32(3), offsets),
			failing(op, "batch", applied(op, zero), x, size, seq(3, 2)),
			failing(op, "offset", applied(op, zero), x, size, seq(2, 3)),
			failing(op, "flat offset", applied(op, zero), x, size, seq(2)),
			failing(op, "noise", applied(op, image.GlimpseOpts{Noise: "pink"}), x, size, offsets))
	}
}

func addProjections() {
	const v2, v3 = "ImageProjectiveTransformV2", "ImageProjectiveTransformV3"
	const rough = "TensorFlow's gradient is an approximation"
	x, size, fill := within(0, 90, 2, 5, 6, 2), i32(6, 7), scalar(float32(7))
	turn := arr(tf.Shape{1, 8}, float32(0.9), 0.4, -1.3, -0.3, 1.1, 0.7, 0.01, -0.02)
	each := arr(tf.Shape{2, 8}, float32(1), 0, 2.5, 0, 1, -3.2, 0, 0, -0.7, 0, 9, 0, 1.9, -8, 0, 0)
	f := func(op, interpolation, mode string) func(*tf.Graph, []tf.Output) []tf.Output {
		return applied(op, tf.Attr("interpolation", interpolation), image.ProjectiveOpts{FillMode: mode})
	}
	for _, mode := range []string{"CONSTANT", "REFLECT", "WRAP", "NEAREST"} {
		for _, how := range []string{"NEAREST", "BILINEAR"} {
			s := sample{Op: v2, Name: mode + " " + how, In: tensors{x, turn, size}, F: f(v2, how, mode), Rough: rough, Types: []tf.DType{}, Tol: 1e-5}
			t := sample{Op: v3, Name: mode + " " + how, In: tensors{x, each, size, fill}, F: f(v3, how, mode), Rough: rough, Types: []tf.DType{}, Tol: 1e-5}
			addSamples(s, t)
		}
	}
	for _, d := range []tf.DType{tf.Uint8, tf.Int32, tf.Int64, tf.Float16, tf.Float64} {
		y := optest.Convert(x, d)
		addSamples(
			sample{Op: v2, Name: "of " + d.String(), In: tensors{y, turn, size}, F: f(v2, "BILINEAR", "REFLECT"), Rough: rough, Types: []tf.DType{}, Tol: 1e-5},
			sample{Op: v3, Name: "of " + d.String(), In: tensors{y, each, size, fill}, F: f(v3, "NEAREST", ""), Rough: rough, Types: []tf.DType{}})
	}
	addSamples(
		failing(v2, "flat", f(v2, "NEAREST", ""), seq(5, 6, 2), turn, size),
		failing(v2, "transform", f(v2, "NEAREST", ""), x, seq(1, 7), size),
		failing(v2, "transforms", f(v2, "NEAREST", ""), x, seq(3, 8), size),
		failing(v2, "size", f(v2, "NEAREST", ""), x, turn, i32(3)),
		failing(v2, "no pixels", f(v2, "NEAREST", ""), x, turn, i32(3, 0)),
		failing(v3, "fill", f(v3, "NEAREST", ""), x, turn, size, seq(1)))
}

func addTranslations() {
	const op, back = "ScaleAndTranslate", "ScaleAndTranslateGrad"
	x, size := within(-9, 9, 2, 7, 6, 2), i32(5, 9)
	scale, by := arr(tf.Shape{2}, float32(0.6), 1.7), arr(tf.Shape{2}, float32(0.4), -1.2)
	dy := within(-1, 1, 2, 5, 9, 2)
	for _, kernel := range []string{"lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic"} {
		for _, narrow := range []bool{false, true} {
			o, name := image.ScaleOpts{Kernel: kernel, Narrow: narrow}, kernel
			if narrow {
				name += " narrow"
			}
			addSamples(
				sample{Op: op, Name: name, In: tensors{x, size, scale, by}, F: applied(op, o), Types: []tf.DType{}, Tol: 1e-5, Rough: "it is linear in the images alone"},
				sample{Op: back, Name: name, In: tensors{dy, x, scale, by}, F: applied(back, o), Types: []tf.DType{}, Tol: 1e-5})
		}
	}
	for _, d := range []tf.DType{tf.Uint8, tf.Int16, tf.Uint16, tf.Int8, tf.Int32, tf.Int64, tf.Float16, tf.BFloat16, tf.Float64} {
		addSamples(sample{Op: op, Name: "of " + d.String(), In: tensors{optest.Convert(within(0, 90, 1, 5, 6, 2), d), size, scale, by}, F: applied(op), Types: []tf.DType{}, Tol: 1e-5, Rough: "TensorFlow has a gradient for float32 alone"})
	}
	in := tensors{x, size, scale, by}
	with := func(i int, t *core.Tensor) tensors {
		out := slices.Clone(in)
		out[i] = t
		return out
	}
	addSamples(
		failing(op, "kernel", applied(op, image.ScaleOpts{Kernel: "sinc"}), in...),
		failing(op, "flat", applied(op), with(0, seq(5, 6, 2))...),
		failing(op, "size", applied(op), with(1, i32(1))...),
		failing(op, "no pixels", applied(op), with(1, i32(0, 3))...),
		failing(op, "no input", applied(op), with(0, seq(1, 0, 3, 1))...),
		failing(op, "no channels", applied(op), with(0, seq(1, 2, 3, 0))...),
		failing(op, "scale", applied(op), with(2, arr(tf.Shape{2}, float32(0), 1))...),
		failing(op, "scales", applied(op), with(2, seq(3))...),
		failing(op, "translation", applied(op), with(3, seq(1, 2))...),
		failing(back, "flat", applied(back), seq(5, 9, 2), x, scale, by),
		failing(back, "original", applied(back), dy, seq(5, 9, 2), scale, by))
}

func addOldContrast() {
	const op, why = "AdjustContrast", "TensorFlow takes the op from old graphs only"
	addSamples(sample{Op: op, In: tensors{within(0, 9, 2, 3, 4, 2), scalar(float32(2)), scalar(float32(1)), scalar(float32(7))}, F: applied(op), NoGolden: why, Types: []tf.DType{}})
}

// TestOldContrast: without limits it is what the second version is, and limits
// are kept.
func TestOldContrast(t *testing.T) {
	g := eager.New()
	x := within(0, 9, 2, 3, 4, 2)
	in, factor := ops.ConstValue(g, x), ops.Scalar(g, float32(1.7))
	value := func(y tf.Output) []float32 {
		v, err := y.Value()
		if err != nil {
			t.Fatal(err)
		}
		return tf.Data[float32](v)
	}
	want := value(image.AdjustContrastv2(in, factor))
	free := value(image.AdjustContrast(in, factor, ops.Scalar(g, float32(-99)), ops.Scalar(g, float32(99))))
	kept := value(image.AdjustContrast(in, factor, ops.Scalar(g, float32(2)), ops.Scalar(g, float32(5))))
	for i, w := range want {
		if d := free[i] - w; d > 1e-5 || d < -1e-5 {
			t.Fatalf("element %d is %v, want %v", i, free[i], w)
		}
		if kept[i] != max(2, min(5, free[i])) {
			t.Fatalf("element %d is %v, not between 2 and 5 as %v", i, kept[i], free[i])
		}
	}
	for _, d := range []tf.DType{tf.Uint8, tf.Int8, tf.Int16, tf.Int32, tf.Float64} {
		of := image.AdjustContrast(ops.ConstValue(g, optest.Convert(x, d)), factor, ops.Scalar(g, float32(0)), ops.Scalar(g, float32(9)))
		if v := value(of); len(v) != len(want) {
			t.Errorf("%v: %v", d, v)
		}
	}
}

// TestNoise: what a glimpse sees beyond the edges is like the image: within its
// limits, and not all the same.
func TestNoise(t *testing.T) {
	g := eager.New()
	x, size, offsets := ops.ConstValue(g, within(-3, 5, 1, 6, 7, 2)), ops.Const(g, []int32{9, 9}, 2), ops.Const(g, []float32{3, 3}, 1, 2)
	for _, noise := range []string{"", "uniform", "gaussian"} {
		y, err := image.ExtractGlimpse(x, size, offsets, image.GlimpseOpts{Noise: noise}).Value()
		if err != nil {
			t.Fatal(err)
		}
		v := tf.Data[float32](y)
		if slices.Min(v) < -3 || slices.Max(v) > 5 || slices.Min(v) == slices.Max(v) {
			t.Errorf("%s noise from %v to %v", noise, slices.Min(v), slices.Max(v))
		}
	}
	if _, err := image.ExtractGlimpseV2(x, size, offsets, tf.Attr("noise", "zero")).Value(); err == nil {
		t.Error("uniform noise of zeros has been taken")
	}
}
