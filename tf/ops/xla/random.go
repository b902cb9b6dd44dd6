package xla

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/random"
)

func init() {
	add(map[string]rule{
		"rng":               checked(3, rng),
		"rng_bit_generator": checked(1, rngBitGenerator),
	})
}

// rng draws numbers between operands 0 and 1, or of that mean and deviation.
func rng(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	r := &reading{op: op}
	kind := r.word("rng_distribution")
	if len(op.Results) != 1 {
		r.fail("it has one result, got %d", len(op.Results))
	}
	if r.err != nil {
		return nil, r.err
	}
	n := len(op.Results[0].Type.Shape)
	if err := vectorOf(op, 2, n); err != nil {
		return nil, err
	}
	shape := vector(l.g, elements(op.Operands[2], indexOf(in[2]), n))
	d := in[0].DType()
	float := slices.Contains([]tf.DType{tf.Float16, tf.BFloat16, tf.Float32, tf.Float64}, d)
	switch {
	case kind == "NORMAL" && float:
		return one(ops.AddV2(ops.Mul(ops.RandomStandardNormal(l.g, shape, d), in[1]), in[0])), nil
	case kind == "UNIFORM" && float:
		return one(ops.AddV2(ops.Mul(ops.RandomUniform(l.g, shape, d), ops.Sub(in[1], in[0])), in[0])), nil
	case kind == "UNIFORM" && (d == tf.Int32 || d == tf.Int64):
		return one(tf.Apply(l.g, "RandomUniformInt", []tf.Output{shape, in[0], in[1]}).Output(0)), nil
	}
	return nil, unsupported(op, "its distribution %q of type %s is not supported", kind, op.Operands[0].Type.Elem)
}

// A bitGenerator makes random bits from a key and a counter, as XLA does: bits of 32 or
// 64, of which narrower elements take the lower ones.
type bitGenerator struct {
	g       *tf.Graph
	shape   []int
	n       int
	d       tf.DType // uint32 or uint64
	key     tf.Output
	counter tf.Output // a vector of 1 or 2 uint64, the lower one first
}

func rngBitGenerator(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	r := &reading{op: op}
	algorithm := r.word("rng_algorithm")
	state := op.Operands[0].Type
	if len(op.Results) != 2 || state.Elem != "ui64" || len(state.Shape) != 1 || state.Shape[0] != 2 && state.Shape[0] != 3 {
		r.fail("it must have a state of 2 or 3 numbers of type ui64, and two results, got %s of shape %v", state.Elem, state.Shape)
	}
	if r.err != nil {
		return nil, r.err
	}
	t := op.Results[1].Type
	n, ok := count(t.Shape)
	to := dtypes[t.Elem]
	if !ok || !isInteger(t.Elem) {
		return nil, unsupported(op, "its bits must be integers of a known shape of at most %d elements, got %s of shape %v", most, t.Elem, t.Shape)
	}
	b := &bitGenerator{g: l.g, n: n, d: tf.Uint32, shape: make([]int, len(t.Shape))}
	for i, d := range t.Shape {
		b.shape[i] = int(d)
	}
	if to.Size() == 8 {
		b.d = tf.Uint64
	}
	b.key = ops.Slice(in[0], []int{0}, []int{1})
	b.counter = ops.Slice(in[0], []int{1}, []int{int(state.Shape[0]) - 1})
	var bits tf.Output
	var used int
	switch algorithm {
	case "DEFAULT", "PHILOX":
		bits, used = b.philox()
	case "THREE_FRY":
		bits, used = b.threeFry()
	default:
		return nil, refused(op, "rng_algorithm must be DEFAULT, PHILOX or THREE_FRY, got %q", algorithm)
	}
	return []tf.Output{ops.Concat(0, []tf.Output{b.key, b.advanced(used)}), as(bits, to)}, nil
}

// advanced returns the counter after some steps.
func (b *bitGenerator) advanced(steps int) tf.Output {
	n := ops.Scalar(b.g, uint64(steps))
	if b.counter.Shape()[0] == 1 {
		return ops.AddV2(b.counter, n)
	}
	low, high := ops.Slice(b.counter, []int{0}, []int{1}), ops.Slice(b.counter, []int{1}, []int{1})
	sum := ops.AddV2(low, n)
	carry := ops.Cast(ops.Less(sum, low), tf.Uint64)
	return ops.Concat(0, []tf.Output{sum, ops.AddV2(high, carry)})
}

// philox makes bits by Philox 4x32, four of 32 at each step.
func (b *bitGenerator) philox() (tf.Output, int) {
	counter := b.counter
	if counter.Shape()[0] == 1 {
		counter = ops.Concat(0, []tf.Output{counter, b.key}) // as XLA fills it up
	}
	alg := ops.Scalar(b.g, int32(random.Philox))
	bits := random.StatelessRandomUniformFullIntV2(int32s(b.g, b.shape), b.key, counter, alg, b.d)
	each := 16 / b.d.Size()
	return bits, (b.n + each - 1) / each
}
