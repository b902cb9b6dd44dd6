package ragged

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	const types = "Tvalues: type; Tsplits: {int32, int64} = int64"
	core.Register(core.OpDef{
		Name: "RaggedTensorToVariant", In: "rt_nested_splits: RAGGED_RANK * Tsplits; rt_dense_values: Tvalues", Out: "encoded_ragged: variant",
		Attrs: "RAGGED_RANK: int >= 0; " + types + "; batched_input: bool", Shape: toVariantShape, Grad: tf.GradFunc(toVariantGrad),
		Kernels: core.ByType("Tvalues", sameFor(toVariant)),
	})
	core.Register(core.OpDef{
		Name: "RaggedTensorFromVariant", In: "encoded_ragged: variant", Out: "output_nested_splits: output_ragged_rank * Tsplits; output_dense_values: Tvalues",
		Attrs: "input_ragged_rank: int >= -1; output_ragged_rank: int >= 0; " + types, Shape: fromVariantShape, Grad: tf.GradFunc(fromVariantGrad),
		Kernels: core.ByType("Tvalues", sameFor(fromVariant)),
	})
	core.Register(core.OpDef{
		Name: "RaggedTensorToVariantGradient", In: "encoded_ragged_grad: variant; row_splits: Tsplits; dense_values_shape: int32", Out: "dense_values_grad: Tvalues",
		Attrs: types, Shape: variantGradShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("Tvalues", sameFor(variantGrad)),
	})
}

// RaggedTensorToVariant returns a ragged tensor, given as row splits from the
// outside inwards and values, in a variant: as a scalar, or, if it is batched,
// as a vector with one for each row. The splits are int32 or int64 vectors,
// the values have one dimension or more and any type but resource and variant.
// Splits or values of fewer dimensions are refused with INVALID_ARGUMENT when
// the graph is built.
func RaggedTensorToVariant(splits []tf.Output, values tf.Output, batched bool, opts ...tf.Option) tf.Output {
	in := append(append([]tf.Output{}, splits...), values)
	own := []tf.Option{tf.Attr("RAGGED_RANK", len(splits)), tf.Attr("batched_input", batched)}
	return tf.Apply(nil, "RaggedTensorToVariant", in, tf.Join(opts, own...)...).Output(0)
}

// RaggedTensorFromVariant returns the ragged tensors in a variant, put
// together into one of the given number of row splits and type of values: each
// dimension of the variant adds a row split to those, inner many, that its
// elements have; -1 leaves that number to follow from the variant's rank. If
// outer is 0, the values of all elements, of one shape, are stacked instead.
// Splits are int64 vectors unless the attribute Tsplits says int32. A variant
// of another rank than outer-inner is refused with INVALID_ARGUMENT, when the
// graph is built if its shape is known, else in the step; so are, in the step,
// elements that are no ragged tensors, have another number or type of splits
// or another type of values, and values whose shapes behind the first
// dimension differ.
func RaggedTensorFromVariant(encoded tf.Output, inner, outer int, d tf.DType, opts ...tf.Option) (splits []tf.Output, values tf.Output) {
	own := []tf.Option{tf.Attr("input_ragged_rank", inner), tf.Attr("output_ragged_rank", outer), tf.Attr("Tvalues", d)}
	op := tf.Apply(nil, "RaggedTensorFromVariant", []tf.Output{encoded}, tf.Join(opts, own...)...)
	outer = author.Results(op, outer)
	for i := range outer {
		splits = append(splits, op.Output(i))
	}
	return splits, op.Output(outer)
}

func toVariantShape(c *core.Infer) error {
	n := c.Int("RAGGED_RANK")
	if err := splitsRank(c, n); err != nil {
		return err
	}
	switch {
	case !c.Bool("batched_input"):
		c.Set(0, tf.Shape{})
	case n > 0 && len(c.In(0)) == 1 && c.In(0)[0] == 0:
		return invalid("Negative dimension size caused by subtracting 1 from 0")
	case n > 0 && len(c.In(0)) == 1 && c.In(0)[0] > 0:
		c.Set(0, tf.Shape{c.In(0)[0] - 1})
	case n == 0 && len(c.In(0)) > 0:
		c.Set(0, c.In(0)[:1])
	default:
		c.Set(0, tf.Shape{-1})
	}
	return nil
}

func fromVariantShape(c *core.Infer) error {
	inner, outer := c.Int("input_ragged_rank"), c.Int("output_ragged_rank")
	if s := c.In(0); s != nil && inner >= 0 && len(s) != outer-inner {
		return invalid("Shape must be rank %d but is rank %d", outer-inner, len(s))
	}
	for i := range outer {
		c.Set(i, tf.Shape{-1})
	}
	return nil
}

func variantGradShape(c *core.Infer) error {
	c.Set(0, c.ConstShape(2))
	return nil
}

func toVariantGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	grads := make([]tf.Gradient, len(op.Inputs()))
	last := len(grads) - 1
	values := op.Input(last)
	splits := ops.Scalar(values.Graph(), int32(0))
	if last > 0 {
		splits = op.Input(0)
	}
	in := []tf.Output{dy[0], splits, ops.Shape(values)}
	grads[last] = tf.Dense(tf.Apply(nil, "RaggedTensorToVariantGradient", in, tf.Attr("Tvalues", values.DType())).Output(0))
	return grads
}

func fromVariantGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	n := len(dy) - 1
	batched := n > 0
	if s := op.Input(0).Shape(); s != nil {
		batched = len(s) > 0
	}
	return tf.Grads(RaggedTensorToVariant(op.Outputs()[:n], dy[n], batched))
}

func toVariant(n *core.Node) (core.Kernel, error) {
	rank, batched, d := n.Int("RAGGED_RANK"), n.Bool("batched_input"), n.Type("Tsplits")
	return core.Compute(func(c *core.OpContext) error {
		e := &encoded{values: c.Input(rank)}
		for i := range rank {
			e.splits = append(e.splits, c.Input(i))
		}
		splits, err := e.verified()
		if err != nil {
			return err
		}
		if !batched {
			return e.write(c)
		}
		parts, err := e.unbatch(splits, d)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, tf.Variant, tf.Shape{len(parts)})
		if err != nil {
			return err
		}
		for i, p := range parts {
			out.Variants()[i].Value = p
		}
		return nil
	}), nil
}

// write makes output 0 a scalar that holds e.
func (e *encoded) write(c *core.OpContext) error {
	kept := &encoded{values: keep(e.values)}
	for _, s := range e.splits {
		kept.splits = append(kept.splits, keep(s))
	}
	out, err := c.Alloc(0, tf.Variant, tf.Shape{})
	if err == nil {
		out.Variants()[0].Value = kept
	}
	return err
}

// unbatch returns the rows of e, each in tensors of its own.
func (e *encoded) unbatch(splits [][]int, d tf.DType) ([]*encoded, error) {
	if e.values.Rank() == 0 {
		return nil, invalid("Can't unbatch rank-0 tensor.")
	}
	if len(splits) == 0 {
		return e.rows(), nil
	}
	parts := core.Make[*encoded](len(splits[0]) - 1)
	for i := range parts {
		parts[i] = e.part(splits, i, d)
	}
	return parts, nil
}

// rows returns the elements of a dense tensor.
func (e *encoded) rows() []*encoded {
	parts := core.Make[*encoded](e.values.Dim(0))
	w := width(e.values)
	for i := range parts {
		parts[i] = &encoded{values: core.NewTensor(e.values.DType(), e.values.Shape()[1:])}
		rows.Mover(parts[i].values, e.values)(0, i*w, w)
	}
	return parts
}

// part returns row i of e, whose splits are given.
func (e *encoded) part(splits [][]int, i int, d tf.DType) *encoded {
	p := &encoded{}
	lo, hi := i, i+1
	for k, s := range splits {
		if k > 0 {
			own := slices.Clone(s[lo : hi+1])
			for j := range own {
				own[j] -= s[lo]
			}
			t := core.NewTensor(d, tf.Shape{len(own)})
			putInts(t, own)
			p.splits = append(p.splits, t)
		}
		lo, hi = s[lo], s[hi]
	}
	p.values = core.NewTensor(e.values.DType(), append(tf.Shape{hi - lo}, e.values.Shape()[1:]...))
	w := width(e.values)
	rows.Mover(p.values, e.values)(0, lo*w, (hi-lo)*w)
	return p
}

func variantGrad(n *core.Node) (core.Kernel, error) {
	d := n.Type("Tvalues")
	return core.Compute(func(c *core.OpContext) error {
		shape, err := gradShape(c.Input(2))
		if err != nil {
			return err
		}
		splits, err := gradSplits(c.Input(1))
		if err != nil {
			return err
		}
		if err := checkPieces(c.Node, c.Input(0), d); err != nil {
			return err
		}
		pieces, err := gradPieces(c.Input(0), splits, shape, d)
		if err != nil {
			return err
		}
		if len(pieces) == 1 {
			c.Set(0, pieces[0].Share())
			return nil
		}
		out, err := c.Alloc(0, d, shape)
		if err != nil {
			return err
		}
		rows.Clear(out)
		at := 0
		for _, p := range pieces {
			rows.Mover(out, p)(at, 0, p.Len())
			at += p.Len()
		}
		return nil
	}), nil
}

// gradShape reads the shape that the gradient of the values is to have.
func gradShape(t *core.Tensor) (tf.Shape, error) {
	s, err := t.Ints()
	if err != nil {
		return nil, err
	}
	if t.Rank() != 1 {
		return nil, invalid("dense_values_shape must be a vector of sizes, got shape %s", t.Shape().String())
	}
	for _, n := range s {
		if n < 0 {
			return nil, invalid("Dimension %d must be >= 0", n)
		}
	}
	return s, nil
}

// gradSplits reads the row splits, a scalar for a dense tensor. Where they end is not
// checked.
func gradSplits(t *core.Tensor) ([]int, error) {
	s, err := t.Ints()
	if err != nil || t.Rank() == 0 {
		return s, err
	}
	last := 0
	if len(s) > 0 {
		last = s[len(s)-1]
	}
	return s, rows.VerifySplits(s, last)
}

// checkPieces wants gradients in a variant that have values of a type.
func checkPieces(n *core.Node, t *core.Tensor, d tf.DType) error {
	for _, v := range t.Variants() {
		e, ok := v.Value.(*encoded)
		if !ok || e.values.DType() == d {
			continue
		}
		if t.Len() == 1 {
			return tf.Errorf(tf.Internal, "Output 0 of type %s does not match declared output type %s for node {{node %s}}", e.values.DType().CName(), d.CName(), n.Name)
		}
		return invalid("Expected values Tensor dtype: %s, found: %s", d.CName(), e.values.DType().CName())
	}
	return nil
}

// gradPieces returns the values of the gradients in a variant; one that is
// missing, because nothing came from its row, is zero. Of more than one, all
// together must not have more values than shape; few bytes may ask for many.
func gradPieces(t *core.Tensor, splits, shape []int, d tf.DType) ([]*core.Tensor, error) {
	pieces, left := core.Make[*core.Tensor](t.Len()), tf.Shape(shape).NumElements()
	for i, v := range t.Variants() {
		e, given := v.Value.(*encoded)
		s, err := tf.Shape(nil), error(nil)
		if given {
			s = e.values.Shape()
		} else if s, err = missingShape(splits, shape, i); err != nil {
			return nil, err
		}
		if left -= s.NumElements(); left < 0 && len(pieces) > 1 {
			return nil, invalid("the gradients have more values than shape %s", tf.Shape(shape).String())
		}
		if given {
			pieces[i] = e.values
		} else {
			pieces[i] = core.NewTensor(d, s)
		}
	}
	return pieces, nil
}

// missingShape returns the shape that the gradient of row i has.
func missingShape(splits, shape []int, i int) (tf.Shape, error) {
	s := append(tf.Shape{}, shape...)
	if i+1 < len(splits) && len(s) > 0 {
		s[0] = splits[i+1] - splits[i]
	}
	return s, checkPiece(s, shape)
}

// checkPiece wants a part of a shape no larger than the whole.
func checkPiece(s, whole tf.Shape) error {
	if n := whole.NumElements(); n < 0 || n > 1<<40 || len(s) > 0 && (s[0] < 0 || s[0] > whole[0]) {
		return invalid("a row of shape %s is not part of shape %s", s.String(), whole.String())
	}
	return nil
}
