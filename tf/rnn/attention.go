package rnn

import (
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
	// Probability makes weights of scores; nil stands for Softmax.
	Probability Probability
}

// A Probability makes weights of scores, both [batch time], which say how much of each
// element of a memory is attended to. Scores behind the end of a sequence are -1e30.
type Probability interface {
	Weights(scores tf.Output) tf.Output
}

// ProbabilityFunc is a function as a Probability.
type ProbabilityFunc func(scores tf.Output) tf.Output

// Weights is f(scores).
func (f ProbabilityFunc) Weights(scores tf.Output) tf.Output { return f(scores) }

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
		m.mask = ops.Less(ops.ExpandDims(steps, 0), ops.ExpandDims(m.positive(n).Cast(tf.Int32), 1))
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

// positive returns lengths, which fail the step if one is 0: weights need an element.
func (m *memory) positive(n tf.Output) tf.Output {
	check := ops.Assert(n.Greater(ops.ZerosLike(n)).All(), []tf.Output{ops.Scalar(n.Graph(), "All values in memory_sequence_length must be greater than zero."), n})
	return ops.Identity(n, tf.After(check))
}

// Memory returns the elements.
func (m *memory) Memory() tf.Output { return m.values }

// weights turns scores [batch time] into weights.
func (m *memory) weights(scores tf.Output) tf.Output {
	scores = m.masked(scores)
	if m.o.Probability != nil {
		return m.shaped(m.o.Probability.Weights(scores))
	}
	return m.shaped(ops.Softmax(scores))
}

// masked returns scores that are low behind the end of a sequence.
func (m *memory) masked(scores tf.Output) tf.Output {
	if m.mask.IsZero() {
		return scores
	}
	return ops.SelectV2(m.mask, scores, ops.OnesLike(scores).Mul(-1e30))
}

// shaped returns weights, which must be [batch time].
func (m *memory) shaped(y tf.Output) tf.Output {
	switch want := m.values.Shape()[:2]; {
	case y.Err() != nil:
	case !y.Shape().Compatible(want):
		return tf.Failed(y.Graph(), m.name, tf.Errorf(tf.InvalidArgument, "the weights of a memory %v must be %v, got %v", m.values, want, y)).Output(0)
	default:
		y.SetShape(want)
	}
	return y
}

// scopeOf names the variables of an attention; a cell that has several of a kind
// tells them apart.
func (m *memory) scopeOf() *string { return &m.name }

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
	return a.scores(query, a.weights)
}

// scores calls f with the scores for queries, in the scope of the variables.
func (a *luong) scores(query tf.Output, f func(scores tf.Output) tf.Output) (y tf.Output) {
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
		y = f(scores)
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
	return a.scores(query, a.weights)
}

// scores calls f with the scores for queries, in the scope of the variables.
func (a *bahdanau) scores(query tf.Output, f func(scores tf.Output) tf.Output) (y tf.Output) {
	if bad := a.checkQuery(query); !bad.IsZero() {
		return bad
	}
	vars.Scope(query.Graph(), a.name, vars.ScopeOptions{Reuse: vars.Auto}, func() {
		q := ops.ExpandDims(a.query.Apply(query), 1)
		a.build(query)
		y = f(a.score(ops.AddV2(a.keys, q)))
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
