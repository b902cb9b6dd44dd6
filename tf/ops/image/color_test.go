package image_test

import (
	"bytes"
	stdimage "image"
	"image/color"
	"image/png"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/image"
)

func init() {
	x := within(0.01, 0.99, 2, 3, 4, 3)
	f64 := []tf.DType{tf.Float64}
	for _, op := range []string{"RGBToHSV", "HSVToRGB"} {
		addSamples(
			sample{Op: op, In: tensors{x}, F: applied(op), Tol: 1e-5, Types: []tf.DType{}},
			sample{Op: op, Name: "double", In: tensors{x}, F: applied(op), Tol: 1e-6, Types: f64},
			sample{Op: op, Name: "grays", In: tensors{arr(tf.Shape{3, 3}, float32(0), 0, 0, 1, 1, 1, 0.5, 0.5, 0.5)}, F: applied(op), Types: []tf.DType{}, Rough: "hues of grays jump"},
			failing(op, "channels", applied(op), seq(2, 4)),
			failing(op, "scalar", applied(op), scalar(float32(1))))
	}
	for _, op := range []string{"AdjustHue", "AdjustSaturation", "AdjustContrastv2"} {
		addSamples(
			sample{Op: op, In: tensors{x, scalar(float32(0.3))}, F: applied(op), Tol: 1e-5},
			sample{Op: op, Name: "back", In: tensors{x, scalar(float32(-0.7))}, F: applied(op), Tol: 1e-5},
			failing(op, "flat", applied(op), seq(2, 3), scalar(float32(0.3))))
	}
	addSamples(
		failing("AdjustHue", "delta", applied("AdjustHue"), x, seq(1)),
		failing("AdjustSaturation", "scale", applied("AdjustSaturation"), x, seq(1)),
		failing("AdjustContrastv2", "factor", applied("AdjustContrastv2"), x, seq(1)),
		failing("AdjustHue", "channels", applied("AdjustHue"), seq(2, 3, 4), scalar(float32(0.3))))
	addPNG()
}

// addPNG adds pictures that this package has written: TensorFlow reads them.
func addPNG() {
	roundTrip := func(opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{image.DecodePng(image.EncodePng(in[0]), opts...)}
		}
	}
	deep := image.DecodeOpts{DType: tf.Uint16}
	for i, name := range []string{"gray", "gray and alpha", "color", "color and alpha"} {
		x := bytesOf(tf.Shape{5, 6, i + 1})
		addSamples(
			sample{Op: "DecodePng", Name: name, In: tensors{x}, F: roundTrip()},
			sample{Op: "DecodePng", Name: name + " deep", In: tensors{x}, F: roundTrip(deep)},
			sample{Op: "EncodePng", Name: name, In: tensors{x}, F: roundTrip()})
	}
	addSamples(
		sample{Op: "DecodePng", Name: "more channels", In: tensors{bytesOf(tf.Shape{5, 6, 1})}, F: roundTrip(image.DecodeOpts{Channels: 3})},
		failing("DecodePng", "contents", unary(image.DecodePng), scalar("GIF?")),
		failing("DecodePng", "contents of two", unary(image.DecodePng), arr(tf.Shape{2}, "", "")),
		failing("EncodePng", "flat", unary(image.EncodePng), bytesOf(tf.Shape{5, 6})),
		failing("EncodePng", "channels", unary(image.EncodePng), bytesOf(tf.Shape{5, 6, 5})))
}

func bytesOf(s tf.Shape) *core.Tensor {
	t := core.NewTensor(tf.Uint8, s)
	for i := range core.Data[uint8](t) {
		core.Data[uint8](t)[i] = uint8(i * 37)
	}
	return t
}

// TestPNGOf16Bits: samples of 16 bits come back whole, of several images at
// once.
func TestPNGOf16Bits(t *testing.T) {
	want := core.NewTensor(tf.Uint16, tf.Shape{2, 3, 4, 3})
	for i := range core.Data[uint16](want) {
		core.Data[uint16](want)[i] = uint16(i * 911)
	}
	g := eager.New()
	files := image.EncodePng(ops.ConstValue(g, want))
	for k := range 2 {
		one := ops.GatherV2(files, ops.Scalar(g, int32(k)), ops.Scalar(g, int32(0)))
		got, err := image.DecodePng(one, image.DecodeOpts{DType: tf.Uint16}).Value()
		if err != nil {
			t.Fatal(err)
		}
		size := got.Len()
		for i, v := range tf.Data[uint16](got) {
			if v != core.Data[uint16](want)[k*size+i] {
				t.Fatalf("image %d, sample %d is %d, want %d", k, i, v, core.Data[uint16](want)[k*size+i])
			}
		}
	}
}

// TestPNGWithPalette: colors of a palette have alpha if one of them is
// transparent, and keep their values.
func TestPNGWithPalette(t *testing.T) {
	clear, red := color.NRGBA{R: 200, G: 100, B: 50, A: 16}, color.NRGBA{R: 255, A: 255}
	for want, palette := range map[string]color.Palette{
		"uint8[1,2,4]{255, 0, 0, 255, 200, 100, 50, 16}": {clear, red},
		"uint8[1,2,3]{255, 0, 0, 0, 0, 0}":               {color.Black, red},
	} {
		m := stdimage.NewPaletted(stdimage.Rect(0, 0, 2, 1), palette)
		m.Pix[0] = 1
		var file bytes.Buffer
		if err := png.Encode(&file, m); err != nil {
			t.Fatal(err)
		}
		got, err := image.DecodePng(ops.Scalar(eager.New(), file.String())).Value()
		if err != nil || got.String() != want {
			t.Errorf("got %v, %v, want %s", got, err, want)
		}
	}
}
