package losses_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/losses"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// fromTensorFlow are losses that TensorFlow 2.21 computes from the same
// tensors.
var fromTensorFlow = []struct {
	name string
	want []float32
}{
	{"squares  weighted_sum_by_nonzero_weights", []float32{0.12666667997837067}},
	{"squares  none", []float32{0.010000000707805157, 0.010000004433095455, 0.36000001430511475, 0.25, 0.09000000357627869, 0.03999999538064003}},
	{"squares  weighted_sum", []float32{0.7600000500679016}},
	{"squares  weighted_sum_over_batch_size", []float32{0.12666667997837067}},
	{"squares  weighted_mean", []float32{0.12666667997837067}},
	{"squares scalar weighted_sum_by_nonzero_weights", []float32{0.06333333998918533}},
	{"squares scalar none", []float32{0.005000000353902578, 0.005000002216547728, 0.18000000715255737, 0.125, 0.04500000178813934, 0.019999997690320015}},
	{"squares scalar weighted_sum", []float32{0.3800000250339508}},
	{"squares scalar weighted_sum_over_batch_size", []float32{0.06333333998918533}},
	{"squares scalar weighted_mean", []float32{0.12666667997837067}},
	{"squares rows weighted_sum_by_nonzero_weights", []float32{0.25333333015441895}},
	{"squares rows none", []float32{0.0, 0.0, 0.0, 0.5, 0.18000000715255737, 0.07999999076128006}},
	{"squares rows weighted_sum", []float32{0.7599999904632568}},
	{"squares rows weighted_sum_over_batch_size", []float32{0.12666666507720947}},
	{"squares rows weighted_mean", []float32{0.12666666507720947}},
	{"squares all weighted_sum_by_nonzero_weights", []float32{0.24375000596046448}},
	{"squares all none", []float32{0.010000000707805157, 0.0, 0.7200000286102295, 0.125, 0.0, 0.11999998986721039}},
	{"squares all weighted_sum", []float32{0.9750000238418579}},
	{"squares all weighted_sum_over_batch_size", []float32{0.16250000894069672}},
	{"squares all weighted_mean", []float32{0.15000000596046448}},
	{"absolute", []float32{0.30000004172325134}},
	{"cosine", []float32{-0.2999999523162842}},
	{"hinge", []float32{0.36666667461395264}},
	{"huber", []float32{0.2591666579246521}},
	{"log", []float32{0.3999960720539093}},
	{"pairs", []float32{0.5866667032241821}},
	{"pairs rows", []float32{0.653333306312561}},
	{"sigmoid", []float32{0.3938637673854828}},
	{"sigmoid smooth", []float32{0.4821970462799072}},
	{"softmax", []float32{1.4097421169281006}},
	{"softmax smooth", []float32{3.2154152393341064}},
	{"sparse", []float32{3.6129150390625}},
	{"sparse column", []float32{1.7413113117218018, 5.484519004821777}},
}

// byName adds the losses of the list above.
func byName(g *tf.Graph) map[string]tf.Output {
	mat := func(v ...float32) tf.Output { return ops.Const(g, v, 2, 3) }
	p, y, x := mat(0.1, 0.9, 0.4, 0.5, 0.3, 0.8), mat(0, 1, 1, 1, 0, 1), mat(-1, 2, 0.5, 0, -0.3, 1.5)
	column := ops.Const(g, []float32{0, 2}, 2, 1)
	weights := map[string]tf.Output{"": {}, "scalar": ops.Scalar(g, float32(0.5)), "rows": column, "all": mat(1, 0, 2, 0.5, 0, 3)}
	reductions := map[string]losses.Reduction{
		"none": losses.None, "weighted_sum": losses.Sum, "weighted_sum_over_batch_size": losses.SumOverBatchSize,
		"weighted_mean": losses.Mean, "weighted_sum_by_nonzero_weights": losses.SumByNonzeroWeights,
	}
	shares := mat(0, 0.5, 0.5, 1, 0, 0)
	all := map[string]tf.Output{
		"absolute": losses.AbsoluteDifference(y, p), "cosine": losses.CosineDistance(y, p, 1), "hinge": losses.Hinge(y, x),
		"huber": losses.Huber(y, x, 0.6), "log": losses.Log(y, p, 1e-7),
		"pairs": losses.MeanPairwiseSquaredError(y, p), "pairs rows": losses.MeanPairwiseSquaredError(y, p, losses.Options{Weights: column}),
		"sigmoid": losses.SigmoidCrossEntropy(y, x, 0), "sigmoid smooth": losses.SigmoidCrossEntropy(y, x, 0.2),
		"softmax":        losses.SoftmaxCrossEntropy(shares, x, 0),
		"softmax smooth": losses.SoftmaxCrossEntropy(shares, x, 0.1, losses.Options{Weights: ops.Const(g, []float32{1, 3})}),
		"sparse":         losses.SparseSoftmaxCrossEntropy(ops.Const(g, []int64{2, 0}), x, losses.Options{Weights: ops.Const(g, []float32{1, 3})}),
		"sparse column": losses.SparseSoftmaxCrossEntropy(ops.Const(g, []int64{2, 0}, 2, 1), x,
			losses.Options{Weights: ops.Const(g, []float32{1, 3}, 2, 1), Reduction: losses.None}),
	}
	for w, weights := range weights {
		for r, reduction := range reductions {
			all[fmt.Sprintf("squares %s %s", w, r)] = losses.MeanSquaredError(y, p, losses.Options{Weights: weights, Reduction: reduction})
		}
	}
	return all
}

func TestLosses(t *testing.T) {
	all := byName(eager.New())
	for _, c := range fromTensorFlow {
		v, err := all[c.name].Value()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := tf.Data[float32](v)
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, TensorFlow's %v", c.name, got, c.want)
			continue
		}
		for i := range got {
			if math.Abs(float64(got[i]-c.want[i])) > 2e-6 {
				t.Errorf("%s: %v, TensorFlow's %v", c.name, got, c.want)
			}
		}
		delete(all, c.name)
	}
	for name := range all {
		t.Errorf("%s is not compared", name)
	}
}

func TestCollections(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Const(g, []float32{1, 2})
	a := losses.MeanSquaredError(ops.Const(g, []float32{0, 0}), x)
	losses.AbsoluteDifference(x, x, losses.Options{Into: "mine"})
	g.AddToCollection(losses.RegularizationCollection, ops.Scalar(g, float32(0.25)))
	if l := losses.Losses(g); len(l) != 1 || l[0] != a {
		t.Errorf("losses are %v, want %v", l, a)
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	total, err := session.Fetch[float32](t.Context(), s, nil, losses.Total(g))
	if err != nil || total[0] != 2.75 {
		t.Errorf("total loss is %v (%v), want 2.75", total, err)
	}
}

func TestBadWeights(t *testing.T) {
	for _, c := range []struct {
		weights []int
		want    string
	}{
		{[]int{2}, "values.rank=2. weights.rank=1"}, {[]int{2, 2}, "Mismatch at dim 1"}, {[]int{3, 1}, "Mismatch at dim 0"},
	} {
		n := 1
		for _, d := range c.weights {
			n *= d
		}
		g := tf.NewGraph()
		w := ops.Const(g, make([]float32, n), c.weights...)
		x := ops.Const(g, make([]float32, 6), 2, 3)
		y := losses.MeanSquaredError(x, x, losses.Options{Weights: w})
		if err := y.Err(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), c.want) {
			t.Errorf("weights of shape %v: %v, want %q", c.weights, err, c.want)
		}
	}
}

func TestBadShapes(t *testing.T) {
	g := eager.New()
	x, y := ops.Const(g, make([]float32, 6), 2, 3), ops.Const(g, make([]float32, 4), 2, 2)
	for i, l := range []tf.Output{losses.Huber(x, y, 1), losses.SigmoidCrossEntropy(x, y, 0), losses.SoftmaxCrossEntropy(x, y, 0), losses.MeanPairwiseSquaredError(x, y)} {
		if l.Err() == nil || !strings.Contains(l.Err().Error(), "incompatible") {
			t.Errorf("loss %d of shapes that differ: %v", i, l.Err())
		}
	}
}

// TestScalarLogits: logits without classes are refused.
func TestScalarLogits(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Scalar(g, float32(1))
	for i, l := range []tf.Output{losses.SoftmaxCrossEntropy(x, x, 0), losses.SparseSoftmaxCrossEntropy(ops.Scalar(g, int32(0)), x)} {
		if tf.CodeOf(l.Err()) != tf.InvalidArgument || !strings.Contains(l.Err().Error(), "Logits cannot be scalars") {
			t.Errorf("loss %d of scalars: %v", i, l.Err())
		}
	}
}

// TestSparseOfUnknownRanks: a last dimension of size 1 that is one too many is found by
// the step where the graph does not know ranks.
func TestSparseOfUnknownRanks(t *testing.T) {
	logits := []float32{-1, 2, 0.5, 0, -0.3, 1.5}
	for _, labels := range []tf.Shape{{2}, {2, 1}} {
		for _, weights := range []tf.Shape{{2}, {2, 1}} {
			for _, known := range []int{0, 1, 2, 4, 7} {
				g := tf.NewGraph()
				hidden := func(x tf.Output, bit int) tf.Output {
					if known&bit != 0 {
						return x
					}
					return ops.PlaceholderWithDefault(x, nil)
				}
				y, x := ops.Const(g, []int32{2, 0}, labels...), ops.Const(g, logits, 2, 3)
				w := ops.Const(g, []float32{1, 3}, weights...)
				loss := losses.SparseSoftmaxCrossEntropy(hidden(y, 1), hidden(x, 2), losses.Options{Weights: hidden(w, 4)})
				s, err := session.New(g)
				if err != nil {
					t.Fatalf("labels %v, weights %v, known %b: %v", labels, weights, known, err)
				}
				got, err := session.Fetch[float32](t.Context(), s, nil, loss)
				if want := 3.612915; err != nil || math.Abs(float64(got[0])-want) > 2e-6 {
					t.Errorf("labels %v, weights %v, known %b: %v (%v), want %v", labels, weights, known, got, err, want)
				}
				s.Close()
			}
		}
	}
}

// TestSparseShapes: labels of another shape than logits are refused, by the step if the
// graph does not know sizes, also where there are as many.
func TestSparseShapes(t *testing.T) {
	for i, f := range []func(labels, logits tf.Output) tf.Output{
		func(labels, logits tf.Output) tf.Output { return losses.SparseSoftmaxCrossEntropy(labels, logits) },
		losses.SparseSoftmaxWithLogits,
	} {
		for _, known := range []bool{true, false} {
			g := tf.NewGraph()
			y, x := ops.Const(g, make([]int32, 6), 3, 2), ops.Const(g, make([]float32, 24), 2, 3, 4)
			if !known {
				y, x = ops.PlaceholderWithDefault(y, tf.Shape{-1, -1}), ops.PlaceholderWithDefault(x, tf.Shape{-1, -1, 4})
			}
			loss := f(y, x)
			s, err := session.New(g)
			if err == nil {
				_, err = s.Run(t.Context(), nil, loss)
				s.Close()
			}
			if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "Shape mismatch") {
				t.Errorf("loss %d, known %v: %v", i, known, err)
			}
		}
	}
}

// TestUnknownReduction: a reduction that there is not is a mistake, no sum.
func TestUnknownReduction(t *testing.T) {
	x := ops.Const(eager.New(), []float32{1, 2})
	if err := losses.MeanSquaredError(x, x, losses.Options{Reduction: losses.Mean + 1}).Err(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("got %v", err)
	}
}
