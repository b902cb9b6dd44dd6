package fuse_test

import (
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/internal/fuse"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// declared is a variable that may be assigned values of other shapes than it is declared with.
type declared struct {
	read, value tf.Output
	set         *tf.Operation
}

func declare(g *tf.Graph, s tf.Shape) declared {
	v := tf.Apply(g, "VarHandleOp", nil, tf.Attr("dtype", tf.Float32), tf.Attr("shape", s)).Output(0)
	value := ops.Placeholder(g, tf.Float32, nil)
	return declared{read: ops.ReadVariableOp(v, tf.Float32), value: value, set: ops.AssignVariableOp(v, value)}
}

// contradict compares what sessions give of x, with and without clusters, where v holds values of
// some shapes.
func contradict(t *testing.T, v declared, x tf.Output, shapes ...tf.Shape) {
	t.Helper()
	if err := x.Graph().Err(); err != nil {
		t.Fatal(err)
	}
	plain, fused := open(t, x.Graph())
	for _, s := range shapes {
		run := func(ss *session.Session) ([]*tf.Tensor, error) {
			must(ss.Run(t.Context(), session.Feeds{v.value: ramp(s)}, v.set))
			return ss.Run(t.Context(), nil, x)
		}
		want, wantErr := run(plain)
		for _, ss := range fused {
			got, err := run(ss)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("of shape %v: error %v, want %v", s, err, wantErr)
			}
			for k := range got {
				if why := differ(got[k], want[k]); why != "" {
					t.Fatalf("of shape %v: %s", s, why)
				}
			}
		}
	}
}

// TestShapesContradictTheGraph: where a variable has another shape than it was declared with, what
// cuts, folds or joins it in a cluster gives the values, or the errors, that it gives by itself.
func TestShapesContradictTheGraph(t *testing.T) {
	keep := ops.ReduceOpts{KeepDims: true}
	for name, of := range map[string]func(x tf.Output) tf.Output{
		"Split":        func(x tf.Output) tf.Output { p := ops.Split(ops.Neg(x), 2, 1); return ops.Exp(ops.Mul(p[0], p[1])) },
		"one part":     func(x tf.Output) tf.Output { return ops.Exp(ops.Neg(ops.Split(x, 3, 1)[2])) },
		"SplitV":       func(x tf.Output) tf.Output { return ops.Exp(ops.Neg(ops.SplitV(x, []int{2, -1}, 1, 2)[1])) },
		"Slice":        func(x tf.Output) tf.Output { return ops.Exp(ops.Neg(ops.Slice(x, []int{0, 2}, []int{-1, 3}))) },
		"Slice's rest": func(x tf.Output) tf.Output { return ops.Exp(ops.Neg(ops.Slice(x, []int{0, 2}, []int{4, -1}))) },
		"StridedSlice": func(x tf.Output) tf.Output {
			return ops.Exp(ops.Neg(ops.StridedSlice(x, []int{0, 2}, []int{4, 9}, []int{1, 1})))
		},
		"ConcatV2":   func(x tf.Output) tf.Output { a := ops.Exp(x); return ops.Concat(1, []tf.Output{a, ops.Square(a), a}) },
		"Sum":        func(x tf.Output) tf.Output { return ops.Exp(ops.Neg(ops.Sum(ops.Square(x), []int{1}))) },
		"Mean":       func(x tf.Output) tf.Output { return ops.Sub(x, ops.Mean(ops.Square(x), []int{1}, keep)) },
		"Max":        func(x tf.Output) tf.Output { return ops.Exp(ops.Neg(ops.Max(ops.Square(x), []int{-1}))) },
		"Softmax":    func(x tf.Output) tf.Output { return ops.Exp(ops.Softmax(ops.Neg(x))) },
		"LogSoftmax": func(x tf.Output) tf.Output { return ops.Exp(ops.LogSoftmax(ops.Neg(x))) },
	} {
		t.Run(name, func(t *testing.T) {
			g := tf.NewGraph()
			v := declare(g, tf.Shape{4, 6})
			contradict(t, v, of(v.read), tf.Shape{4, 6}, tf.Shape{4, 8}, tf.Shape{4, 6}, tf.Shape{4, 5}, tf.Shape{4, 2}, tf.Shape{4, 1}, tf.Shape{4, 0},
				tf.Shape{6, 6}, tf.Shape{2, 6}, tf.Shape{0, 6}, tf.Shape{1, 6}, tf.Shape{6}, tf.Shape{}, tf.Shape{4, 6, 2}, tf.Shape{2, 6, 0}, tf.Shape{4, 6})
		})
	}
}

// TestEpilogueContradictsTheGraph: so does a cluster that follows a convolution.
func TestEpilogueContradictsTheGraph(t *testing.T) {
	defer fuse.SetLeastStretched(0)()
	g := tf.NewGraph()
	v := declare(g, tf.Shape{3, 3, 2, 6})
	y := ops.Conv2D(ops.ConstTensor(g, ramp(tf.Shape{2, 5, 5, 2})), v.read, []int{1, 1, 1, 1}, "SAME")
	p := ops.Split(y, 2, 3)
	contradict(t, v, ops.Relu(ops.Mul(p[0], p[1])), tf.Shape{3, 3, 2, 6}, tf.Shape{3, 3, 2, 8}, tf.Shape{3, 3, 2, 5}, tf.Shape{3, 3, 2, 6}, tf.Shape{3, 3, 1, 6})
	z := ops.Relu(y)
	contradict(t, v, ops.Concat(3, []tf.Output{ops.Neg(z), z}), tf.Shape{3, 3, 2, 6}, tf.Shape{3, 3, 2, 8}, tf.Shape{3, 3, 2, 0})
}
