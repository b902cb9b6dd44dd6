package ops_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// shapeCases hold, for each op with inputs of which its kernels read the shape only, those
// inputs: images, maxima, a gradient, and what follows.
var shapeCases = map[string]struct {
	in   []*core.Tensor
	opts []tf.Option
}{
	"MaxPoolGrad":   {[]*core.Tensor{distinct(1, 4, 5, 2), seq(1, 2, 3, 2), seq(1, 2, 3, 2)}, pooledBy(three, two, "SAME")},
	"MaxPoolGradV2": {[]*core.Tensor{distinct(1, 4, 5, 2), seq(1, 2, 3, 2), seq(1, 2, 3, 2), vec[int32](1, 3, 3, 1), vec[int32](1, 2, 2, 1)}, []tf.Option{tf.Attr("padding", "SAME")}},
	"MaxPool3DGrad": {[]*core.Tensor{distinct(1, 4, 4, 5, 2), seq(1, 2, 2, 3, 2), seq(1, 2, 2, 3, 2)}, pooledBy([]int{1, 3, 3, 3, 1}, []int{1, 2, 2, 2, 1}, "SAME")},
}

// TestShapeAt: ops say rightly of which inputs only the shape counts: other values change no
// bit, and another shape than that of the input that stands for it is an error.
func TestShapeAt(t *testing.T) {
	for _, name := range core.OpNames() {
		for i, k := range core.Lookup(name).ShapeAt {
			c, ok := shapeCases[name]
			if !ok {
				t.Errorf("%s has no case", name)
				continue
			}
			want := applyTo(t, name, c.in, c.opts)
			got := applyTo(t, name, replaced(c.in, i, c.in[k]), c.opts)
			nan := applyTo(t, name, replaced(c.in, i, filled(c.in[i].Shape(), math.NaN())), c.opts)
			if want == nil || !slices.Equal(got, want) || !slices.Equal(nan, want) {
				t.Errorf("%s reads values of input %d: %v, with those of input %d %v, with NaN %v", name, i, want, k, got, nan)
			}
			larger := slices.Clone(c.in[i].Shape())
			larger[1]++
			if out := applyTo(t, name, replaced(c.in, i, filled(larger, 1)), c.opts); out != nil {
				t.Errorf("%s takes input %d of shape %v, and input %d of %v", name, i, larger, k, c.in[k].Shape())
			}
		}
	}
}

func replaced(in []*core.Tensor, i int, by *core.Tensor) []*core.Tensor {
	out := slices.Clone(in)
	out[i] = by
	return out
}

func filled(s core.Shape, v float64) *core.Tensor {
	x := core.NewTensor(core.Float32, s)
	for i := range core.Data[float32](x) {
		core.Data[float32](x)[i] = float32(v)
	}
	return x
}

// applyTo returns the elements of the first output, nil if the op fails.
func applyTo(t *testing.T, name string, in []*core.Tensor, opts []tf.Option) []float32 {
	t.Helper()
	g := tf.NewGraph()
	feeds := session.Feeds{}
	args := make([]tf.Output, len(in))
	for i, x := range in {
		args[i] = ops.Placeholder(g, x.DType(), slices.Repeat(core.Shape{-1}, x.Rank()))
		feeds[args[i]] = (*tf.Tensor)(x)
	}
	y := tf.Apply(g, name, args, opts...).Output(0)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := s.Run(t.Context(), feeds, y)
	if err != nil {
		return nil
	}
	return tf.Data[float32](out[0])
}
