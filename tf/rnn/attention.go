package rnn

import (
	"cmp"
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/vars"
)

// An Attention says how well each element of a memory, such as the outputs of an
// encoder, answers a query.
type Attention interface {
	// Memory returns the elements, [batch time size], zeros behind the end of a
	// sequence.
	Memory() tf.Output
	// Align returns the weights of the elements for queries [batch units]:
	// [batch time], whose sum is 1.
	Align(query tf.Output) tf.Output
}

// AttentionOpts are what may be chosen for attention.
type AttentionOpts struct {
	Lengths tf.Output // of the sequences in the memory, [batch]; the zero Output stands for the whole time
	// Scale lets the sharpness of the weights be learned: the scale of Luong's, the
	// normalized form of Bahdanau's (Salimans and Kingma, NIPS 2016).
	Scale bool
}

// memory is what both kinds of attention have in common.
type memory struct {
	name   string
	units  int
	values tf.Output
	keys   tf.Output // [batch time units]
	mask   tf.Output // bool [batch time], or the zero Output
	o      AttentionOpts
}

func newMemory(name string, units int, values tf.Output, o AttentionOpts) *memory {
	m := &memory{name: name, units: units, values: values, o: o}
	if err := m.check(); err != nil {
		m.values = tf.Failed(values.Graph(), name, err).Output(0)
		m.keys = m.values
		return m
	}
	if n := o.Lengths; !n.IsZero() {
		steps := ops.Range(nil, ops.Scalar(n.Graph(), int32(0)), ops.Shape(values).At("1"), ops.Scalar(n.Graph(), int32(1)))
		m.mask = ops.Less(ops.ExpandDims(steps, 0), ops.ExpandDims(n.Cast(tf.Int32), 1))
		m.values = ops.Mul(values, ops.ExpandDims(m.mask, 2).Cast(values.DType()))
		m.values.SetShape(values.Shape())
	}
	m.keys = layers.NewDense(units, layers.DenseOpts{Name: "memory_layer", NoBias: true}).Apply(m.values)
	return m
}

func (m *memory) check() error {
	if err := m.values.Err(); err != nil {
		return err
	}
	if s := m.values.Shape(); len(s) != 3 || s[2] < 0 || m.units <= 0 {
		return tf.Errorf(tf.InvalidArgument, "attention needs a memory [batch time size] whose size is known and a positive number of units, got %v and %d", m.values, m.units)
	}
	if n := m.o.Lengths; !n.IsZero() && (n.Err() != nil || len(n.Shape()) != 1) {
		return tf.Errorf(tf.InvalidArgument, "the lengths of a memory must be a vector, got %v", n)
	}
	return nil
}

// Memory returns the elements.
func (m *memory) Memory() tf.Output { return m.values }

// weights turns scores [batch time] into weights.
func (m *memory) weights(scores tf.Output) tf.Output {
	if !m.mask.IsZero() {
		low := ops.OnesLike(scores).Mul(-1e30)
		scores = ops.SelectV2(m.mask, scores, low)
	}
	y := ops.Softmax(scores)
	if y.Err() == nil {
		y.SetShape(m.values.Shape()[:2])
	}
	return y
}

// checkQuery refuses queries that have no answer here.
func (m *memory) checkQuery(query tf.Output) (bad tf.Output) {
	switch {
	case m.keys.Err() != nil:
		return m.keys
	case query.Err() != nil:
		return query
	case len(query.Shape()) != 2 || query.Shape()[1] < 0:
		return tf.Failed(query.Graph(), m.name, tf.Errorf(tf.InvalidArgument, "a query must be [batch units] with a known number of units, got %v", query)).Output(0)
	}
	return bad
}

type luong struct {
	*memory
	scale parameter
}

// Luong returns attention by products of queries and keys (Luong, Pham and Manning,
// EMNLP 2015). Keys are memory [batch time size] times memory_layer/kernel [size
// units]; units must be the size of queries. The variable of a scale is
// luong_attention/attention_g.
func Luong(units int, values tf.Output, o ...AttentionOpts) Attention {
	return &luong{memory: newMemory("luong_attention", units, values, first(o))}
}

// Align returns the weights for queries.
func (a *luong) Align(query tf.Output) (y tf.Output) {
	if bad := a.checkQuery(query); !bad.IsZero() {
		return bad
	}
	if n := query.Shape()[1]; n != a.units {
		return tf.Failed(query.Graph(), a.name, tf.Errorf(tf.InvalidArgument,
			"Incompatible or unknown inner dimensions between query and keys. Query (%v) has units: %d. Keys (%v) have units: %d. Perhaps you need to set units to the keys' units (%d)?", query, n, a.keys, a.units, n)).Output(0)
	}
	g := query.Graph()
	vars.Scope(g, a.name, vars.ScopeOptions{Reuse: vars.Auto}, func() {
		scores := ops.Squeeze(ops.BatchMatMulV2(ops.ExpandDims(query, 1), a.keys, ops.BatchMatMulOpts{AdjY: true}), []int{1})
		if a.o.Scale {
			if a.scale == nil {
				a.scale = vars.Get(g, "attention_g", tf.Shape{}, vars.Options{DType: query.DType(), Initializer: initializers.Ones}).Value
			}
			scores = ops.Mul(a.scale(), scores)
		}
		y = a.weights(scores)
	})
	return y
}

type bahdanau struct {
	*memory
	query   *layers.DenseLayer
	v, g, b parameter
}

// Bahdanau returns attention by a small network of queries and keys (Bahdanau, Cho
// and Bengio, ICLR 2015). Variables are memory_layer/kernel [size units],
// bahdanau_attention/query_layer/kernel and bahdanau_attention/attention_v
// [units], and with Scale attention_g and attention_b.
func Bahdanau(units int, values tf.Output, o ...AttentionOpts) Attention {
	return &bahdanau{
		memory: newMemory("bahdanau_attention", units, values, first(o)),
		query:  layers.NewDense(units, layers.DenseOpts{Name: "query_layer", NoBias: true}),
	}
}

// Align returns the weights for queries.
func (a *bahdanau) Align(query tf.Output) (y tf.Output) {
	if bad := a.checkQuery(query); !bad.IsZero() {
		return bad
	}
	vars.Scope(query.Graph(), a.name, vars.ScopeOptions{Reuse: vars.Auto}, func() {
		q := ops.ExpandDims(a.query.Apply(query), 1)
		a.build(query)
		y = a.weights(a.score(ops.AddV2(a.keys, q)))
	})
	return y
}

func (a *bahdanau) build(query tf.Output) {
	if a.v != nil {
		return
	}
	get := func(name string, init initializers.Initializer, s ...int) parameter {
		return vars.Get(query.Graph(), name, append(tf.Shape{}, s...), vars.Options{DType: query.DType(), Initializer: init}).Value
	}
	a.v = get("attention_v", nil, a.units)
	if a.o.Scale {
		a.g = get("attention_g", initializers.Constant(math.Sqrt(1/float64(a.units))))
		a.b = get("attention_b", initializers.Zeros, a.units)
	}
}

// score adds up the units of each element.
func (a *bahdanau) score(z tf.Output) tf.Output {
	v := a.v()
	if a.o.Scale {
		v = ops.Mul(ops.Mul(a.g(), v), ops.Rsqrt(ops.Square(v).Sum()))
		z = ops.AddV2(z, a.b())
	}
	return ops.Sum(ops.Mul(v, ops.Tanh(z)), []int{2})
}

// AttendOpts are what may be chosen for a cell with attention.
type AttendOpts struct {
	// Size is that of the attention that is returned, a product of the cell's
	// output and the context; 0: the context itself, of the memory's size.
	Size int
	// CellOutput returns the cell's output, not the attention.
	CellOutput bool
	Initial    State // of the wrapped cell in the state of zeros; nil stands for zeros
	Name       string
}

// An AttentionCell lets a cell look at a memory in each step: the context is the
// sum of the memory's elements by their weights. The attention of a step is part
// of the next input. Its state is the cell's, the attention [batch size] and the
// weights [batch time].
type AttentionCell struct {
	home
	cell Cell
	m    Attention
	ao   AttendOpts
	out  *layers.DenseLayer
}

// Attend returns a cell with attention. Variables are
// attention_wrapper/lstm_cell/…, those of the attention in attention_wrapper, and
// attention_wrapper/attention_layer/kernel.
func Attend(c Cell, m Attention, o ...AttendOpts) *AttentionCell {
	if m == nil {
		m = noMemory{tf.Failed(nil, "attention_wrapper", tf.Errorf(tf.InvalidArgument, "a cell needs an attention, got nil")).Output(0)}
	}
	a := &AttentionCell{home: home{kind: "attention_wrapper", units: 1}, cell: given(c), m: m, ao: first(o)}
	a.o.Name = a.ao.Name
	if a.ao.Size > 0 {
		a.out = layers.NewDense(a.ao.Size, layers.DenseOpts{Name: "attention_layer", NoBias: true})
	}
	return a
}

// StateSize returns the sizes of the cell's state, the attention and the weights.
func (a *AttentionCell) StateSize() []int {
	time := -1
	if s := a.m.Memory().Shape(); len(s) == 3 {
		time = s[1]
	}
	return append(append([]int{}, a.cell.StateSize()...), a.size(), time)
}

// size returns that of the attention.
func (a *AttentionCell) size() int {
	size := -1
	if s := a.m.Memory().Shape(); len(s) == 3 {
		size = s[2]
	}
	return cmp.Or(a.ao.Size, size)
}

// OutputSize returns the size of the attention, or of the cell's output.
func (a *AttentionCell) OutputSize() int {
	if a.ao.CellOutput {
		return a.cell.OutputSize()
	}
	return a.size()
}

// Weights returns the weights of the last step out of a state.
func (a *AttentionCell) Weights(s State) tf.Output { return s[len(s)-1] }

func (a *AttentionCell) zeroState(n tf.Output, d tf.DType) State {
	s := a.ao.Initial
	if s == nil {
		s = ZeroState(a.cell, n, d)
	}
	return append(append(State{}, s...), a.nothing(n, d)...)
}

// nothing returns attention and weights before the first step.
func (a *AttentionCell) nothing(n tf.Output, d tf.DType) State {
	m := a.m.Memory()
	if m.Err() != nil || n.Err() != nil {
		return State{m, m}
	}
	time := ops.Shape(m).At("1")
	weights := ops.Fill(ops.Stack([]tf.Output{n, time}, 0), ops.Scalar(n.Graph(), int32(0)).Cast(d))
	batch := -1
	if s := filled(n, 1, d).Shape(); s != nil {
		batch = s[0]
	}
	weights.SetShape(tf.Shape{batch, m.Shape()[1]})
	return State{filled(n, a.size(), d), weights}
}

// Step adds a step.
func (a *AttentionCell) Step(x tf.Output, s State) (tf.Output, State) {
	if bad := a.m.Memory(); bad.Err() != nil {
		return poisoned(a, bad)
	}
	return a.step(a, x, s, func(spec) {}, func() (tf.Output, State) {
		n := len(s) - 2
		y, next := a.cell.Step(ops.Concat(1, []tf.Output{x, s[n]}), s[:n])
		weights := a.m.Align(y)
		context := ops.Squeeze(ops.BatchMatMulV2(ops.ExpandDims(weights, 1), a.m.Memory()), []int{1})
		attention := context
		if a.out != nil {
			attention = a.out.Apply(ops.Concat(1, []tf.Output{y, context}))
		}
		next = append(append(State{}, next...), attention, weights)
		if a.ao.CellOutput {
			return y, next
		}
		return attention, next
	})
}
