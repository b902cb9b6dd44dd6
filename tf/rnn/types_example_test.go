package rnn_test

import (
	"fmt"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/rnn"
)

// describe prints the size of a cell's output and those of its state.
func describe(c rnn.Cell) { fmt.Printf("%T %d %d\n", c, c.OutputSize(), c.StateSize()) }

// The cells that there are. The block cells compute the same in one operation each.
func ExampleLSTMCell() {
	var (
		basic *rnn.BasicRNNCell      = rnn.NewBasicRNN(8, rnn.CellOpts{Activation: layers.Relu})
		lstm  *rnn.LSTMCell          = rnn.NewLSTM(8, rnn.LSTMOpts{Projection: 4, Peepholes: true})
		gru   *rnn.GRUCell           = rnn.NewGRU(8)
		block *rnn.LSTMBlockCell     = rnn.NewLSTMBlock(8)
		fast  *rnn.GRUBlockCell      = rnn.NewGRUBlock(8)
		norm  *rnn.LayerNormLSTMCell = rnn.NewLayerNormLSTM(8, rnn.LayerNormLSTMOpts{DropoutRate: 0.1})
		stack *rnn.MultiCell         = rnn.Multi(lstm, gru)
	)
	for _, c := range []rnn.Cell{basic, lstm, gru, block, fast, norm, stack} {
		describe(c)
	}
	// Output:
	// *rnn.BasicRNNCell 8 [8]
	// *rnn.LSTMCell 4 [8 4]
	// *rnn.GRUCell 8 [8]
	// *rnn.LSTMBlockCell 8 [8 8]
	// *rnn.GRUBlockCell 8 [8]
	// *rnn.LayerNormLSTMCell 8 [8 8]
	// *rnn.MultiCell 8 [8 4 8]
}

// Elements of what goes in and out of a cell are dropped, the same in all steps.
func ExampleDropoutOpts() {
	g := tf.NewGraph()
	cell := rnn.Dropout(rnn.NewGRU(8), rnn.DropoutOpts{Input: 0.1, Output: 0.2, Variational: true, InputSize: 4})
	y, _ := rnn.DynamicRNN(cell, ops.Placeholder(g, tf.Float32, tf.Shape{2, 5, 4}))
	fmt.Println(y.Shape(), g.Err())
	// Output: [2,5,8] <nil>
}

// A sequence is read from both ends; what is beyond its length is not.
func ExampleBoth() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{2, 5, 4})
	lengths := ops.Const(g, []int32{5, 3})
	var b rnn.Both = rnn.BidirectionalRNN(rnn.NewGRU(8), rnn.NewLSTM(6), x, rnn.BidirectionalOpts{Opts: rnn.Opts{Lengths: lengths}})
	fmt.Println(b.Forward.Shape(), b.Backward.Shape(), len(b.BackwardState), g.Err())
	// Output: [2,5,8] [2,5,6] 2 <nil>
}

// A cell that looks at three encoded words, of which one sentence has two.
func ExampleAttention() {
	g := tf.NewGraph()
	words := ops.Placeholder(g, tf.Float32, tf.Shape{2, 3, 16})
	var look rnn.Attention = rnn.Luong(8, words, rnn.AttentionOpts{Lengths: ops.Const(g, []int32{3, 2})})
	var cell *rnn.AttentionCell = rnn.Attend(rnn.NewGRU(8), look)
	state := rnn.ZeroState(cell, ops.Scalar[int32](g, 2), tf.Float32)
	y, state := cell.Step(ops.Placeholder(g, tf.Float32, tf.Shape{2, 4}), state)
	fmt.Println(y.Shape(), cell.Weights(state).Shape(), g.Err())
	// Output: [2,16] [2,3] <nil>
}

// countdown is a helper of one's own: it feeds 3, 2, 1 and then ends.
type countdown struct{ g *tf.Graph }

func (c countdown) First() (finished, input tf.Output) {
	return ops.Const(c.g, []bool{false}), ops.Const(c.g, []float32{3}, 1, 1)
}

func (c countdown) Sample(time, output tf.Output) tf.Output {
	return output.Reshape(-1).Cast(tf.Int32)
}

func (c countdown) Next(time, output, sample tf.Output) (finished, input tf.Output) {
	left := ops.Scalar[float32](c.g, 2).Sub(time.Cast(tf.Float32))
	return left.Reshape(1).Less(float32(1)), left.Reshape(1, 1)
}

// A helper says what a decoder is fed, and when it ends.
func ExampleHelper() {
	g := eager.New()
	cell := rnn.NewBasicRNN(1)
	var helper rnn.Helper = countdown{g}
	d := &rnn.BasicDecoder{Cell: cell, Helper: helper, Initial: rnn.ZeroState(cell, ops.Scalar[int32](g, 1), tf.Float32)}
	var out rnn.Decoded = d.Decode()
	fmt.Println(out.Lengths.Value())
	// Output: int32[1]{3} <nil>
}

// Decoders of both kinds have in common that they embed what they have chosen.
func ExampleDecoder() {
	g := tf.NewGraph()
	embed := rnn.Embed(func(ids tf.Output) tf.Output { return ids.OneHot(5) })
	starts, cell := ops.Const(g, []int32{1}), rnn.NewGRU(5)
	state := rnn.ZeroState(cell, ops.Scalar[int32](g, 1), tf.Float32)
	greedy := &rnn.BasicDecoder{Cell: cell, Helper: rnn.GreedyHelper(embed, starts, 0), Initial: state}
	search := &rnn.BeamDecoder{Cell: cell, Embed: embed, Starts: starts, Classes: 5, Width: 2, Initial: rnn.TileBatch(state, 2)}
	for _, d := range []rnn.Decoder{greedy, search} {
		fmt.Printf("%T\n", d)
	}
	var beams rnn.Beams = search.Decode(rnn.DecodeOpts{MaxSteps: ops.Scalar[int32](g, 10)})
	fmt.Println(beams.IDs.Shape(), beams.Scores.Shape(), g.Err())
	// Output:
	// *rnn.BasicDecoder
	// *rnn.BeamDecoder
	// [1,?,2] [1,2] <nil>
}

// A network whose function decides about each step: each output is the next input.
func ExampleRawRNN() {
	g := tf.NewGraph()
	cell := rnn.NewGRU(4)
	emitted, _, _ := rnn.RawRNN(g, cell, func(time, output tf.Output, s rnn.State, loop []tf.Output) rnn.RawStep {
		if output.IsZero() { // before the first step
			s, output = rnn.ZeroState(cell, ops.Scalar[int32](g, 1), tf.Float32), ops.Const(g, []float32{1, 0, 0, 0}, 1, 4)
			return rnn.RawStep{Finished: ops.Const(g, []bool{false}), Input: output, State: s}
		}
		return rnn.RawStep{Finished: time.GreaterEqual(int32(3)).Reshape(1), Input: output, State: s, Emit: output}
	})
	fmt.Println(emitted.Stack().Shape(), g.Err())
	// Output: [?,1,4] <nil>
}

// The loss of each sequence; the weights leave out what is beyond its end.
func ExampleSequenceLossOpts() {
	g := eager.New()
	logits := ops.Const(g, make([]float32, 2*3*4), 2, 3, 4) // all classes as probable
	targets := ops.Const(g, []int32{1, 2, 3, 1, 0, 0}, 2, 3)
	weights := ops.Const(g, []float32{1, 1, 1, 1, 0, 0}, 2, 3)
	fmt.Println(rnn.SequenceLoss(logits, targets, weights, rnn.SequenceLossOpts{PerSequence: true}).Value())
	// Output: float32[2]{1.3862944, 1.3862944} <nil>
}

// A gate decides how much of a cell's input goes past it.
func ExampleHighwayOpts() {
	g := tf.NewGraph()
	cell := rnn.Highway(rnn.NewGRU(4), rnn.HighwayOpts{Uncoupled: true, CarryBias: new(0.5)})
	rnn.DynamicRNN(cell, ops.Placeholder(g, tf.Float32, tf.Shape{2, 5, 4}))
	for _, v := range tf.Variables(g, tf.GlobalVariables) {
		if !strings.Contains(v.Name(), "gru_cell") {
			fmt.Println(v.Name(), v.Shape())
		}
	}
	// Output:
	// rnn/carry_w [4,4]
	// rnn/carry_b [4]
	// rnn/transform_w [4,4]
	// rnn/transform_b [4]
}

// Monotonic attention never looks back: it suits speech, where the order of what is
// said is that of the sounds.
func ExampleMonotonicOpts() {
	g := tf.NewGraph()
	sounds := ops.Const(g, make([]float32, 2*3*4), 2, 3, 4)
	look := rnn.LuongMonotonic(8, sounds, rnn.MonotonicOpts{Mode: rnn.Hard, Bias: -4})
	cell := rnn.Attend(rnn.NewGRU(8), look)
	fmt.Println(cell.StateSize())
	// Output:
	// [8 4 3]
}

// The mode says how the weights are computed: for training in parallel, for use one
// element is chosen.
func ExampleMonotonicMode() {
	for _, mode := range []rnn.MonotonicMode{rnn.Parallel, rnn.Recursive, rnn.Hard} {
		fmt.Println(mode)
	}
	// Output:
	// parallel
	// recursive
	// hard
}

// sharper is a Probability whose weights differ more than those of Softmax.
type sharper struct{ factor float32 }

func (s sharper) Weights(scores tf.Output) tf.Output { return ops.Softmax(scores.Mul(s.factor)) }

// A type of one's own makes weights of scores.
func ExampleProbability() {
	g := tf.NewGraph()
	memory := ops.Const(g, make([]float32, 2*3*4), 2, 3, 4)
	look := rnn.Luong(8, memory, rnn.AttentionOpts{Probability: sharper{2}})
	fmt.Println(rnn.Attend(rnn.NewGRU(8), look).StateSize(), g.Err())
	// Output:
	// [8 4 3] <nil>
}

// Sigmoid lets several elements have a weight of 1.
func ExampleProbabilityFunc() {
	g := tf.NewGraph()
	memory := ops.Const(g, make([]float32, 2*3*4), 2, 3, 4)
	look := rnn.Luong(8, memory, rnn.AttentionOpts{Probability: rnn.ProbabilityFunc(func(scores tf.Output) tf.Output { return ops.Sigmoid(scores) })})
	fmt.Println(rnn.Attend(rnn.NewGRU(8), look).StateSize(), g.Err())
	// Output:
	// [8 4 3] <nil>
}
