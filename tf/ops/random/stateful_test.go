package random_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/random"
)

// fromGenerator makes the function of a sample that draws twice from a generator
// whose state is the first input, and reads the state after that.
func fromGenerator(draw func(g *tf.Graph, handle tf.Output, in []tf.Output) *tf.Operation) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(g *tf.Graph, in []tf.Output) []tf.Output {
		h := ops.VarHandleOp(g, in[0].DType(), nil, ops.VarHandleOpts{SharedName: "state"})
		before := ops.AssignVariableOp(h, in[0])
		g.ControlDependencies([]*tf.Operation{before}, func() { // one of TensorFlow's kernels loses an update of memory that is not the variable's alone
			before = ops.AssignAddVariableOp(h, ops.ZerosLike(in[0]))
		})
		var out []tf.Output
		for range 2 {
			g.ControlDependencies([]*tf.Operation{before}, func() { before = draw(g, h, in[1:]) })
			if before.Err() != nil {
				return []tf.Output{before.Output(0)}
			}
			out = append(out, before.Outputs()...)
		}
		g.ControlDependencies([]*tf.Operation{before}, func() { out = append(out, ops.ReadVariableOp(h, in[0].DType())) })
		return out
	}
}

// applied draws by an op, the handle before its inputs.
func applied(op string, opts ...tf.Option) func(*tf.Graph, tf.Output, []tf.Output) *tf.Operation {
	return func(_ *tf.Graph, h tf.Output, in []tf.Output) *tf.Operation {
		return tf.Apply(nil, op, append([]tf.Output{h}, in...), opts...)
	}
}

func init() {
	state, philox := vec[int64](-1, 7, 0x123456789abcdef), scalar[int64](1)
	floats := []tf.DType{tf.Float32, tf.Float64, tf.Float16, tf.BFloat16}
	for op, types := range map[string][]tf.DType{
		"StatefulUniform": floats, "StatefulStandardNormalV2": floats, "StatefulTruncatedNormal": floats,
		"StatefulUniformFullInt": {tf.Uint64, tf.Int32, tf.Int64, tf.Uint32},
	} {
		for _, d := range types {
			addSamples(sample{Op: op, Name: d.String(), In: []*core.Tensor{state, philox, shape}, F: fromGenerator(applied(op, tf.Attr("dtype", d))), Types: onlyOwn, Tol: libm})
		}
		f := fromGenerator(applied(op))
		addSamples(
			sample{Op: op, Name: "auto", In: []*core.Tensor{state, scalar[int64](3), vec[int64](2)}, F: f, Types: onlyOwn, Tol: libm},
			failing(op, "state", f, vec[int64](1, 2), philox, shape),
			failing(op, "matrix", f, mat[int64](3, 1, 2, 3), philox, shape),
			failing(op, "type", f, i32(1, 2, 3), philox, shape),
			failing(op, "algorithm", f, state, scalar[int64](4), shape),
			failing(op, "shape", f, state, philox, i32(-1)))
	}
	addStatefulInts(state, philox)
	tagged := fromGenerator(applied("StatefulStandardNormal"))
	addSamples(
		sample{Op: "StatefulStandardNormal", In: []*core.Tensor{vec[int64](1, 2, 3, 4), shape}, F: tagged, Types: onlyOwn, Tol: libm, NoGolden: "TensorFlow refuses it in graphs of today"},
		sample{Op: "StatefulStandardNormal", Name: "bad tag", In: []*core.Tensor{vec[int64](9, 2, 3, 4), shape}, F: tagged, Types: onlyOwn, Fails: true, NoGolden: "TensorFlow refuses it in graphs of today"},
		sample{Op: "NonDeterministicInts", In: []*core.Tensor{i32(0, 3)}, F: nary("NonDeterministicInts"), Types: onlyOwn},
		failing("NonDeterministicInts", "shape", nary("NonDeterministicInts"), i32(-3)))
}

func addStatefulInts(state, philox *core.Tensor) {
	ints, skip, read := fromGenerator(applied("StatefulUniformInt")), fromGenerator(applied("RngSkip")), fromGenerator(applied("RngReadAndSkip"))
	one := scalar[int32](1)
	addSamples(
		sample{Op: "StatefulUniformInt", In: []*core.Tensor{state, philox, shape, scalar[int32](-7), scalar[int32](1000)}, F: ints, Types: onlyOwn},
		sample{Op: "StatefulUniformInt", Name: "int64", In: []*core.Tensor{state, philox, shape, scalar[int64](-7), scalar[int64](1 << 40)}, F: ints, Types: onlyOwn},
		failing("StatefulUniformInt", "range", ints, state, philox, shape, scalar[int32](3), scalar[int32](3)),
		sample{Op: "RngSkip", In: []*core.Tensor{state, philox, scalar[int64](5)}, F: skip, Types: onlyOwn},
		failing("RngSkip", "algorithm", skip, state, scalar[int64](7), scalar[int64](5)),
		sample{Op: "RngReadAndSkip", In: []*core.Tensor{state, one, scalar[uint64](5)}, F: read, Types: onlyOwn},
		failing("RngReadAndSkip", "vector", read, state, i32(1), scalar[uint64](5)),
		failing("RngReadAndSkip", "algorithm", read, state, scalar[int32](2), scalar[uint64](5)),
		failing("RngReadAndSkip", "state", read, vec[int64](1, 2), one, scalar[uint64](5)))
}

// TestUnforeseen: no two runs are alike.
func TestUnforeseen(t *testing.T) {
	g := eager.New()
	seen := map[int64]bool{}
	for range 3 {
		v, err := random.NonDeterministicInts(ops.Const(g, []int32{100}), tf.Int64).Value()
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range tf.Data[int64](v) {
			if seen[x] {
				t.Errorf("%d came twice", x)
			}
			seen[x] = true
		}
	}
}

// TestTooManySamples: sizes whose product, with those of the parameters, is no int64 are refused in TensorFlow's words.
func TestTooManySamples(t *testing.T) {
	g := eager.New()
	shape := ops.Const(g, []int64{46902, 51188, 34063, 59195})
	_, err := random.RandomPoissonV2(shape, ops.Const(g, []float32{1, 2, 3, 4}, 4, 1), tf.Int64).Value()
	if tf.CodeOf(err) != tf.InvalidArgument || tf.AsError(err).Msg != "Encountered overflow when multiplying 4840914843677363160 with 4, result: -1" {
		t.Errorf("got %v", err)
	}
}
