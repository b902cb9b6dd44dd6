package losses_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/losses"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/tftest"
)

// logitsCase is a tensor of logits, of which axis holds the classes.
type logitsCase struct {
	shape         tf.Shape
	axis          int
	x, p          []float64
	ids           []int64   // of classes, without the axis
	sparse, dense []float64 // the losses
}

// newLogitsCase computes losses one by one in float64.
func newLogitsCase(r *rand.Rand, rank int) logitsCase {
	c := logitsCase{axis: r.IntN(rank)}
	for range rank {
		c.shape = append(c.shape, 1+r.IntN(4))
	}
	n := c.shape.NumElements()
	c.x, c.p = make([]float64, n), make([]float64, n)
	for i := range n {
		c.x[i], c.p[i] = r.NormFloat64()*3, r.Float64()
	}
	inner := 1
	for _, size := range c.shape[c.axis+1:] {
		inner *= size
	}
	classes := c.shape[c.axis]
	for i := range n / classes {
		at := i/inner*inner*classes + i%inner
		sum, loss, id := 0.0, 0.0, r.IntN(classes)
		for k := range classes {
			sum += math.Exp(c.x[at+k*inner])
		}
		for k := range classes {
			loss -= c.p[at+k*inner] * (c.x[at+k*inner] - math.Log(sum))
		}
		c.ids, c.dense = append(c.ids, int64(id)), append(c.dense, loss)
		c.sparse = append(c.sparse, math.Log(sum)-c.x[at+id*inner])
	}
	return c
}

// TestWithLogits compares random logits of ranks 1 to 4 with losses that are computed
// one by one, with shapes known and not known, in all types.
func TestWithLogits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 120 {
		c := newLogitsCase(r, 1+i%4)
		d := []tf.DType{tf.Float32, tf.Float64, tf.Float16}[i%3]
		g := tf.NewGraph()
		hidden := func(x tf.Output) tf.Output {
			if i%5 < 3 {
				return x
			}
			return ops.PlaceholderWithDefault(x, nil)
		}
		x, p := ops.Const(g, c.x, c.shape...).Cast(d), ops.Const(g, c.p, c.shape...).Cast(d)
		check := func(name string, y tf.Output, want []float64) {
			t.Helper()
			s, err := session.New(g)
			if err != nil {
				t.Fatalf("%s of %v %v: %v", name, d, c.shape, err)
			}
			defer s.Close()
			got, err := session.Fetch[float64](t.Context(), s, nil, y.Cast(tf.Float64))
			if err != nil || y.DType() != d || len(got) != len(want) {
				t.Fatalf("%s of %v %v: %v, %v, %v", name, d, c.shape, y, got, err)
			}
			for j := range got {
				if bound := map[tf.DType]float64{tf.Float32: 1e-5, tf.Float64: 1e-12, tf.Float16: 2e-2}[d]; math.Abs(got[j]-want[j]) > bound*max(1, math.Abs(want[j])) {
					t.Fatalf("%s of %v %v along %d: got %v, want %v", name, d, c.shape, c.axis, got, want)
				}
			}
		}
		check("dense", losses.SoftmaxWithLogits(p, x, c.axis-len(c.shape)*(i%2)), c.dense)
		if c.axis == len(c.shape)-1 {
			check("dense, hidden", losses.SoftmaxWithLogits(hidden(p), hidden(x)), c.dense)
			ids := ops.Const(g, c.ids).Reshape(c.shape[:c.axis]...)
			check("sparse", losses.SparseSoftmaxWithLogits(hidden(ids), hidden(x)), c.sparse)
			check("sparse of int32", losses.SparseSoftmaxWithLogits(ids.Cast(tf.Int32), x), c.sparse)
		}
		if n := len(g.Collection(losses.Collection)); n != 0 {
			t.Fatalf("%d losses are in the graph's collection", n)
		}
	}
}

// TestGradientsWithLogits: they go to logits, and to labels that are distributions.
func TestGradientsWithLogits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	c := newLogitsCase(r, 3)
	tensor := func(v []float64) *tf.Tensor {
		x, err := tf.FromSlice(v, c.shape...)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for i := 0; i < len(c.p); i += c.shape[2] { // the gradient is that of distributions
		sum := 0.0
		for _, p := range c.p[i : i+c.shape[2]] {
			sum += p
		}
		for j := range c.shape[2] {
			c.p[i+j] /= sum
		}
	}
	g := eager.New()
	tftest.Gradients(t, g, func(x []tf.Output) tf.Output { return losses.SoftmaxWithLogits(x[0], x[1]) }, tensor(c.p), tensor(c.x))
	tftest.Gradients(t, g, func(x []tf.Output) tf.Output {
		turned := func(x tf.Output) tf.Output { return ops.Transpose(x, []int{2, 0, 1}) }
		return losses.SoftmaxWithLogits(turned(x[0]), turned(x[1]), 0)
	}, tensor(c.p), tensor(c.x))
	ids := make([]int32, c.shape[0]*c.shape[1])
	tftest.Gradients(t, g, func(x []tf.Output) tf.Output {
		return losses.SparseSoftmaxWithLogits(ops.Const(x[0].Graph(), ids, c.shape[:2]...), x[0])
	}, tensor(c.x))
}

// TestMistakesWithLogits: shapes and types that do not fit are told when the graph is
// built, labels out of range in the step.
func TestMistakesWithLogits(t *testing.T) {
	for want, f := range map[string]func(g *tf.Graph) tf.Output{
		"Rank mismatch": func(g *tf.Graph) tf.Output {
			return losses.SparseSoftmaxWithLogits(ops.Const(g, []int32{1, 2}, 2, 1), ops.Const(g, []float32{1, 2, 3, 4}, 2, 2))
		},
		"Shape mismatch": func(g *tf.Graph) tf.Output {
			return losses.SparseSoftmaxWithLogits(ops.Const(g, []int32{1, 2, 3}), ops.Const(g, []float32{1, 2, 3, 4}, 2, 2))
		},
		"Logits cannot be scalars": func(g *tf.Graph) tf.Output {
			return losses.SparseSoftmaxWithLogits(ops.Scalar(g, int32(0)), ops.Scalar(g, float32(0)))
		},
		"cannot be scalars": func(g *tf.Graph) tf.Output {
			return losses.SoftmaxWithLogits(ops.Scalar(g, float32(1)), ops.Scalar(g, float32(0)))
		},
		"must be floating-point numbers": func(g *tf.Graph) tf.Output {
			return losses.SparseSoftmaxWithLogits(ops.Scalar(g, int32(0)), ops.Const(g, []int32{0}))
		},
		"the axis must be one of logits": func(g *tf.Graph) tf.Output {
			x := ops.Const(g, []float32{1, 2, 3, 4}, 2, 2)
			return losses.SoftmaxWithLogits(x, x, 2)
		},
		"label": func(g *tf.Graph) tf.Output {
			return losses.SparseSoftmaxWithLogits(ops.Const(g, []int32{0, 2}), ops.Const(g, []float32{1, 2, 3, 4}, 2, 2))
		},
	} {
		g := tf.NewGraph()
		y := f(g)
		s, err := session.New(g)
		if err == nil {
			_, err = s.Run(t.Context(), nil, y)
			s.Close()
		}
		if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(want)) || !strings.Contains(err.Error(), "withlogits_test.go:") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestLabelsOfTwoBytes: labels are not rounded to logits of two bytes. The numbers are
// TensorFlow's.
func TestLabelsOfTwoBytes(t *testing.T) {
	for d, c := range map[tf.DType]struct {
		label float32
		want  float64
	}{tf.Float16: {0.01, 9.8984375}, tf.BFloat16: {0.06, 9.375}} {
		g := eager.New()
		labels, logits := ops.Const(g, []float32{c.label, 1 - c.label}, 1, 2), ops.Const(g, []float32{5, -5}, 1, 2).Cast(d)
		y := losses.SoftmaxWithLogits(labels, logits)
		v, err := y.Cast(tf.Float64).Value()
		if err != nil || y.DType() != d || tf.Data[float64](v)[0] != c.want {
			t.Errorf("%v: %v, %v, want %v", y, v, err, c.want)
		}
	}
}
