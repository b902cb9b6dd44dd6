package rnn

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/vars"
)

// A MonotonicMode says how the weights of monotonic attention are computed.
type MonotonicMode string

const (
	// Parallel computes all weights at once. Where probabilities are near 0 or 1 and
	// memories long they are not exact.
	Parallel MonotonicMode = "parallel"
	// Recursive computes weights element by element, exactly.
	Recursive MonotonicMode = "recursive"
	// Hard chooses one element. It has no gradient to the scores.
	Hard MonotonicMode = "hard"
)

// MonotonicOpts are what may be chosen for monotonic attention.
type MonotonicOpts struct {
	AttentionOpts               // without Probability
	Mode          MonotonicMode // "" stands for Parallel
	// Noise is the standard deviation of the noise that is added to scores: it makes
	// training prefer weights near 0 and 1. Seed is that of the noise, 0: none.
	Noise float64
	Seed  int64
	Bias  float64 // the first value of attention_score_bias, which is added to scores
}

// recalling is an attention whose weights depend on those of the step before.
type recalling interface {
	Attention
	// alignAfter returns the weights for queries, after those of the last step.
	alignAfter(query, last tf.Output) tf.Output
	// firstWeights returns those before the first step.
	firstWeights(n tf.Output, d tf.DType) tf.Output
}

// monotonic is attention that looks at elements in their order.
type monotonic struct {
	*memory
	mo     MonotonicOpts
	bias   parameter
	scores func(query tf.Output, f func(scores tf.Output) tf.Output) tf.Output
}

// LuongMonotonic returns the attention of Luong that never looks back: the probability
// to stop at an element is the sigmoid of its score (Raffel et al., ICML 2017). The
// variables are luong_monotonic_attention/attention_score_bias and attention_g.
func LuongMonotonic(units int, values tf.Output, o ...MonotonicOpts) Attention {
	m := newMonotonic("luong_monotonic_attention", units, values, first(o))
	m.scores = (&luong{memory: m.memory}).scores
	return m
}

// BahdanauMonotonic returns the attention of Bahdanau that never looks back: see
// [LuongMonotonic]. Variables are bahdanau_monotonic_attention/attention_score_bias
// and those of [Bahdanau].
func BahdanauMonotonic(units int, values tf.Output, o ...MonotonicOpts) Attention {
	m := newMonotonic("bahdanau_monotonic_attention", units, values, first(o))
	m.scores = (&bahdanau{memory: m.memory, query: layers.NewDense(units, layers.DenseOpts{Name: "query_layer", NoBias: true})}).scores
	return m
}

func newMonotonic(name string, units int, values tf.Output, o MonotonicOpts) *monotonic {
	m := &monotonic{memory: newMemory(name, units, values, o.AttentionOpts), mo: o}
	switch o.Mode {
	case "", Parallel, Recursive, Hard:
	default:
		m.values = tf.Failed(values.Graph(), name, tf.Errorf(tf.InvalidArgument, "mode must be 'recursive', 'parallel', or 'hard', got %q", o.Mode)).Output(0)
		m.keys = m.values
	}
	if o.Probability != nil || o.Noise < 0 {
		m.values = tf.Failed(values.Graph(), name, tf.Errorf(tf.InvalidArgument, "monotonic attention has a Probability of its own and a Noise of at least 0, got noise %v", o.Noise)).Output(0)
		m.keys = m.values
	}
	return m
}

// Align returns the weights of a first step.
func (a *monotonic) Align(query tf.Output) tf.Output {
	if bad := a.checkQuery(query); !bad.IsZero() {
		return bad
	}
	return a.alignAfter(query, a.firstWeights(ops.Shape(query).At("0"), query.DType()))
}

func (a *monotonic) firstWeights(n tf.Output, d tf.DType) tf.Output {
	if n.Err() != nil || a.values.Err() != nil {
		return a.values
	}
	g := n.Graph()
	time := ops.Shape(a.values).At("1")
	return ops.OneHot(ops.Fill(n.Cast(tf.Int32).Reshape(1), ops.Scalar(g, int32(0))), time, ops.Scalar(g, int32(1)).Cast(d), ops.Scalar(g, int32(0)).Cast(d))
}

func (a *monotonic) alignAfter(query, last tf.Output) tf.Output {
	return a.scores(query, func(scores tf.Output) tf.Output {
		if a.bias == nil {
			o := vars.Options{DType: query.DType(), Initializer: initializers.Constant(a.mo.Bias)}
			a.bias = vars.Get(query.Graph(), "attention_score_bias", tf.Shape{}, o).Value
		}
		scores = a.masked(ops.AddV2(scores, a.bias()))
		if a.mo.Noise > 0 {
			scores = ops.AddV2(scores, a.noise(scores))
		}
		return a.shaped(a.after(scores, last))
	})
}

func (a *monotonic) noise(scores tf.Output) tf.Output {
	var opts []tf.Option
	if a.mo.Seed != 0 {
		opts = append(opts, ops.Seed(a.mo.Seed))
	}
	return ops.RandomStandardNormal(nil, ops.Shape(scores), scores.DType(), opts...).Mul(a.mo.Noise)
}

// after returns the weights by scores and the last step's weights.
func (a *monotonic) after(scores, last tf.Output) tf.Output {
	one := ops.OnesLike(scores)
	switch a.mo.Mode {
	case Hard:
		p := scores.Greater(ops.ZerosLike(scores)).Cast(scores.DType())
		p = ops.Mul(p, ops.Cumsum(last, 1))
		return ops.Mul(p, ops.Cumprod(ops.Sub(one, p), 1, ops.CumulativeOpts{Exclusive: true}))
	case Recursive:
		return recursive(ops.Sigmoid(scores), last)
	}
	p := ops.Sigmoid(scores)
	rest := ops.Exp(ops.Cumsum(ops.Log(bounded(ops.Sub(one, p), smallest)), 1, ops.CumulativeOpts{Exclusive: true}))
	return ops.Mul(ops.Mul(p, rest), ops.Cumsum(ops.Div(last, bounded(rest, 1e-10)), 1))
}

// smallest is the least normal float32.
const smallest = 1.1754943508222875e-38

// bounded returns x, at least low and at most 1.
func bounded(x tf.Output, low float64) tf.Output {
	return ops.ClipByValue(x, author.AsOperand(x, low), author.AsOperand(x, 1))
}

// recursive returns p[i]·q[i] for q[i] = (1 - p[i-1])·q[i-1] + last[i], [batch time].
func recursive(p, last tf.Output) tf.Output {
	g := p.Graph()
	turned := func(x tf.Output) tf.Output { return ops.Transpose(x, []int{1, 0}) }
	stays, before := turned(ops.Sub(ops.OnesLike(p), p)), turned(last)
	time := ops.Shape(stays).At("0")
	array := ops.NewTensorArray(time, p.DType(), ops.TensorArrayOpts{ElementShape: tf.Shape{p.Shape()[0]}})
	// The loop's variables are the time, q, 1 - p of the element before, and the array.
	start := []tf.Output{ops.Scalar(g, int32(0)), ops.ZerosLike(before.At("0")), ops.ZerosLike(before.At("0")), array.Flow()}
	end := tf.While(start, func(v []tf.Output) tf.Output { return v[0].Less(time) }, func(v []tf.Output) []tf.Output {
		q := ops.AddV2(ops.Mul(v[2], v[1]), ops.Gather(before, v[0], 0))
		return []tf.Output{v[0].Add(1), q, ops.Gather(stays, v[0], 0), array.WithFlow(v[3]).Write(v[0], q).Flow()}
	})
	return ops.Mul(p, turned(array.WithFlow(end[3]).Stack()))
}
