package xla

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// growing returns a module of a vector and a size k: windows of k elements, padded before
// with pad(k), combined by a function.
func growing(combine string, change func(op *stablehlo.Op)) *stablehlo.Module {
	scalar, line, one := tensorOf("i32"), tensorOf("i32", stablehlo.Dynamic), tensorOf("i32", 1)
	w, f := writer{&stablehlo.Block{Args: []*stablehlo.Value{{Type: line}, {Type: scalar}}}}, writer{&stablehlo.Block{Args: []*stablehlo.Value{{Type: scalar}, {Type: scalar}}}}
	k, unit := w.b.Args[1], w.op("reshape", one, nil, w.int(1))
	low, high := w.op("reshape", one, nil, w.op("subtract", scalar, nil, k, w.int(1))), w.op("reshape", one, nil, w.int(0))
	pads := w.op("reshape", tensorOf("i32", 1, 2), nil, w.op("concatenate", tensorOf("i32", 2), nil, low, high))
	out := w.op("custom_call", line, map[string]stablehlo.Attr{"call_target_name": stablehlo.String("stablehlo.dynamic_reduce_window"), "called_computations": stablehlo.Array{stablehlo.Symbol("f")}},
		w.b.Args[0], w.int(1), w.op("reshape", one, nil, k), unit, unit, unit, pads)
	change(out.Def)
	w.ends(out)
	f.ends(f.op(combine, scalar, nil, f.b.Args...))
	return &stablehlo.Module{Funcs: []*stablehlo.Func{{Name: "main", Body: w.b}, {Name: "f", Body: f.b}}}
}

func sums(m *stablehlo.Module, x []int32, k int32) ([]int32, error) {
	g := tf.NewGraph()
	l := newLowering(m, g, free)
	out, err := l.block(m.Funcs[0].Body, []tf.Output{ops.Const(g, x, len(x)), ops.Scalar(g, k)})
	if err != nil {
		return nil, err
	}
	s, err := session.New(g)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	got, err := s.Run(context.Background(), nil, out[0])
	if err != nil {
		return nil, err
	}
	return tf.Data[int32](got[0]), nil
}

// TestGrowingWindows: windows of a size that is not known are those of whole dimensions,
// which the step checks. Initial values count once.
func TestGrowingWindows(t *testing.T) {
	same := func(*stablehlo.Op) {}
	for n := range 10 {
		x := make([]int32, n)
		total, most := make([]int32, n), make([]int32, n)
		sum, top := int32(1), int32(1)
		for i := range x {
			x[i] = int32((7*i)%5 - 1)
			sum, top = sum+x[i], max(top, x[i])
			total[i], most[i] = sum, top
		}
		for combine, want := range map[string][]int32{"add": total, "maximum": most} {
			if got, err := sums(growing(combine, same), x, int32(n)); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s of %v: got %v, %v, want %v", combine, x, got, err, want)
			}
			if _, err := sums(growing(combine, same), x, int32(n+1)); err == nil || !strings.Contains(err.Error(), "windows of a size") {
				t.Errorf("%s of windows of %d in %d: got %v", combine, n+1, n, err)
			}
		}
	}
}

// TestGrowingWindowsRefused: mistakes of the call are told.
func TestGrowingWindowsRefused(t *testing.T) {
	for what, c := range map[string]struct {
		change func(op *stablehlo.Op)
		code   tf.Code
	}{
		"no computation": {func(op *stablehlo.Op) { delete(op.Attrs, "called_computations") }, tf.InvalidArgument},
		"no function": {func(op *stablehlo.Op) {
			op.Attrs["called_computations"] = stablehlo.Array{stablehlo.Symbol("g")}
		}, tf.InvalidArgument},
		"few operands":       {func(op *stablehlo.Op) { op.Operands = op.Operands[:6] }, tf.InvalidArgument},
		"rank of a size":     {func(op *stablehlo.Op) { op.Operands[3] = op.Operands[1] }, tf.InvalidArgument},
		"rank of padding":    {func(op *stablehlo.Op) { op.Operands[6] = op.Operands[3] }, tf.InvalidArgument},
		"stride as a window": {func(op *stablehlo.Op) { op.Operands[3] = op.Operands[2] }, tf.Unimplemented},
	} {
		if _, err := sums(growing("add", c.change), []int32{1, 2}, 2); tf.CodeOf(err) != c.code {
			t.Errorf("%s: got %v, want %v", what, err, c.code)
		}
	}
}
