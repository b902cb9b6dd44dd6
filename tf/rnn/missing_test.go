package rnn_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/rnn"
)

// TestMissing: a nil cell and the zero Output are mistakes wherever they are given.
func TestMissing(t *testing.T) {
	state := func(g *tf.Graph) rnn.State { return rnn.State{ops.Const(g, []float32{1, 2}, 1, 2)} }
	input := func(g *tf.Graph) tf.Output { return ops.Const(g, []float32{1}, 1, 1) }
	for name, f := range map[string]func(g *tf.Graph) tf.Output{
		"raw, nothing decided": func(g *tf.Graph) tf.Output {
			e, _, _ := rnn.RawRNN(g, nil, func(_, _ tf.Output, _ rnn.State, _ []tf.Output) (s rnn.RawStep) { return s })
			return e.Flow()
		},
		"raw, no graph": func(*tf.Graph) tf.Output {
			e, _, _ := rnn.RawRNN(nil, rnn.NewBasicRNN(2), func(_, _ tf.Output, _ rnn.State, _ []tf.Output) (s rnn.RawStep) { return s })
			return e.Flow()
		},
		"raw, no function": func(g *tf.Graph) tf.Output {
			_, s, _ := rnn.RawRNN(g, rnn.NewBasicRNN(2), nil)
			return s[0]
		},
		"raw": func(g *tf.Graph) tf.Output {
			e, _, _ := rnn.RawRNN(g, nil, func(_, _ tf.Output, _ rnn.State, _ []tf.Output) rnn.RawStep {
				return rnn.RawStep{Finished: ops.Const(g, []bool{true}), Input: input(g)}
			})
			return e.Flow()
		},
		"static": func(g *tf.Graph) tf.Output { _, s := rnn.StaticRNN(rnn.NewBasicRNN(2), []tf.Output{{}}); return s[0] },
		"static, later": func(g *tf.Graph) tf.Output {
			_, s := rnn.StaticRNN(rnn.NewBasicRNN(2), []tf.Output{input(g), {}})
			return s[0]
		},
		"beam": func(*tf.Graph) tf.Output { return (&rnn.BeamDecoder{}).Decode().IDs },
		"decoder": func(g *tf.Graph) tf.Output {
			d := &rnn.BasicDecoder{Cell: rnn.NewBasicRNN(2), Helper: rnn.TrainingHelper(tf.Output{}, tf.Output{}), Initial: state(g)}
			return d.Decode().Output
		},
		"scheduled": func(g *tf.Graph) tf.Output {
			x := ops.Const(g, []float32{1, 2}, 1, 1, 2)
			h := rnn.ScheduledHelper(x, ops.Const(g, []int32{1}), ops.Scalar(g, float32(1)), nil, 0)
			return (&rnn.BasicDecoder{Cell: rnn.NewBasicRNN(2), Helper: h, Initial: state(g)}).Decode().Output
		},
		"greedy": func(g *tf.Graph) tf.Output {
			embed := func(ids tf.Output) tf.Output { return ids.OneHot(4) }
			d := &rnn.BasicDecoder{Cell: rnn.NewBasicRNN(2), Helper: rnn.GreedyHelper(embed, tf.Output{}, 1), Initial: state(g)}
			return d.Decode().Output
		},
	} {
		if y := f(tf.NewGraph()); tf.CodeOf(y.Err()) != tf.InvalidArgument {
			t.Errorf("%s: %v", name, y.Err())
		}
	}
	if s := rnn.ZeroState(nil, ops.Scalar(tf.NewGraph(), int32(2)), tf.Float32); len(s) != 0 {
		t.Errorf("the state of no cell is %v", s)
	}
}

// TestTileBatchWithoutRows: what has no rows that are known cannot be repeated by row.
func TestTileBatchWithoutRows(t *testing.T) {
	g := tf.NewGraph()
	for _, x := range rnn.TileBatch(rnn.State{ops.Scalar(g, float32(1)), ops.Placeholder(g, tf.Float32, nil), {}}, 2) {
		if tf.CodeOf(x.Err()) != tf.InvalidArgument {
			t.Errorf("%v: %v", x, x.Err())
		}
	}
}

// TestStaticMistakes: a mistake is in all outputs, of which a program takes the last one.
func TestStaticMistakes(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Const(g, []float32{1, 2}, 1, 2)
	for name, xs := range map[string][]tf.Output{"none": nil, "the zero Output": {x, {}}, "a vector": {x.Reshape(2)}} {
		ys, _ := rnn.StaticRNN(rnn.NewBasicRNN(2), xs)
		if len(ys) != max(len(xs), 1) || tf.CodeOf(ys[len(ys)-1].Err()) != tf.InvalidArgument {
			t.Errorf("%s: %v", name, ys)
		}
	}
	if ys, _ := rnn.StaticRNN(nil, []tf.Output{x}); len(ys) != 1 || ys[0].Err() == nil {
		t.Errorf("no cell: %v", ys)
	}
}

// TestNoInputOnADevice: a wrapped cell tells of an input that is missing as the cell does.
func TestNoInputOnADevice(t *testing.T) {
	g := tf.NewGraph()
	state := rnn.State{ops.Const(g, []float32{1, 2}, 1, 2)}
	if y, _ := rnn.OnDevice(rnn.NewBasicRNN(2), "/device:CPU:0").Step(tf.Output{}, state); tf.CodeOf(y.Err()) != tf.InvalidArgument {
		t.Error(y.Err())
	}
}
