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
	addSuppression()
	addCombined()
	addDraw()
	addDistorted()
}

// rivals returns boxes, some upside down, that overlap in part, and scores.
func rivals() (boxes, scores *core.Tensor) {
	b := arr(tf.Shape{8, 4}, float32(0), 0, 1, 1, 0, 0.1, 1, 1.1, 0, -0.1, 1, 0.9, 1, 11, 0, 10, 0, 10.1, 1, 11.1, 0, 100, 1, 101, 0.2, 0.3, 0.9, 0.8, 2, 2, 2, 3)
	return b, arr(tf.Shape{8}, float32(0.9), 0.75, 0.6, 0.95, 0.5, 0.3, 0.8, -0.4)
}

func addSuppression() {
	b, s := rivals()
	f := func(v float32) *core.Tensor { return scalar(v) }
	n := func(v int32) *core.Tensor { return scalar(v) }
	half := []tf.DType{tf.Float16}
	v1 := func(threshold float32) func(*tf.Graph, []tf.Output) []tf.Output {
		return applied("NonMaxSuppression", tf.Attr("iou_threshold", threshold))
	}
	addSamples(
		sample{Op: "NonMaxSuppression", In: tensors{b, s, n(5)}, F: v1(0.5)},
		sample{Op: "NonMaxSuppression", Name: "few", In: tensors{b, s, n(2)}, F: v1(0.1)},
		sample{Op: "NonMaxSuppression", Name: "none", In: tensors{seq(0, 4), seq(0), n(2)}, F: v1(0.1)},
		failing("NonMaxSuppression", "threshold", v1(1.5), b, s, n(3)),
		failing("NonMaxSuppression", "boxes", v1(0.5), seq(4), s, n(3)),
		failing("NonMaxSuppression", "columns", v1(0.5), seq(8, 3), s, n(3)),
		failing("NonMaxSuppression", "scores", v1(0.5), b, seq(7), n(3)),
		failing("NonMaxSuppression", "flat scores", v1(0.5), b, seq(8, 1), n(3)),
		failing("NonMaxSuppression", "size", v1(0.5), b, s, i32(3)),
		failing("NonMaxSuppression", "negative size", v1(0.5), b, s, n(-3)))
	for op, more := range map[string]tensors{
		"NonMaxSuppressionV2": {f(0.4)}, "NonMaxSuppressionV3": {f(0.4), f(0.5)}, "NonMaxSuppressionV4": {f(0.4), f(0.5)},
		"NonMaxSuppressionV5": {f(0.4), f(0.1), f(0.7)},
	} {
		in := append(tensors{b, s, n(6)}, more...)
		with := func(i int, t *core.Tensor) tensors {
			out := slices.Clone(in)
			out[i] = t
			return out
		}
		addSamples(
			sample{Op: op, In: in, F: applied(op), Types: half, Tol: 1e-6},
			failing(op, "size", applied(op), with(2, i32(1))...),
			failing(op, "threshold", applied(op), with(3, f(-0.1))...),
			failing(op, "flat threshold", applied(op), with(3, seq(1))...))
		for i, t := range more[1:] {
			addSamples(failing(op, "flat "+t.String(), applied(op), with(4+i, seq(1))...))
		}
	}
	hard, pad := tensors{b, s, n(6), f(0.4), f(0.5), f(0)}, image.PadOpts{ToMaxOutputSize: true}
	addSamples(
		sample{Op: "NonMaxSuppressionV4", Name: "padded", In: hard[:5], F: applied("NonMaxSuppressionV4", pad)},
		sample{Op: "NonMaxSuppressionV5", Name: "hard", In: hard, F: applied("NonMaxSuppressionV5", pad)},
		failing("NonMaxSuppressionV5", "sigma", applied("NonMaxSuppressionV5"), b, s, n(6), f(0.4), f(0.5), f(-1)))
	const op = "NonMaxSuppressionWithOverlaps"
	overlaps := within(0, 1, 8, 8)
	addSamples(
		sample{Op: op, In: tensors{overlaps, s, n(5), f(0.6), f(0)}, F: applied(op)},
		failing(op, "square", applied(op), seq(8, 7), s, n(5), f(0.6), f(0)),
		failing(op, "flat", applied(op), seq(8), s, n(5), f(0.6), f(0)),
		failing(op, "threshold", applied(op), overlaps, s, n(5), seq(1), f(0)),
		failing(op, "score", applied(op), overlaps, s, n(5), f(0.6), seq(1)))
}

func addCombined() {
	const op = "CombinedNonMaxSuppression"
	b, _ := rivals()
	boxes, _ := optest.Convert(b, tf.Float32).Reshape(tf.Shape{2, 4, 1, 4})
	scores := arr(tf.Shape{2, 4, 2}, float32(0.9), 0.1, 0.75, 0.81, 0.6, 0.7, 0.3, 0.95, 0.55, 0.35, 0.5, 0.2, 0.05, 0.65, 0.4, 0.15)
	own := within(0, 1, 1, 3, 2, 4)
	f := func(v float32) *core.Tensor { return scalar(v) }
	n := func(v int32) *core.Tensor { return scalar(v) }
	addSamples(
		sample{Op: op, In: tensors{boxes, scores, n(2), n(6), f(0.4), f(0.2)}, F: applied(op)},
		sample{Op: op, Name: "padded", In: tensors{boxes, scores, n(2), n(60), f(0.4), f(0.2)}, F: applied(op, image.CombinedOpts{PadPerClass: true, Unclipped: true})},
		sample{Op: op, Name: "own boxes", In: tensors{own, arr(tf.Shape{1, 3, 2}, float32(0.9), 0.1, 0.75, 0.81, 0.6, 0.7), n(3), n(4), f(0.1), f(-1)}, F: applied(op)},
		failing(op, "per class", applied(op), boxes, scores, n(0), n(6), f(0.4), f(0.2)),
		failing(op, "total", applied(op), boxes, scores, n(1), n(0), f(0.4), f(0.2)),
		failing(op, "threshold", applied(op), boxes, scores, n(1), n(6), f(1.4), f(0.2)),
		failing(op, "batch", applied(op), own, scores, n(1), n(6), f(0.4), f(0.2)),
		failing(op, "columns", applied(op), seq(2, 4, 1, 3), scores, n(1), n(6), f(0.4), f(0.2)),
		failing(op, "classes", applied(op), seq(2, 4, 3, 4), scores, n(1), n(6), f(0.4), f(0.2)),
		failing(op, "boxes", applied(op), seq(2, 5, 1, 4), scores, n(1), n(6), f(0.4), f(0.2)))
}

func addDraw() {
	const op, v2 = "DrawBoundingBoxes", "DrawBoundingBoxesV2"
	x := within(0, 1, 2, 9, 11, 3)
	boxes := arr(tf.Shape{2, 3, 4}, float32(0.1), 0.2, 0.8, 0.9, -0.5, 0.3, 0.5, 1.4, 0.7, 0.7, 0.6, 0.9, 0, 0, 1, 1, 0.2, 0.2, 0.2, 0.2, 2, 0, 3, 1)
	colors := within(0, 1, 2, 4)
	addSamples(
		sample{Op: op, In: tensors{x, boxes}, F: applied(op), Types: []tf.DType{}},
		sample{Op: op, Name: "half", In: tensors{optest.Convert(x, tf.Float16), boxes}, F: applied(op), Types: []tf.DType{}},
		sample{Op: op, Name: "gray", In: tensors{within(0, 0.5, 2, 9, 11, 1), boxes}, F: applied(op)},
		sample{Op: op, Name: "alpha", In: tensors{within(0, 0.5, 2, 9, 11, 4), boxes}, F: applied(op)},
		sample{Op: v2, In: tensors{x, boxes, colors}, F: applied(v2), Types: []tf.DType{}},
		sample{Op: v2, Name: "half", In: tensors{optest.Convert(x, tf.Float16), boxes, colors}, F: applied(v2), Types: []tf.DType{}},
		sample{Op: v2, Name: "no colors", In: tensors{x, boxes, seq(0, 3)}, F: applied(v2)},
		failing(op, "flat", applied(op), seq(9, 11, 3), boxes),
		failing(op, "boxes", applied(op), x, seq(2, 4)),
		failing(op, "batch", applied(op), x, seq(3, 1, 4)),
		failing(op, "depth", applied(op), seq(2, 3, 3, 2), boxes),
		failing(op, "columns", applied(op), x, seq(2, 1, 3)),
		failing(v2, "colors", applied(v2), x, boxes, seq(3)),
		failing(v2, "few colors", applied(v2), x, boxes, seq(3, 2)))
}

func addDistorted() {
	const op, v2, stateless = "SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2", "StatelessSampleDistortedBoundingBox"
	size, boxes, covered := i32(60, 80, 3), arr(tf.Shape{1, 2, 4}, float32(0.1), 0.2, 0.5, 0.6, 0.3, 0.3, 0.9, 0.9), scalar(float32(0.4))
	seed := []tf.Option{tf.Attr("seed", 7), tf.Attr("seed2", 3)}
	for _, d := range []tf.DType{tf.Uint8, tf.Int8, tf.Int16, tf.Int64} {
		addSamples(sample{Op: stateless, Name: d.String(), In: tensors{optest.Convert(size, d), boxes, covered, i32(4, 9)}, F: applied(stateless), Types: []tf.DType{}})
	}
	narrow := image.DistortedOpts{AspectRatios: [2]float32{0.2, 3}, Areas: [2]float32{0.01, 0.3}, MaxAttempts: 5}
	addSamples(
		sample{Op: op, In: tensors{size, boxes}, F: applied(op, seed...), Types: []tf.DType{}},
		sample{Op: v2, In: tensors{size, boxes, covered}, F: applied(v2, append(seed, narrow)...), Types: []tf.DType{}},
		sample{Op: stateless, In: tensors{size, boxes, covered, arr(tf.Shape{2}, int64(1), 2)}, F: applied(stateless), Types: []tf.DType{}},
		sample{Op: stateless, Name: "whole", In: tensors{size, seq(1, 0, 4), covered, i32(1, 2)}, F: applied(stateless, image.DistortedOpts{WholeImage: true}), Types: []tf.DType{}},
		sample{Op: stateless, Name: "impossible", In: tensors{size, boxes, scalar(float32(9)), i32(1, 2)}, F: applied(stateless), Types: []tf.DType{}},
		failing(op, "size", applied(op, seed...), i32(3, 4), boxes),
		failing(op, "flat size", applied(op, seed...), arr(tf.Shape{1, 3}, int32(1), 1, 1), boxes),
		failing(op, "negative size", applied(op, seed...), i32(-3, 4, 1), boxes),
		failing(op, "no boxes", applied(op, seed...), size, seq(1, 0, 4)),
		failing(op, "box", applied(op, seed...), size, seq(1, 1, 4)),
		failing(op, "flat boxes", applied(op, seed...), size, seq(2, 4)),
		failing(op, "columns", applied(op, seed...), size, seq(1, 2, 3)),
		failing(op, "ratios", applied(op, image.DistortedOpts{AspectRatios: [2]float32{-1, 1}}), size, boxes),
		failing(op, "areas", applied(op, image.DistortedOpts{Areas: [2]float32{-1, 1}}), size, boxes),
		failing(op, "large areas", applied(op, image.DistortedOpts{Areas: [2]float32{1, 1.5}}), size, boxes),
		failing(op, "attempts", applied(op, image.DistortedOpts{MaxAttempts: -1}), size, boxes),
		failing(v2, "covered", applied(v2, seed...), size, boxes, scalar(float32(-1))),
		failing(v2, "flat covered", applied(v2, seed...), size, boxes, seq(1)),
		failing(stateless, "seed", applied(stateless), size, boxes, covered, i32(1)))
}

// TestEqualScores gives 40 boxes that do not overlap three scores, in both classes.
func TestEqualScores(t *testing.T) {
	const n = 40
	g := eager.New()
	var corners, scores []float32
	for i := range n {
		corners = append(corners, float32(2*i), 0, float32(2*i+1), 1)
		scores = append(scores, 0.5+float32(i%3)/4, 0.5+float32(i*7%3)/4)
	}
	boxes, zero := ops.Const(g, corners, 1, n, 1, 4), ops.Scalar(g, float32(0))
	size := ops.Scalar(g, int32(2*n))
	selected, best, classes, _ := image.CombinedNonMaxSuppression(boxes, ops.Const(g, scores, 1, n, 2), size, size, zero, zero, image.CombinedOpts{Unclipped: true})
	var got [3][]float32
	for i, y := range []tf.Output{selected, best, classes} {
		v, err := y.Value()
		if err != nil {
			t.Fatal(err)
		}
		got[i] = tf.Data[float32](v)
	}
	for i := 1; i < 2*n; i++ {
		box, before := got[0][4*i], got[0][4*i-4]
		class, last := got[2][i], got[2][i-1]
		if got[1][i] == got[1][i-1] && (class < last || class == last && box <= before) {
			t.Errorf("place %d has the box at %v of class %v, after that at %v of class %v", i, box, class, before, last)
		}
	}
}

// TestBoxFunctions calls what has a function in Go.
func TestBoxFunctions(t *testing.T) {
	g := eager.New()
	b, s := rivals()
	boxes, scores, n, half, none := ops.ConstValue(g, b), ops.ConstValue(g, s), ops.Scalar(g, int32(3)), ops.Scalar(g, float32(0.5)), ops.Scalar(g, float32(0))
	_, valid := image.NonMaxSuppressionV4(boxes, scores, n, half, none)
	_, kept, _ := image.NonMaxSuppressionV5(boxes, scores, n, half, none, none)
	size := ops.Const(g, []int32{9, 9, 1}, 3)
	_, extent, _ := image.SampleDistortedBoundingBox(size, ops.Const(g, []float32{0, 0, 1, 1}, 1, 1, 4), 0.1, ops.Seed(3))
	for name, y := range map[string]tf.Output{
		"int32[3]{3, 0, 6}":          image.NonMaxSuppression(boxes, scores, n, 0.5),
		"int32[3]{3, 0, 6} 2":        image.NonMaxSuppressionV2(boxes, scores, n, half),
		"int32[3]{3, 0, 6} 3":        image.NonMaxSuppressionV3(boxes, scores, n, half, none),
		"int32[]{3}":                 valid,
		"float32[3]{0.95, 0.9, 0.8}": kept,
	} {
		got, err := y.Value()
		if err != nil || got.String() != name[:min(len(name), len(got.String()))] {
			t.Errorf("got %v, %v, want %s", got, err, name)
		}
	}
	if v, err := extent.Value(); err != nil || tf.Data[int32](v)[2] != -1 {
		t.Errorf("extent %v, %v", v, err)
	}
}
