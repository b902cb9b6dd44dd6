package recurrent

import (
	"cmp"
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/initializers/orthogonal"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/rnn"
	"github.com/gorge-tf/gorge/tf/vars"
)

// cell returns the network's cell for inputs like x.
func (n *Network) cell(x tf.Output) (c rnn.Cell) {
	if n.Cell != nil {
		return n.Cell()
	}
	g, s := x.Graph(), x.Shape()
	in := s[len(s)-1]
	vars.Scope(g, "rnn", vars.ScopeOptions{}, func() {
		if len(n.Units) == 1 {
			c = newCell(g, cmp.Or(n.Type, SimpleRNN), 0, in, n.Units[0])
			return
		}
		vars.Scope(g, "stacked_rnn_cells", vars.ScopeOptions{}, func() { c = n.stack(g, in) })
	})
	return c
}

func (n *Network) stack(g *tf.Graph, in int) rnn.Cell {
	var all []rnn.Cell
	for i, units := range n.Units {
		all = append(all, newCell(g, cmp.Or(n.Type, SimpleRNN), i, in, units))
		in = units
	}
	return rnn.Multi(all...)
}

// A kerasCell has a kernel for inputs, one for the state, and a bias. Its variables
// are made before the loop over steps.
type kerasCell struct {
	kind                      CellType
	units                     int
	kernel, recurrent, biases tf.Output
}

// gates is how many times its units a cell computes.
var gates = map[CellType]int{SimpleRNN: 1, LSTM: 4, GRU: 3}

// newCell makes the i-th cell of its kind.
func newCell(g *tf.Graph, kind CellType, i, in, units int) rnn.Cell {
	c, n := &kerasCell{kind: kind, units: units}, gates[kind]*units
	name := string(kind) + "_cell"
	if i > 0 {
		name = fmt.Sprintf("%s_%d", name, i)
	}
	vars.Scope(g, name, vars.ScopeOptions{}, func() {
		get := func(name string, init initializers.Initializer, s ...int) tf.Output {
			return vars.Get(g, name, s, vars.Options{Initializer: init}).Value()
		}
		c.kernel = get("kernel", initializers.GlorotUniform, in, n)
		c.recurrent = get("recurrent_kernel", orthogonal.New(1), units, n)
		switch kind {
		case LSTM:
			c.biases = get("bias", forgetOnes, n)
		case GRU:
			c.biases = get("bias", initializers.Zeros, 2, n)
		default:
			c.biases = get("bias", initializers.Zeros, n)
		}
	})
	return c
}

// forgetOnes is 1 for the gate that forgets, the second of four, and 0 for others.
func forgetOnes(g *tf.Graph, d tf.DType, s tf.Shape) tf.Output {
	values := make([]float32, s[0])
	for i := s[0] / 4; i < s[0]/2; i++ {
		values[i] = 1
	}
	return ops.Const(g, values).Cast(d)
}

// StateSize returns the sizes of h and, of an LSTM, of c before it.
func (c *kerasCell) StateSize() []int {
	if c.kind == LSTM {
		return []int{c.units, c.units}
	}
	return []int{c.units}
}

// OutputSize returns the number of units.
func (c *kerasCell) OutputSize() int { return c.units }

// Step adds a step.
func (c *kerasCell) Step(x tf.Output, s rnn.State) (y tf.Output, next rnn.State) {
	switch c.kind {
	case LSTM:
		return c.lstm(x, s)
	case GRU:
		return c.gru(x, s)
	}
	y = ops.Tanh(ops.AddV2(ops.BiasAdd(ops.MatMul(x, c.kernel), c.biases), ops.MatMul(s[0], c.recurrent)))
	return y, rnn.State{y}
}

func (c *kerasCell) lstm(x tf.Output, s rnn.State) (tf.Output, rnn.State) {
	z := ops.BiasAdd(ops.AddV2(ops.MatMul(x, c.kernel), ops.MatMul(s[1], c.recurrent)), c.biases)
	parts := ops.Split(z, 4, 1)
	memory := ops.AddV2(ops.Mul(ops.Sigmoid(parts[1]), s[0]), ops.Mul(ops.Sigmoid(parts[0]), ops.Tanh(parts[2])))
	y := ops.Mul(ops.Sigmoid(parts[3]), ops.Tanh(memory))
	return y, rnn.State{memory, y}
}

func (c *kerasCell) gru(x tf.Output, s rnn.State) (tf.Output, rnn.State) {
	a := ops.Split(ops.BiasAdd(ops.MatMul(x, c.kernel), c.biases.At("0")), 3, 1)
	b := ops.Split(ops.BiasAdd(ops.MatMul(s[0], c.recurrent), c.biases.At("1")), 3, 1)
	update, reset := ops.Sigmoid(ops.AddV2(a[0], b[0])), ops.Sigmoid(ops.AddV2(a[1], b[1]))
	candidate := ops.Tanh(ops.AddV2(a[2], ops.Mul(reset, b[2])))
	y := ops.AddV2(ops.Mul(update, s[0]), ops.Mul(ops.Sub(ops.OnesLike(update), update), candidate))
	return y, rnn.State{y}
}
