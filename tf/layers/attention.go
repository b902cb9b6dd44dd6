package layers

import (
	"cmp"
	"math"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/vars"
)

// AttentionOpts are what may be chosen for a MultiHeadAttentionLayer.
type AttentionOpts struct {
	ValueSize         int     // of each head; 0 stands for the size of keys
	OutputSize        int     // 0 stands for the queries'
	Dropout           float64 // share of the scores that training drops
	NoBias            bool
	KernelInitializer initializers.Initializer // Glorot's
	BiasInitializer   initializers.Initializer // zeros
	KernelRegularizer vars.Regularizer
	BiasRegularizer   vars.Regularizer
	KernelConstraint  vars.Constraint
	BiasConstraint    vars.Constraint
	NotTrainable      bool
	Name              string
	Reuse             vars.Reuse
}

// AttentionInputs adjust one application of a MultiHeadAttentionLayer.
type AttentionInputs struct {
	Key tf.Output // [n s in]; the zero Output stands for the values
	// Mask is true where queries may look: [n t s], [n 1 s], [t s] or, by head, [n heads t s]. Of
	// numbers all but 0 are true, as in Keras: it is not what is added to scores.
	Mask     tf.Output
	Causal   bool // queries look only at values that are not later
	Training bool // drop scores
}

// A MultiHeadAttentionLayer lets each of a sequence of queries look at a
// sequence of values, in several ways at once (Vaswani et al., NIPS 2017).
type MultiHeadAttentionLayer struct {
	layer
	heads, size              int
	o                        AttentionOpts
	query, key, value, joint projection
	inputs                   [3]int // the sizes of queries, keys and values
}

// A projection multiplies the last dimensions by a kernel and adds a bias.
type projection struct{ kernel, bias weight }

// NewMultiHeadAttention returns a layer of heads whose queries and keys have the
// given size. Variables are multi_head_attention/query/kernel [in heads size]
// and query/bias [heads size], as well for key and value, and
// attention_output/kernel [heads size out].
func NewMultiHeadAttention(heads, size int, opts ...AttentionOpts) *MultiHeadAttentionLayer {
	l := &MultiHeadAttentionLayer{heads: heads, size: size}
	if len(opts) > 0 {
		l.o = opts[0]
	}
	l.o.ValueSize = cmp.Or(l.o.ValueSize, size)
	l.self = l
	l.settings = settings{kind: "multi_head_attention", name: l.o.Name, reuse: l.o.Reuse, frozen: l.o.NotTrainable}
	return l
}

// MultiHeadAttention adds a layer by which queries [n t in] look at values
// [n s in], and returns its output [n t out].
func MultiHeadAttention(query, value tf.Output, heads, size int, in AttentionInputs, o ...AttentionOpts) tf.Output {
	l := NewMultiHeadAttention(heads, size, o...)
	l.settings = l.exactly()
	y, _ := l.Attend(query, value, in)
	return y
}

// Attend adds what computes the layer on queries [n t in] and values [n s in].
// It returns the output [n t out] and the weights by which each head has added
// up values, [n heads t s].
func (l *MultiHeadAttentionLayer) Attend(query, value tf.Output, in AttentionInputs) (y, weights tf.Output) {
	key := in.Key
	if key.IsZero() {
		key = value
	}
	for _, x := range []tf.Output{query, value, key} {
		if x.Err() != nil {
			x = poisoned(x, l.kind)
			return x, x
		}
	}
	if err := cmp.Or(in.check(query, key, value, l.heads), l.take([3]int{lastOf(query), lastOf(key), lastOf(value)}, query, key, value)); err != nil {
		y = refuse(query, l.kind, err)
		return y, y
	}
	y = l.run(query, func() tf.Output {
		var out tf.Output
		out, weights = l.attend(query, key, value, in)
		return out
	})
	if weights.IsZero() {
		weights = y
	}
	return y, weights
}

// take notes the sizes of queries, keys and values, or says why a layer that is built for
// others does not take them.
func (l *MultiHeadAttentionLayer) take(sizes [3]int, from ...any) error {
	if l.built && l.inputs != sizes {
		return tf.Errorf(tf.InvalidArgument, "Input of layer %q is incompatible with the layer: it was built for sizes %v, got %v", l.Name(), l.inputs, from)
	}
	l.inputs = sizes
	return nil
}

// Apply adds what computes the layer on a sequence [n t in] that looks at itself.
func (l *MultiHeadAttentionLayer) Apply(x tf.Output) tf.Output {
	y, _ := l.Attend(x, x, AttentionInputs{})
	return y
}

// lastOf returns the last size of a tensor of rank 3, else -1.
func lastOf(x tf.Output) int {
	if s := x.Shape(); x.Err() == nil && len(s) == 3 {
		return s[2]
	}
	return -1
}

func (l *MultiHeadAttentionLayer) call(x tf.Output) tf.Output {
	y, _ := l.attend(x, x, x, AttentionInputs{})
	return y
}

func (l *MultiHeadAttentionLayer) accept(in input) error {
	if n := in.size(1); in.x.IsZero() { // Build: a sequence looks at itself
		if err := l.take([3]int{n, n, n}, in); err != nil {
			return err
		}
	}
	if l.heads <= 0 || l.size <= 0 || l.o.ValueSize <= 0 || l.o.OutputSize < 0 || l.o.Dropout < 0 || l.o.Dropout >= 1 {
		return tf.Errorf(tf.InvalidArgument, "attention needs positive numbers of heads and sizes and a dropout rate in [0, 1), got %d heads of size %d, values of size %d and rate %v", l.heads, l.size, l.o.ValueSize, l.o.Dropout)
	}
	for _, n := range l.inputs {
		if len(in.shape) != 3 || n < 0 || !in.dtype.IsFloat() {
			return tf.Errorf(tf.InvalidArgument, "attention needs inputs [n time size] of floating-point numbers whose sizes are known, got %v", in)
		}
	}
	return nil
}

func (l *MultiHeadAttentionLayer) build(in input) {
	l.query = l.project(in, "query", tf.Shape{l.inputs[0], l.heads, l.size}, 1)
	l.key = l.project(in, "key", tf.Shape{l.inputs[1], l.heads, l.size}, 1)
	l.value = l.project(in, "value", tf.Shape{l.inputs[2], l.heads, l.o.ValueSize}, 1)
	out := cmp.Or(l.o.OutputSize, l.inputs[0])
	l.joint = l.project(in, "attention_output", tf.Shape{l.heads, l.o.ValueSize, out}, 2)
}

// project makes the variables of a projection in a scope below the layer's; bias
// is the first dimension of the kernel that the bias has as well.
func (l *MultiHeadAttentionLayer) project(in input, name string, s tf.Shape, bias int) (p projection) {
	o := &l.o
	vars.Scope(in.g, name, vars.ScopeOptions{}, func() {
		p.kernel = l.weight(in, "kernel", s, weightOpts{init: o.KernelInitializer, reg: o.KernelRegularizer, constraint: o.KernelConstraint})
		if !o.NoBias {
			p.bias = l.weight(in, "bias", s[bias:], weightOpts{init: or(o.BiasInitializer, initializers.Zeros), reg: o.BiasRegularizer, constraint: o.BiasConstraint})
		}
	})
	return p
}

// attend computes the layer.
func (l *MultiHeadAttentionLayer) attend(query, key, value tf.Output, in AttentionInputs) (y, weights tf.Output) {
	q := l.split(l.query, query, l.size).Mul(1 / math.Sqrt(float64(l.size)))
	k, v := l.split(l.key, key, l.size), l.split(l.value, value, l.o.ValueSize)
	scores := ops.BatchMatMulV2(q, k, ops.BatchMatMulOpts{AdjY: true})
	if mask := in.mask(scores); !mask.IsZero() {
		scores = scores.Add(ops.Sub(scalar(scores.Graph(), scores.DType(), 1), mask).Mul(hidden(scores.DType())))
	}
	weights = ops.Softmax(scores)
	dropped := weights
	if in.Training && l.o.Dropout > 0 {
		dropped = Dropout(weights, l.o.Dropout)
	}
	heads := ops.Transpose(ops.BatchMatMulV2(dropped, v), []int{0, 2, 1, 3})
	joined := reshaped(heads, query, 2, l.heads*l.o.ValueSize)
	w := l.joint.kernel.value()
	out := w.Shape()[2]
	y = multiply(joined, ops.Reshape(w, []int{l.heads * l.o.ValueSize, out}))
	if !l.o.NoBias {
		y = ops.BiasAdd(y, l.joint.bias.value())
	}
	return y, weights
}

// split projects x [n t in] and returns it by head, [n heads t size].
func (l *MultiHeadAttentionLayer) split(p projection, x tf.Output, size int) tf.Output {
	w := p.kernel.value()
	y := multiply(x, ops.Reshape(w, []int{w.Shape()[0], l.heads * size}))
	if !l.o.NoBias {
		y = ops.BiasAdd(y, ops.Reshape(p.bias.value(), []int{l.heads * size}))
	}
	return ops.Transpose(reshaped(y, x, 2, l.heads, size), []int{0, 2, 1, 3})
}

// check refuses inputs that do not fit together, as far as their shapes are known. Queries
// of another rank are left to accept.
func (in *AttentionInputs) check(query, key, value tf.Output, heads int) error {
	for i, x := range []tf.Output{value, key} {
		if lastOf(query) >= 0 && (lastOf(x) < 0 || !x.DType().IsFloat()) {
			return tf.Errorf(tf.InvalidArgument, "attention needs %s [n time size] of floating-point numbers whose size is known, got %v", []string{"values", "keys"}[i], x)
		}
	}
	q, k, v := query.Shape(), key.Shape(), value.Shape()
	scores := tf.Shape{-1, heads, -1, -1}
	if len(q) == 3 && len(k) == 3 && len(v) == 3 {
		switch {
		case !k[:2].Compatible(v[:2]):
			return tf.Errorf(tf.InvalidArgument, "All dimensions of `value` and `key`, except the last one, must be equal, got shapes %v and %v", v, k)
		case !q[:1].Compatible(v[:1]):
			return tf.Errorf(tf.InvalidArgument, "queries and values must be of one batch, got shapes %v and %v", q, v)
		}
		scores[0], scores[2], scores[3] = max(q[0], v[0]), q[1], v[1]
	}
	if in.Mask.IsZero() || in.Mask.Err() != nil {
		return nil
	}
	return checkMask(in.Mask, scores)
}

// checkMask refuses a mask that may be one of several kinds, and one that does not
// stand for all scores [n heads t s].
func checkMask(mask tf.Output, scores tf.Shape) error {
	if d := mask.DType(); d != tf.Bool && !d.IsFloat() && !d.IsInteger() {
		return tf.Errorf(tf.InvalidArgument, "the mask of attention must be bool or numbers, got %v", mask)
	}
	s := slices.Clone(mask.Shape())
	if len(s) < 2 || len(s) > 4 {
		return tf.Errorf(tf.InvalidArgument, "the mask of attention must be [n t s], [n 1 s], [t s] or [n heads t s], got %v", mask)
	}
	if len(s) == 3 {
		s = slices.Insert(s, 1, 1)
	}
	for i, n := range scores[len(scores)-len(s):] {
		if n >= 0 && s[i] >= 0 && s[i] != 1 && s[i] != n {
			return tf.Errorf(tf.InvalidArgument, "the mask of attention must fit the scores [n heads t s], which are %v, got %v", scores, mask)
		}
	}
	return nil
}

// mask returns where queries may look as ones of the scores' type, or the zero
// Output if they may look everywhere. It has a dimension for heads.
func (in *AttentionInputs) mask(scores tf.Output) (mask tf.Output) {
	if !in.Mask.IsZero() {
		if mask = in.Mask.Cast(tf.Bool); len(mask.Shape()) == 3 {
			mask = ops.ExpandDims(mask, 1)
		}
	}
	if in.Causal {
		causal := causalMask(scores)
		if mask.IsZero() {
			mask = causal
		} else {
			mask = mask.And(causal)
		}
	}
	if mask.IsZero() {
		return mask
	}
	return mask.Cast(scores.DType())
}

// causalMask returns, [t s], which values are not later than each query.
func causalMask(scores tf.Output) tf.Output {
	s, g := ops.Shape(scores), scores.Graph()
	ones := ops.Fill(ops.Slice(s, []int{2}, []int{2}), ops.Scalar(g, int32(1)))
	return ops.GreaterEqual(ops.Cumsum(ones, 0), ops.Cumsum(ones, 1))
}

// hidden is what TensorFlow adds to scores where queries may not look. In float16 -1e9 is
// infinite, and 0 times that is no number.
func hidden(d tf.DType) float64 {
	if d == tf.Float16 {
		return -65504
	}
	return -1e9
}
