package fuse_test

import (
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/internal/fuse"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// filledRef returns a reference variable, and what gives it numbers.
func filledRef(g *tf.Graph, s ...int) (v, start tf.Output) {
	v = ops.VariableV2(g, tf.Float32, append(tf.Shape{}, s...))
	return v, ops.Assign(v, ops.ConstTensor(g, ramp(append(tf.Shape{}, s...))))
}

// sameAfter compares a session that fuses nothing with others, each of which starts first.
func sameAfter(t *testing.T, g *tf.Graph, start []tf.Fetchable, fetches ...tf.Fetchable) {
	t.Helper()
	if g.Err() != nil {
		t.Fatal(g.Err())
	}
	var want []*tf.Tensor
	for i, c := range []session.Config{{DisabledPasses: []string{"fusion"}}, {}, {SaveMemory: true}} {
		s := must(session.New(g, session.With(c)))
		_, err := s.Run(t.Context(), nil, start...)
		got := must(s.Run(t.Context(), nil, fetches...))
		s.Close()
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			want = got
		}
		for k := range got {
			if got[k] == nil {
				continue
			}
			if why := differ(got[k], want[k]); why != "" {
				t.Errorf("session %d: output %d: %s", i, k, why)
			}
		}
	}
}

// TestProductsOfReferences: convolutions and products read reference variables, also where
// others run with them.
func TestProductsOfReferences(t *testing.T) {
	defer fuse.SetLeastStretched(0)()
	g := tf.NewGraph()
	x, x0 := filledRef(g, 2, 3, 3, 5)
	w, w0 := filledRef(g, 1, 1, 5, 5)
	m, m0 := filledRef(g, 5, 5)
	v := ops.Const(g, []float32{1, 2, 3, -1, 0.5})
	conv := func() tf.Output { return ops.Conv2D(x, w, []int{1, 1, 1, 1}, "SAME") }
	norm := tf.Apply(nil, "FusedBatchNormV3", []tf.Output{conv(), v, v, v, v}, tf.Attr("is_training", false)).Output(0)
	for i, y := range []tf.Output{
		ops.Relu(ops.BiasAdd(conv(), v)), ops.Relu(ops.AddV2(conv(), ops.Exp(ops.Identity(x)))), ops.Relu(norm),
		ops.BiasAdd(ops.MatMul(m, m), v), ops.Relu(ops.BiasAdd(ops.MatMul(m, m), v)), ops.AddV2(ops.MatMul(m, m), ops.MatMul(m, m)),
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) { sameAfter(t, g, []tf.Fetchable{x0, w0, m0}, y) })
	}
}

// TestUpdatesOfReferences: so do gradients that are applied in parts.
func TestUpdatesOfReferences(t *testing.T) {
	g := tf.NewGraph()
	m, m0 := filledRef(g, 128, 128)
	rate, rate0 := filledRef(g)
	v := tf.NewVariable(ops.ConstTensor(g, ramp(tf.Shape{128, 128})), tf.VariableOptions{})
	update := tf.Apply(nil, "ResourceApplyGradientDescent", []tf.Output{v.Handle(), rate, ops.MatMul(m, m)})
	var after tf.Output
	g.ControlDependencies([]*tf.Operation{update}, func() { after = ops.ReadVariableOp(v.Handle(), tf.Float32) })
	sameAfter(t, g, []tf.Fetchable{m0, rate0, tf.InitializeAll(g)}, update, after)
}

// TestNormsOfReferences: a normalization of a variable is done with it when its moments are there.
func TestNormsOfReferences(t *testing.T) {
	defer fuse.SetLeastStretched(0)()
	g := tf.NewGraph()
	x, x0 := filledRef(g, 16, 32, 32, 5)
	v, empty := ops.Const(g, []float32{1, 2, 3, -1, 0.5}), ops.Const(g, []float32{})
	norm := tf.Apply(nil, "FusedBatchNormV3", []tf.Output{x, v, v, empty, empty}).Outputs()
	given := tf.Apply(nil, "FusedBatchNormV3", []tf.Output{x, v, v, v, v}, tf.Attr("is_training", false)).Output(0)
	next := ops.Assign(x, ops.Mul(ops.Fill(ops.Const(g, []int32{16, 32, 32, 5}), ops.Scalar[float32](g, 100)), norm[1]))
	sameAfter(t, g, []tf.Fetchable{x0}, ops.Relu(norm[0]), norm[2], next.Operation())
	sameAfter(t, g, []tf.Fetchable{x0}, ops.Relu(given), ops.Tanh(norm[0]))
}
