package xla

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// Control flow becomes that of TensorFlow 1, Switch, Merge and loops, which need no
// functions: a body is a graph without a library.

func init() {
	add(map[string]rule{
		"while": while, "if": cond, "case": caseOf, "call": callFunction, "composite": composite,
		"optimization_barrier": same, "tuple": tuple, "get_tuple_element": tupleElement,
		"partition_id": zeroID, "replica_id": zeroID, "create_token": token, "after_all": token,
	})
}

func token(_ *lowering, op *stablehlo.Op, _ []tf.Output) ([]tf.Output, error) {
	return make([]tf.Output, len(op.Results)), nil
}

func same(_ *lowering, _ *stablehlo.Op, in []tf.Output) ([]tf.Output, error) { return in, nil }

func zeroID(l *lowering, _ *stablehlo.Op, _ []tf.Output) ([]tf.Output, error) {
	return []tf.Output{ops.Scalar(l.g, uint32(0))}, nil
}

func tuple(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	if len(op.Results) != 1 || op.Results[0].Type.Kind != stablehlo.Tuple {
		return nil, refused(op, "its result must be a tuple")
	}
	for _, v := range op.Operands {
		if v.Type.Kind == stablehlo.Tuple {
			return nil, unsupported(op, "tuples of tuples are not supported")
		}
	}
	l.tuples[op.Results[0]] = in
	return make([]tf.Output, 1), nil
}

func tupleElement(l *lowering, op *stablehlo.Op, _ []tf.Output) ([]tf.Output, error) {
	r := reading{op: op}
	i := r.int("index", 0)
	if len(op.Operands) != 1 {
		return nil, refused(op, "it takes 1 operand, got %d", len(op.Operands))
	}
	elements, ok := l.tuples[op.Operands[0]]
	if r.err == nil && (!ok || i < 0 || i >= len(elements)) {
		r.fail("it takes a tuple of more than %d elements", i)
	}
	if r.err != nil {
		return nil, r.err
	}
	return elements[i : i+1], nil
}

func callFunction(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	name, ok := op.Attr("callee").(stablehlo.Symbol)
	if !ok {
		return nil, refused(op, "attribute callee must be the name of a function")
	}
	return l.call(op, string(name), in)
}

// composite calls the function that says what it comes to.
func composite(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	name, ok := op.Attr("decomposition").(stablehlo.Symbol)
	if !ok {
		return nil, refused(op, "attribute decomposition must be the name of a function")
	}
	return l.call(op, string(name), in)
}

// regions checks how many regions there are.
func regions(op *stablehlo.Op, n int) error {
	if len(op.Regions) != n {
		return refused(op, "it must have %d regions, got %d", n, len(op.Regions))
	}
	return nil
}

// within adds what f adds as a part of a loop or a branch.
func (l *lowering) within(f func() error) error {
	outer := l.inner
	l.inner = nil
	l.nested++
	defer func() {
		l.nested--
		l.inner = outer
	}()
	return f()
}

// awaited returns what xs are after the assertions of the loop or branch.
func (l *lowering) awaited(xs []tf.Output) []tf.Output {
	if len(l.inner) == 0 {
		return xs
	}
	out := make([]tf.Output, len(xs))
	for i, x := range xs {
		if !x.IsZero() {
			out[i] = ops.Identity(x, tf.After(l.inner...))
		}
	}
	return out
}

// isToken reports whether a value has no tensor.
func isToken(v *stablehlo.Value) bool { return v.Type.Kind == stablehlo.Token }

// tensors leaves out what stands for tokens.
func tensors(values []*stablehlo.Value, xs []tf.Output) (out []tf.Output) {
	for i, v := range values {
		if !isToken(v) {
			out = append(out, xs[i])
		}
	}
	return out
}

// withTokens puts nothing in the places of tokens.
func withTokens(values []*stablehlo.Value, xs []tf.Output) []tf.Output {
	out := make([]tf.Output, len(values))
	for i, v := range values {
		if !isToken(v) && len(xs) > 0 {
			out[i], xs = xs[0], xs[1:]
		}
	}
	return out
}

// A nest is a loop or a conditional under construction, which keeps the first error.
type nest struct {
	l   *lowering
	op  *stablehlo.Op
	err error
}

// block adds a block, whose results must be of the types of values.
func (n *nest) block(b *stablehlo.Block, in []tf.Output, values []*stablehlo.Value) []tf.Output {
	var out []tf.Output
	err := n.l.within(func() (err error) {
		out, err = n.l.block(b, in)
		out = n.l.awaited(out)
		return err
	})
	if err == nil {
		out, err = n.results(b, out, values)
	}
	if err == nil {
		return out
	}
	if n.err == nil {
		n.err = err
	}
	return []tf.Output{tf.Failed(n.l.g, n.op.Name, err).Output(0)}
}

func (n *nest) results(b *stablehlo.Block, out []tf.Output, values []*stablehlo.Value) ([]tf.Output, error) {
	if len(out) != len(values) {
		return nil, refused(n.op, "a region must return %d values, got %d", len(values), len(out))
	}
	returned := b.Terminator().Operands
	for i, v := range values {
		if !sameType(returned[i].Type, v.Type) {
			return nil, refused(n.op, "a region must return a value %d of the type of the result", i)
		}
	}
	return tensors(values, out), nil
}

func while(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	if err := regions(op, 2); err != nil {
		return nil, err
	}
	if len(op.Results) != len(in) {
		return nil, refused(op, "it must have as many results as operands, got %d and %d", len(op.Results), len(in))
	}
	n := &nest{l: l, op: op}
	vars := tensors(op.Operands, in)
	if len(vars) == 0 {
		return nil, refused(op, "it must have a variable")
	}
	var shapes []tf.Shape
	for i, v := range op.Results {
		if !sameType(v.Type, op.Operands[i].Type) {
			return nil, refused(op, "result %d must be of the type of the operand", i)
		}
		if !isToken(v) {
			shapes = append(shapes, shapeOf(v.Type))
		}
	}
	test := []*stablehlo.Value{{Type: stablehlo.Type{Kind: stablehlo.Tensor, Elem: "i1"}}}
	out := tf.While(vars,
		func(xs []tf.Output) tf.Output { return n.block(op.Regions[0], withTokens(op.Operands, xs), test)[0] },
		func(xs []tf.Output) []tf.Output {
			defer l.knowArgs(op.Regions[1].Args, func(i int) (interval, bool) {
				if i >= len(op.Operands) {
					return interval{}, false
				}
				return l.counter(op, i)
			})()
			return n.block(op.Regions[1], withTokens(op.Operands, xs), op.Operands)
		},
		tf.WhileOpts{NoBackProp: true, ShapeInvariants: shapes})
	if n.err != nil {
		return nil, n.err
	}
	if err := out[0].Err(); err != nil {
		return nil, refused(op, "%s", tf.AsError(err).Message())
	}
	return withTokens(op.Results, out), nil
}

// cond's first region is for true.
func cond(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	if err := regions(op, 2); err != nil {
		return nil, err
	}
	if len(in) != 1 {
		return nil, refused(op, "it takes 1 operand, got %d", len(in))
	}
	return l.branches(op, func(n *nest) []tf.Output {
		return tf.Cond(in[0], func() []tf.Output { return n.block(op.Regions[0], nil, op.Results) }, func() []tf.Output { return n.block(op.Regions[1], nil, op.Results) })
	})
}

// branches adds what choose does, and returns its results.
func (l *lowering) branches(op *stablehlo.Op, choose func(n *nest) []tf.Output) ([]tf.Output, error) {
	if !slices.ContainsFunc(op.Results, func(v *stablehlo.Value) bool { return !isToken(v) }) {
		return make([]tf.Output, len(op.Results)), nil // nothing but effects, which there are none of
	}
	n := &nest{l: l, op: op}
	out := choose(n)
	if n.err != nil {
		return nil, n.err
	}
	if err := out[0].Err(); err != nil {
		return nil, refused(op, "%s", tf.AsError(err).Message())
	}
	return withTokens(op.Results, out), nil
}

// caseOf takes the last branch for numbers that are out of range.
func caseOf(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	if len(in) != 1 || len(op.Regions) == 0 || in[0].DType().Base() != tf.Int32 {
		return nil, refused(op, "it takes an index of type i32 and at least one region")
	}
	last := ops.Scalar(l.g, int32(len(op.Regions)-1))
	zero := ops.Scalar(l.g, int32(0))
	bad := ops.LogicalOr(ops.Less(in[0], zero), ops.Greater(in[0], last))
	index := ops.SelectV2(bad, last, in[0])
	return l.branches(op, func(n *nest) []tf.Output { return n.among(index, 0, op.Regions) })
}

// among halves the branches until one is left.
func (n *nest) among(index tf.Output, first int, branches []*stablehlo.Block) []tf.Output {
	if len(branches) == 1 {
		return n.block(branches[0], nil, n.op.Results)
	}
	half := len(branches) / 2
	less := ops.Less(index, ops.Scalar(n.l.g, int32(first+half)))
	return tf.Cond(less,
		func() []tf.Output { return n.among(index, first, branches[:half]) },
		func() []tf.Output { return n.among(index, first+half, branches[half:]) })
}
