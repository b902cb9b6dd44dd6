package rnn

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/vars"
)

// HighwayOpts are what may be chosen for a cell with a gate between its input and
// its output.
type HighwayOpts struct {
	// Uncoupled gives the output a gate of its own, which is otherwise 1 minus
	// that of the input. Its variables are transform_w and transform_b, which
	// begins with -CarryBias.
	Uncoupled bool
	CarryBias *float64 // what carry_b begins with; nil stands for 1
}

// A highway is a cell with gates.
type highway struct {
	Cell
	o                HighwayOpts
	carry, transform *affine // nil until the first step
}

// Highway returns a cell that mixes the output of c with its input, of the same
// size, by a gate: x·g + y·(1-g), g = sigmoid(x·w + b) (Srivastava et al., NIPS
// 2015). Variables are carry_w and carry_b, in the scope of the step.
func Highway(c Cell, o ...HighwayOpts) Cell { return &highway{Cell: given(c), o: first(o)} }

func (h *highway) zeroState(n tf.Output, d tf.DType) State { return ZeroState(h.Cell, n, d) }

// Step adds a step.
func (h *highway) Step(x tf.Output, s State) (tf.Output, State) {
	y, next := h.Cell.Step(x, s)
	if x.Err() != nil || y.Err() != nil {
		return y, next
	}
	if n := h.OutputSize(); x.Shape()[1] != n {
		return failed(h, x, "highway", tf.Errorf(tf.InvalidArgument, "a highway cell needs inputs of the size of its outputs, %d, got %v", n, x))
	}
	h.build(x)
	carry := gate(h.carry, x)
	if h.o.Uncoupled {
		return ops.AddV2(ops.Mul(x, carry), ops.Mul(y, gate(h.transform, x))), next
	}
	return ops.AddV2(ops.Mul(carry, ops.Sub(x, y)), y), next
}

// build makes the variables with the first step.
func (h *highway) build(x tf.Output) {
	if h.carry != nil {
		return
	}
	bias := 1.0
	if h.o.CarryBias != nil {
		bias = *h.o.CarryBias
	}
	h.carry = h.affine(x, "carry", bias)
	if h.o.Uncoupled {
		h.transform = h.affine(x, "transform", -bias)
	}
}

func (h *highway) affine(x tf.Output, name string, bias float64) *affine {
	n, g := h.OutputSize(), x.Graph()
	w := vars.Get(g, name+"_w", tf.Shape{n, n}, vars.Options{DType: x.DType()}).Value
	b := vars.Get(g, name+"_b", tf.Shape{n}, vars.Options{DType: x.DType(), Initializer: initializers.Constant(bias)}).Value
	return &affine{w, b}
}

func gate(a *affine, x tf.Output) tf.Output {
	return ops.Sigmoid(ops.BiasAdd(ops.MatMul(x, a.kernel()), a.bias()))
}
