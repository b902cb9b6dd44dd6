package image_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/image"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

//go:embed testdata/golden.json
var goldenFile []byte

// golden is what TensorFlow computed: a part of the numbers, at even distances.
var golden map[string]struct {
	Shape  []int
	Step   int
	Values []float64
}

func init() {
	if err := json.Unmarshal(goldenFile, &golden); err != nil {
		panic(err)
	}
}

// wave returns what golden.py calls so.
func wave(phase int, s ...int) *tf.Tensor {
	t := (*tf.Tensor)(core.NewTensor(tf.Float32, s))
	for i := range tf.Data[float32](t) {
		tf.Data[float32](t)[i] = float32((i*37+phase*11)%101) / 101
	}
	return t
}

// bytesOf returns numbers up to 1 as bytes.
func bytesOf(x *tf.Tensor) *tf.Tensor {
	t := (*tf.Tensor)(core.NewTensor(tf.Uint8, x.Shape()))
	for i, v := range tf.Data[float32](x) {
		tf.Data[uint8](t)[i] = uint8(v * 255)
	}
	return t
}

// inputs are images by golden.py's names.
func inputs() map[string]*tf.Tensor {
	batch := wave(0, 2, 5, 6, 3)
	big, other := wave(0, 2, 50, 57, 1), wave(3, 2, 50, 57, 1)
	for i, v := range tf.Data[float32](big) {
		o := tf.Data[float32](other)
		o[i] = o[i]*0.3 + v*0.7
	}
	return map[string]*tf.Tensor{
		"one": wave(0, 5, 6, 3), "batch": batch, "float": batch, "uint8": bytesOf(batch), "gray": wave(0, 2, 5, 6, 1), "big": big, "other": other,
	}
}

// A maker adds what a name of golden.json stands for.
type maker func(x map[string]tf.Output) tf.Output

// ofShapes makes one for an image and one for a batch.
func ofShapes(all map[string]maker, name string, f func(x tf.Output) tf.Output) {
	for _, of := range []string{"one", "batch"} {
		all[name+" "+of] = func(x map[string]tf.Output) tf.Output { return f(x[of]) }
	}
}

// ofTypes makes one for numbers of each type.
func ofTypes(all map[string]maker, name string, f func(x tf.Output) tf.Output) {
	for _, of := range []string{"float", "uint8"} {
		all[name+" "+of] = func(x map[string]tf.Output) tf.Output { return f(x[of]) }
	}
}

func scalar[T tf.Elem](x tf.Output, v T) tf.Output { return ops.Scalar(x.Graph(), v) }

// turned returns a batch in the other order.
func turned(x tf.Output) tf.Output {
	return ops.ReverseV2(x, ops.Const(x.Graph(), []int32{0}, 1))
}

func makers() map[string]maker {
	all := map[string]maker{}
	addShapes(all)
	addAdjustments(all)
	addMeasures(all)
	return all
}

func addShapes(all map[string]maker) {
	ofShapes(all, "FlipLeftRight", image.FlipLeftRight)
	ofShapes(all, "FlipUpDown", image.FlipUpDown)
	ofShapes(all, "Transpose", image.Transpose)
	for _, k := range []int{0, 1, 2, 3, -1} {
		ofShapes(all, fmt.Sprint("Rot90 ", k), func(x tf.Output) tf.Output { return image.Rot90(x, k) })
	}
	ofShapes(all, "PadToBoundingBox", func(x tf.Output) tf.Output {
		return image.PadToBoundingBox(x, image.Box{Y: 1, X: 2, Height: 7, Width: 9})
	})
	ofShapes(all, "CropToBoundingBox", func(x tf.Output) tf.Output {
		return image.CropToBoundingBox(x, image.Box{Y: 1, X: 2, Height: 3, Width: 3})
	})
	ofShapes(all, "CentralCrop", func(x tf.Output) tf.Output { return image.CentralCrop(x, 0.5) })
	ofShapes(all, "ResizeWithCropOrPad", func(x tf.Output) tf.Output { return image.ResizeWithCropOrPad(x, 4, 9) })
	ofShapes(all, "ResizeWithPad", func(x tf.Output) tf.Output { return image.ResizeWithPad(x, 7, 4, image.ResizeOptions{}) })
	size := func(x tf.Output) tf.Output { return ops.Const(x.Graph(), []int32{4, 8}, 2) }
	for _, m := range []image.Method{image.Bilinear, image.Nearest, image.Bicubic, image.Area, image.Lanczos3, image.Lanczos5, image.Gaussian, image.MitchellCubic} {
		for _, antialias := range []bool{false, true} {
			name := "Resize " + string(m) + map[bool]string{true: " antialias"}[antialias]
			ofShapes(all, name, func(x tf.Output) tf.Output {
				return image.Resize(x, size(x), image.ResizeOptions{Method: m, Antialias: antialias})
			})
		}
	}
	for _, m := range []image.Method{image.Bilinear, image.Nearest, image.Bicubic, image.Area} {
		for _, corners := range []bool{false, true} {
			ofShapes(all, "Resize v1 "+string(m)+map[bool]string{true: " corners"}[corners], func(x tf.Output) tf.Output {
				return image.Resize(x, size(x), image.ResizeOptions{Method: m, V1: true, AlignCorners: corners})
			})
		}
	}
	ofShapes(all, "Resize aspect", func(x tf.Output) tf.Output {
		return image.Resize(x, size(x), image.ResizeOptions{PreserveAspect: true})
	})
}

func addAdjustments(all map[string]maker) {
	by := func(f func(x, by tf.Output) tf.Output, v float32) func(tf.Output) tf.Output {
		return func(x tf.Output) tf.Output { return f(x, scalar(x, v)) }
	}
	ofTypes(all, "AdjustBrightness", by(image.AdjustBrightness, 0.3))
	ofTypes(all, "AdjustContrast", by(image.AdjustContrast, 1.7))
	ofTypes(all, "AdjustHue", by(image.AdjustHue, 0.2))
	ofTypes(all, "AdjustSaturation", by(image.AdjustSaturation, 0.6))
	ofTypes(all, "AdjustGamma", func(x tf.Output) tf.Output { return image.AdjustGamma(x, 0.7, 1.1) })
	ofTypes(all, "RGBToGrayscale", image.RGBToGrayscale)
	for _, d := range []tf.DType{tf.Uint8, tf.Int16, tf.Int32, tf.Float16, tf.Float32, tf.Float64} {
		ofTypes(all, "ConvertDType "+d.String(), func(x tf.Output) tf.Output { return image.ConvertDType(x, d, false) })
		ofTypes(all, "ConvertDType "+d.String()+" saturate", func(x tf.Output) tf.Output {
			if x.DType() == tf.Float32 {
				x = ops.Mul(x, scalar(x, float32(2)))
			}
			return image.ConvertDType(x, d, true)
		})
	}
	all["AdjustJPEGQuality"] = func(x map[string]tf.Output) tf.Output {
		return image.AdjustJPEGQuality(x["one"], scalar(x["one"], int32(30)))
	}
	all["GrayscaleToRGB"] = func(x map[string]tf.Output) tf.Output { return image.GrayscaleToRGB(x["gray"]) }
	for name, f := range map[string]func(tf.Output) tf.Output{
		"RGBToYIQ": image.RGBToYIQ, "YIQToRGB": image.YIQToRGB, "RGBToYUV": image.RGBToYUV, "YUVToRGB": image.YUVToRGB, "SobelEdges": image.SobelEdges,
	} {
		all[name] = func(x map[string]tf.Output) tf.Output { return f(x["batch"]) }
	}
}

func addMeasures(all map[string]maker) {
	ofShapes(all, "PerImageStandardization", image.PerImageStandardization)
	ofShapes(all, "TotalVariation", image.TotalVariation)
	ofTypes(all, "PSNR", func(x tf.Output) tf.Output {
		return image.PSNR(x, turned(x), map[tf.DType]float64{tf.Float32: 1, tf.Uint8: 255}[x.DType()])
	})
	all["Gradients.0"] = func(x map[string]tf.Output) tf.Output { dy, _ := image.Gradients(x["batch"]); return dy }
	all["Gradients.1"] = func(x map[string]tf.Output) tf.Output { _, dx := image.Gradients(x["batch"]); return dx }
	all["SSIM"] = func(x map[string]tf.Output) tf.Output {
		return image.SSIM(x["big"], x["other"], 1, image.SSIMOptions{})
	}
	all["SSIM small"] = func(x map[string]tf.Output) tf.Output {
		return image.SSIM(x["batch"], turned(x["batch"]), 1, image.SSIMOptions{FilterSize: 4, FilterSigma: 1.1, K1: 0.02, K2: 0.05})
	}
	all["SSIMMultiscale"] = func(x map[string]tf.Output) tf.Output {
		return image.SSIMMultiscale(x["big"], x["other"], 1, image.SSIMOptions{FilterSize: 3})
	}
}

// numbers returns the numbers of a tensor.
func numbers(t *testing.T, x *tf.Tensor) []float64 {
	t.Helper()
	y, err := ops.Cast(ops.ConstValue(eager.New(), (*core.Tensor)(x)), tf.Float64).Value()
	if err != nil {
		t.Fatal(err)
	}
	return tf.Data[float64](y)
}

// compare compares with TensorFlow's numbers.
func compare(t *testing.T, name string, got *tf.Tensor) {
	t.Helper()
	want, ok := golden[name]
	if !ok {
		t.Fatalf("no golden values of %s", name)
	}
	if !slices.Equal([]int(got.Shape()), want.Shape) {
		t.Fatalf("%s: shape %v, want %v", name, got.Shape(), want.Shape)
	}
	v := numbers(t, got)
	tolerance := 2e-5
	if got.DType().IsInteger() {
		tolerance = 0
	} else if got.DType() == tf.Float16 {
		tolerance = 1e-3
	}
	for i, w := range want.Values {
		if d := math.Abs(v[i*want.Step] - w); !(d <= tolerance*max(1, math.Abs(w))) {
			t.Fatalf("%s: element %d is %v, want %v", name, i*want.Step, v[i*want.Step], w)
		}
	}
}

// TestAgainstTensorFlow computes everything in eager graphs, and in one that
// knows the sizes of images only when it runs.
func TestAgainstTensorFlow(t *testing.T) {
	for name, f := range makers() {
		t.Run(name, func(t *testing.T) {
			g := eager.New()
			x := map[string]tf.Output{}
			for of, v := range inputs() {
				x[of] = ops.ConstValue(g, (*core.Tensor)(v))
			}
			got, err := f(x).Value()
			if err != nil {
				t.Fatal(err)
			}
			compare(t, name, got)
			if !strings.HasPrefix(name, "SSIMMultiscale") {
				compare(t, name, later(t, f))
			}
		})
	}
}

// later runs a graph whose placeholders know the rank and the channels alone.
func later(t *testing.T, f maker) *tf.Tensor {
	t.Helper()
	g := tf.NewGraph()
	x, feeds := map[string]tf.Output{}, session.Feeds{}
	for of, v := range inputs() {
		s := v.Shape().Clone()
		for i := range s[:len(s)-1] {
			s[i] = -1
		}
		x[of] = ops.Placeholder(g, v.DType(), s)
		feeds[x[of]] = v
	}
	y := f(x)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := s.Run(context.Background(), feeds, y)
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

// TestRandom: equal seeds give TensorFlow's numbers, step by step.
func TestRandom(t *testing.T) {
	seed := ops.Seed(3)
	for name, f := range map[string]func(one, batch tf.Output) tf.Output{
		"RandomFlipLeftRight one": func(x, _ tf.Output) tf.Output { return image.RandomFlipLeftRight(x, seed) },
		"RandomFlipUpDown batch":  func(_, x tf.Output) tf.Output { return image.RandomFlipUpDown(x, seed) },
		"RandomBrightness":        func(x, _ tf.Output) tf.Output { return image.RandomBrightness(x, 0.4, seed) },
		"RandomContrast":          func(x, _ tf.Output) tf.Output { return image.RandomContrast(x, 0.4, 1.3, seed) },
		"RandomSaturation":        func(x, _ tf.Output) tf.Output { return image.RandomSaturation(x, 0.4, 1.3, seed) },
		"RandomHue":               func(x, _ tf.Output) tf.Output { return image.RandomHue(x, 0.4, seed) },
		"RandomJPEGQuality":       func(x, _ tf.Output) tf.Output { return image.RandomJPEGQuality(x, 20, 90, seed) },
		"RandomCrop":              func(x, _ tf.Output) tf.Output { return image.RandomCrop(x, []int{2, 3, 3}, seed) },
	} {
		t.Run(name, func(t *testing.T) {
			g := tf.NewGraph()
			g.SetSeed(7)
			y := f(ops.ConstValue(g, (*core.Tensor)(inputs()["one"])), ops.ConstValue(g, (*core.Tensor)(inputs()["batch"])))
			s, err := session.New(g)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for run := range 2 {
				out, err := s.Run(context.Background(), nil, y)
				if err != nil {
					t.Fatal(err)
				}
				compare(t, fmt.Sprintf("%s run %d", name, run), out[0])
			}
		})
	}
}

// TestRefusals: arguments that cannot be right are errors of the graph.
func TestRefusals(t *testing.T) {
	for want, f := range map[string]func(x tf.Output) tf.Output{
		"must have either 3 or 4 dimensions": func(x tf.Output) tf.Output { return image.FlipUpDown(ops.Scalar(x.Graph(), float32(1))) },
		"width must be <= target":            func(x tf.Output) tf.Output { return image.PadToBoundingBox(x, image.Box{Height: 9, Width: 3}) },
		"height must be >= target":           func(x tf.Output) tf.Output { return image.CropToBoundingBox(x, image.Box{Y: 4, Height: 2, Width: 2}) },
		"offset_width must be >= 0":          func(x tf.Output) tf.Output { return image.CropToBoundingBox(x, image.Box{X: -1, Height: 2, Width: 2}) },
		"central_fraction":                   func(x tf.Output) tf.Output { return image.CentralCrop(x, 1.5) },
		"target_height must be > 0":          func(x tf.Output) tf.Output { return image.ResizeWithCropOrPad(x, 0, 2) },
		"target_width must be > 0":           func(x tf.Output) tf.Output { return image.ResizeWithPad(x, 1, 0, image.ResizeOptions{}) },
		"not implemented": func(x tf.Output) tf.Output {
			return image.Resize(x, ops.Const(x.Graph(), []int32{1, 1}, 2), image.ResizeOptions{Method: "cubist"})
		},
		"another rank":            func(x tf.Output) tf.Output { return image.RandomCrop(x, []int{1}) },
		"max_delta must be <=":    func(x tf.Output) tf.Output { return image.RandomHue(x, 0.7) },
		"max_delta must be non":   func(x tf.Output) tf.Output { return image.RandomBrightness(x, -1) },
		"upper must be > lower":   func(x tf.Output) tf.Output { return image.RandomContrast(x, 1, 1) },
		"lower must be non":       func(x tf.Output) tf.Output { return image.RandomSaturation(x, -1, 1) },
		"between 0 and 100":       func(x tf.Output) tf.Output { return image.RandomJPEGQuality(x, 5, 101) },
		"must be less than":       func(x tf.Output) tf.Output { return image.RandomJPEGQuality(x, 5, 5) },
		"Gamma should be":         func(x tf.Output) tf.Output { return image.AdjustGamma(x, -1, 1) },
		"should be size 1":        func(x tf.Output) tf.Output { return image.GrayscaleToRGB(x) },
		"must have 3 channels":    func(x tf.Output) tf.Output { return image.RGBToYUV(image.Transpose(image.RGBToGrayscale(x))) },
		"expects a 4D":            func(x tf.Output) tf.Output { dy, _ := image.Gradients(x); return dy },
		"must have 4 dimensions":  func(x tf.Output) tf.Output { return image.SobelEdges(x) },
		"images are not compatib": func(x tf.Output) tf.Output { return image.PSNR(x, image.Transpose(x), 1) },
		"not implemented: cubist": func(x tf.Output) tf.Output {
			return image.ResizeWithPad(x, 3, 3, image.ResizeOptions{Method: "cubist"})
		},
		"AlignCorners is an option of TensorFlow 1": func(x tf.Output) tf.Output {
			return image.Resize(x, ops.Const(x.Graph(), []int32{1, 1}, 2), image.ResizeOptions{AlignCorners: true})
		},
		"TensorFlow 1 has": func(x tf.Output) tf.Output {
			return image.Resize(x, ops.Const(x.Graph(), []int32{1, 1}, 2), image.ResizeOptions{Method: image.Lanczos3, V1: true})
		},
		"sizes of images have to be known": func(x tf.Output) tf.Output {
			y := ops.Placeholder(x.Graph(), tf.Float32, tf.Shape{-1, -1, 3})
			return image.SSIMMultiscale(y, y, 1, image.SSIMOptions{})
		},
		"type int32, got 4294967300": func(x tf.Output) tf.Output {
			return image.PadToBoundingBox(x, image.Box{Height: 1<<32 + 4, Width: 8})
		},
		"type int32, got 4294967298":            func(x tf.Output) tf.Output { return image.ResizeWithCropOrPad(x, 2, 1<<32+2) },
		"type int32, got 4294967297":            func(x tf.Output) tf.Output { return image.RandomCrop(x, []int{1, 1<<32 + 1, 1}) },
		"floating point or integer, got bool":   func(x tf.Output) tf.Output { return image.ConvertDType(x.Less(1), tf.Float32, false) },
		"floating point or integer, got string": func(x tf.Output) tf.Output { return image.ConvertDType(x, tf.String, true) },
		"floating point or integer, got complex64": func(x tf.Output) tf.Output {
			return image.RGBToGrayscale(ops.Placeholder(x.Graph(), tf.Complex64, tf.Shape{4, 4, 3}))
		},
		"floating-point or complex type, got uint8": func(x tf.Output) tf.Output {
			return image.RGBToYUV(ops.Placeholder(x.Graph(), tf.Uint8, tf.Shape{4, 4, 3}))
		},
		"floating-point or complex type, got string": func(x tf.Output) tf.Output {
			return image.YIQToRGB(ops.Placeholder(x.Graph(), tf.String, tf.Shape{4, 4, 3}))
		},
		"window must be positive, got -2":           func(x tf.Output) tf.Output { return image.SSIM(x, x, 1, image.SSIMOptions{FilterSize: -2}) },
		"smaller than the window of size 268435456": func(x tf.Output) tf.Output { return image.SSIM(x, x, 1, image.SSIMOptions{FilterSize: 1 << 28}) },
		"why it failed": func(x tf.Output) tf.Output {
			return image.PSNR(x, tf.Failed(x.Graph(), "y", tf.Errorf(tf.Unknown, "why it failed")).Output(0), 1)
		},
		"smaller than the window of size 4": func(x tf.Output) tf.Output {
			y := ops.Placeholder(x.Graph(), tf.Float32, tf.Shape{-1, 3, 1})
			return image.SSIM(y, y, 1, image.SSIMOptions{FilterSize: 4})
		},
		"must have rank 3": func(x tf.Output) tf.Output {
			return image.SSIM(x, ops.Scalar(x.Graph(), float32(1)), 1, image.SSIMOptions{})
		},
	} {
		y := f(ops.ConstValue(tf.NewGraph(), (*core.Tensor)(inputs()["one"])))
		if err := y.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
}

// TestImagesWithinTheWindow: a measure of nothing would not be a number.
func TestImagesWithinTheWindow(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, -1, 1})
	y := image.SSIM(x, x, 1, image.SSIMOptions{FilterSize: 4})
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for n, want := range map[int]tf.Code{3: tf.InvalidArgument, 4: tf.OK} {
		v, err := tf.FromSlice(make([]float32, 4*n), 4, n, 1)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := s.Run(t.Context(), session.Feeds{x: v}, y); tf.CodeOf(err) != want {
			t.Errorf("width %d: %v, %v", n, out, err)
		}
	}
}
