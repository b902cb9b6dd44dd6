package estimator_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
)

// sequences are random sequences with what a head needs, padded, and the same step
// by step.
type sequences struct {
	batch, time                  int
	logits, weights, flat, flatW []float32
	labels, flatY, at            []int64
	mask                         []bool
}

func randomSequences(r *rand.Rand, size int) *sequences {
	s := &sequences{batch: 1 + r.IntN(4), time: 1 + r.IntN(5)}
	for i := range s.batch {
		length := r.IntN(s.time + 1)
		if i == 0 {
			length = s.time // a batch without a step has no mean
		}
		for j := range s.time {
			x := make([]float32, size)
			for k := range x {
				x[k] = r.Float32()*4 - 2
			}
			y, w, in := int64(r.IntN(size)), r.Float32()+0.1, j < length
			s.logits, s.labels, s.weights, s.mask = append(s.logits, x...), append(s.labels, y), append(s.weights, w), append(s.mask, in)
			if in {
				s.flat, s.flatY, s.flatW = append(s.flat, x...), append(s.flatY, y), append(s.flatW, w)
				s.at = append(s.at, int64(i), int64(j))
			}
		}
	}
	return s
}

// lossOf runs the loss of a head.
func lossOf(t *testing.T, h estimator.AnyHead, g *tf.Graph, f, labels feature.Features, logits tf.Output) float64 {
	t.Helper()
	s, err := h.Spec(&estimator.Call{Graph: g, Mode: estimator.Eval, Features: f, Labels: labels}, logits, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := initialized(t, g).Run(t.Context(), nil, s.Loss)
	if err != nil {
		t.Fatal(err)
	}
	return float64(tf.Data[float32](out[0])[0])
}

// TestSequentialHead compares it with the head of single steps, for dense and for
// sparse labels, whose elements may stand in any order.
func TestSequentialHead(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const size = 3
	for range 60 {
		s := randomSequences(r, size)
		o := estimator.HeadOptions{WeightColumn: "w", MeanLoss: r.IntN(2) == 0}
		h, err := estimator.MultiClassHead(size, o)
		if err != nil {
			t.Fatal(err)
		}
		wrapped, err := estimator.NewSequentialHead(h, estimator.SequentialOptions{})
		if err != nil {
			t.Fatal(err)
		}
		steps := len(s.flatY)
		g := tf.NewGraph()
		want := lossOf(t, h, g, feature.Features{"w": ops.Const(g, s.flatW)}, feature.Features{"y": ops.Const(g, s.flatY)}, ops.Const(g, s.flat, steps, size))
		for _, isSparse := range []bool{false, true} {
			g := tf.NewGraph()
			var y any = ops.Const(g, s.labels, s.batch, s.time)
			if isSparse {
				y = shuffled(g, r, s)
			}
			f := feature.Features{"w": ops.Const(g, s.weights, s.batch, s.time), estimator.SequenceMask: ops.Const(g, s.mask, s.batch, s.time)}
			got := lossOf(t, wrapped, g, f, feature.Features{"y": y}, ops.Const(g, s.logits, s.batch, s.time, size))
			near(t, "the loss", got, want)
		}
	}
}

// shuffled returns the labels of steps as a sparse tensor in a random order.
func shuffled(g *tf.Graph, r *rand.Rand, s *sequences) sparse.Tensor {
	var at, y []int64
	for _, i := range r.Perm(len(s.flatY)) {
		at, y = append(at, s.at[2*i:2*i+2]...), append(y, s.flatY[i])
	}
	return sparse.Tensor{Indices: ops.Const(g, at, len(y), 2), Values: ops.Const(g, y), DenseShape: ops.Const(g, []int64{int64(s.batch), int64(s.time)})}
}

// TestSequentialHeadPredicts: predictions have the mask, signatures do not.
func TestSequentialHeadPredicts(t *testing.T) {
	h, err := estimator.BinaryHead(estimator.HeadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := estimator.NewSequentialHead(h, estimator.SequentialOptions{Mask: "m"})
	if err != nil {
		t.Fatal(err)
	}
	g := tf.NewGraph()
	c := &estimator.Call{Graph: g, Mode: estimator.Predict, Features: feature.Features{"m": ops.Const(g, []bool{true, false}, 1, 2)}}
	spec, err := s.Spec(c, ops.Const(g, []float32{1, 2}, 1, 2, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if spec.Predictions["m"].IsZero() || !spec.Predictions["logits"].Shape().Equal(tf.Shape{1, 2, 1}) {
		t.Errorf("got %v", spec.Predictions)
	}
	if p := spec.ExportOutputs["predict"].(estimator.PredictOutput); !p.Outputs["m"].IsZero() {
		t.Errorf("the signature has the mask: %v", p)
	}
	if s.LogitsSize() != 1 || s.Mask() != "m" {
		t.Errorf("%d logits, mask %s", s.LogitsSize(), s.Mask())
	}
}

// TestSequentialHeadRefuses: what does not belong to sequences.
func TestSequentialHeadRefuses(t *testing.T) {
	if _, err := estimator.NewSequentialHead(nil, estimator.SequentialOptions{}); tf.CodeOf(err) != tf.InvalidArgument {
		t.Error(err)
	}
	h, err := estimator.BinaryHead(estimator.HeadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(c *estimator.Call){
		"should be included in the features dictionary":   func(c *estimator.Call) { delete(c.Features, "m") },
		"Mask is expected to have two dimensions, got 1":  func(c *estimator.Call) { c.Features["m"] = ops.Const(c.Graph, []bool{true, false}) },
		"the mask of sequences must be bool":              func(c *estimator.Call) { c.Features["m"] = ops.Const(c.Graph, []float32{1, 0}, 1, 2) },
		"`x` column expected in features dictionary.":     func(c *estimator.Call) { delete(c.Features, "x") },
		"at least 2 dimensions, got 1":                    func(c *estimator.Call) { c.Labels["y"] = ops.Const(c.Graph, []int64{1, 0}) },
		"must be a tf.Output or a sparse.Tensor":          func(c *estimator.Call) { c.Labels["y"] = 3 },
		"Tensor shape is incompatible with provided mask": func(c *estimator.Call) { c.Labels["y"] = ops.Const(c.Graph, []int64{1, 0, 1}, 1, 3) },
		"Tensor shape is incompatible with provided mas": func(c *estimator.Call) {
			c.Labels["y"] = sparse.Tensor{Indices: ops.Const(c.Graph, []int64{0, 0, 0, 1}, 2, 2), Values: ops.Const(c.Graph, []int64{1, 0}), DenseShape: ops.Const(c.Graph, []int64{1, 2})}
		},
		"got a sparse tensor of shape": func(c *estimator.Call) {
			c.Labels["y"] = sparse.Tensor{Indices: ops.Const(c.Graph, []int64{0, 1}, 2, 1), Values: ops.Const(c.Graph, []int64{1, 0}), DenseShape: ops.Const(c.Graph, []int64{2})}
		},
	} {
		g := tf.NewGraph()
		c := &estimator.Call{Graph: g, Mode: estimator.Eval, Labels: feature.Features{"y": ops.Const(g, []int64{1, 0}, 1, 2)}, Features: feature.Features{
			"m": ops.Const(g, []bool{true, false}, 1, 2), "x": ops.Const(g, []float32{1, 2}, 1, 2),
		}}
		change(c)
		s, err := estimator.NewSequentialHead(h, estimator.SequentialOptions{Mask: "m", Features: []string{"x"}})
		if err != nil {
			t.Fatal(err)
		}
		spec, err := s.Spec(c, ops.Const(g, []float32{1, 2}, 1, 2, 1), nil)
		if err == nil {
			_, err = initialized(t, g).Run(t.Context(), nil, spec.Loss)
		}
		if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
