package xla

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// A thin value stands for one of a larger shape: StableHLO's elementwise operations
// take operands of one shape, to which constants and vectors are broadcast before,
// those of TensorFlow broadcast by themselves. Values stay thin until an operation that
// is not elementwise needs them whole.
//
// Invariant: x has at most the dimensions of shape, and broadcasting it to shape gives
// the value.
type thin struct {
	x      tf.Output
	shape  tf.Shape
	sizes  tf.Output // the shape as a vector, if it is not known
	nested int       // where x was added
}

// whole adds what broadcasts t.
func (t thin) whole(l *lowering) tf.Output {
	switch {
	case t.full() || l.loose:
		return t.x
	case t.sizes.IsZero() && t.x.Shape().Known() && t.x.Shape().NumElements() == t.shape.NumElements():
		return ops.Reshape(t.x, []int(t.shape)) // which copies nothing
	case t.sizes.IsZero():
		return ops.BroadcastTo(t.x, []int(t.shape))
	}
	y := ops.BroadcastTo(t.x, t.sizes)
	y.SetShape(t.shape)
	return y
}

// full reports whether there is nothing to broadcast.
func (t thin) full() bool {
	return t.shape.Known() && slices.Equal(t.x.Shape(), t.shape)
}

// A thinRule adds a node for thin values, one for each operand.
type thinRule func(l *lowering, op *stablehlo.Op, in []thin) (thin, error)

// thinRules has the rules of operations that take and give thin values: those that
// broadcast. Elementwise operations do, too.
var thinRules = map[string]thinRule{}

// keepsThin reports whether an operation takes and gives thin values.
func (l *lowering) keepsThin(op *stablehlo.Op) bool {
	_, elementwise := elementwises[op.Name]
	return elementwise || thinRules[op.Name] != nil
}

// addThin adds an operation that keeps values thin.
func (l *lowering) addThin(op *stablehlo.Op) error {
	if len(op.Results) != 1 {
		return refused(op, "it must have one result, got %d", len(op.Results))
	}
	in := make([]thin, len(op.Operands))
	for i, v := range op.Operands {
		var err error
		if in[i], err = l.thinOf(op, v); err != nil {
			return err
		}
	}
	out, err := l.applyThin(op, in)
	if err != nil {
		return err
	}
	return l.setThin(op, out)
}

func (l *lowering) applyThin(op *stablehlo.Op, in []thin) (thin, error) {
	if r, ok := thinRules[op.Name]; ok {
		return r(l, op, in)
	}
	return l.applyElementwise(op, in)
}

// thinOf returns what stands for a value, thin if it may be.
func (l *lowering) thinOf(op *stablehlo.Op, v *stablehlo.Value) (thin, error) {
	if _, err := typeOf(op, v.Type); err != nil {
		return thin{}, err
	}
	if t, ok := l.thin[v]; ok {
		return t, nil
	}
	x, err := l.whole(op, v)
	return thin{x: x, shape: shapeOf(v.Type), nested: -1}, err
}

// isWhole reports whether t is no thin value.
func (t thin) isWhole() bool { return t.nested < 0 }

// setThin notes a result.
func (l *lowering) setThin(op *stablehlo.Op, t thin) error {
	v := op.Results[0]
	d, err := typeOf(op, v.Type)
	if err != nil {
		return err
	}
	if t.isWhole() || t.full() {
		return l.results(op, []tf.Output{t.x})
	}
	if err := t.x.Err(); err != nil {
		return l.results(op, []tf.Output{t.x})
	}
	if s := t.x.Shape(); t.x.DType().Base() != d || !l.loose && !broadcastsTo(s, shapeOf(v.Type)) {
		return refused(op, "its result must be of type %v%v, got %v%v", d, shapeOf(v.Type), t.x.DType(), s)
	}
	delete(l.values, v)
	l.thin[v] = thin{x: t.x, shape: shapeOf(v.Type), sizes: t.sizes, nested: l.nested}
	return nil
}

// broadcastsTo reports whether s may be broadcast to t.
func broadcastsTo(s, t tf.Shape) bool {
	if len(s) > len(t) {
		return false
	}
	for i, d := range s {
		if n := t[len(t)-len(s)+i]; d >= 0 && d != 1 && n >= 0 && d != n {
			return false
		}
	}
	return true
}

// an elementwise operation computes each element from those of its operands at the
// same place.
type elementwise struct {
	operands int
	apply    func(l *lowering, op *stablehlo.Op, in []tf.Output) (tf.Output, error)
}

var elementwises = map[string]elementwise{}

// addElementwise adds a family of elementwise operations of so many operands.
func addElementwise(operands int, family map[string]func(*lowering, *stablehlo.Op, []tf.Output) (tf.Output, error)) {
	for name, f := range family {
		elementwises[name] = elementwise{operands, f}
	}
}

// applyElementwise adds an elementwise operation. Its result is whole if an operand of
// its shape is.
func (l *lowering) applyElementwise(op *stablehlo.Op, in []thin) (thin, error) {
	e := elementwises[op.Name]
	if len(in) != e.operands {
		return thin{}, refused(op, "it takes %d operands, got %d", e.operands, len(in))
	}
	shape := shapeOf(op.Results[0].Type)
	out, xs := thin{shape: shape, nested: l.nested}, make([]tf.Output, len(in))
	for i, t := range in {
		xs[i] = t.x
		if len(t.shape) == 0 && len(shape) > 0 {
			continue // a scalar that stands for all elements: of select and clamp
		}
		if !broadcastsTo(t.shape, shape) || len(t.shape) != len(shape) {
			return thin{}, refused(op, "operand %d must be of shape %v, got %v", i, shape, t.shape)
		}
		if t.isWhole() {
			out.nested = -1
		}
		switch {
		case !out.sizes.IsZero():
		case shape.Known() || !t.shape.Known():
			out.sizes = t.sizes
		default: // the operand knows what the type of the result leaves open
			out.sizes = int32s(l.g, t.shape)
		}
	}
	if l.loose {
		out.nested = -1
	}
	var err error
	out.x, err = l.computed(op, e, xs)
	return out, err
}

// computed applies an elementwise operation. Floating-point numbers of 8 bits, for which there
// are few kernels, are computed with in float32 and rounded once.
func (l *lowering) computed(op *stablehlo.Op, e elementwise, in []tf.Output) (tf.Output, error) {
	to := dtypes[op.Results[0].Type.Elem]
	if !isSmall(to) && !slices.ContainsFunc(in, func(x tf.Output) bool { return isSmall(x.DType().Base()) }) {
		return e.apply(l, op, in)
	}
	wide := slices.Clone(in)
	for i, x := range in {
		if isSmall(x.DType().Base()) {
			wide[i] = ops.Cast(x, tf.Float32)
		}
	}
	y, err := e.apply(l, op, wide)
	if err == nil && isSmall(to) && y.DType() == tf.Float32 {
		y = ops.Cast(y, to)
	}
	return y, err
}
