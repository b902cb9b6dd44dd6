package linalg

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "Lu", In: "input: T", Out: "lu: T; p: output_idx_type", Attrs: "T: {" + matrixTypes + "}; output_idx_type: {int32, int64} = int32",
		Shape: luShape, Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", solved(&luProblem, lu[float64], lu[complex128])),
	})
}

// LuOpts is the optional attribute of Lu: the type of p, int32 or int64.
type LuOpts struct{ IndexType tf.DType }

// Apply sets the attribute.
func (o LuOpts) Apply(s *tf.Spec) {
	if o.IndexType != tf.Invalid {
		s.Set("output_idx_type", o.IndexType)
	}
}

// Lu factors square matrices into a lower triangle with a diagonal of ones,
// and an upper triangle, both in lu, whose product is x with its rows in the
// order p. x has shape [... N N] and floating-point or complex numbers
// (float32, float64, complex64, complex128); lu has that shape and type, and
// p shape [... N] of int32 or int64. A matrix without inverse, or whose
// first pivot is NaN, fails with INVALID_ARGUMENT in the step. Other shapes
// are refused with INVALID_ARGUMENT, when the graph is built if they are
// known, else in the step. Its options are [LuOpts].
func Lu(x tf.Output, opts ...tf.Option) (lu, p tf.Output) {
	op := tf.Apply(nil, "Lu", []tf.Output{x}, opts...)
	return op.Output(0), op.Output(1)
}

func luShape(c *core.Infer) error {
	batch, n, known, err := squareInput(c)
	if err != nil || !known {
		return err
	}
	c.Set(0, append(batch, n, n))
	c.Set(1, append(batch, n))
	return nil
}

var luProblem = problem{
	matrices: 1, unnumbered: true, check: square, cost: cubic(1),
	results: func(_ *core.Node, s []tf.Shape) []tf.Shape { return []tf.Shape{s[0], s[0][:1]} },
}

// lu refuses matrices without inverse, unless the node has the attribute _singular: XLA
// factors them, too.
func lu[T scalar](n *core.Node) solver[T, T] {
	singular := n.Bool("_singular")
	return func(in, out []matrix[T]) error {
		f := factorLU(in[0])
		if !singular && f.singular() {
			return invalid("Input is not invertible.")
		}
		out[0].copyFrom(f.lu)
		for i, r := range f.rows {
			out[1].data[i] = fromReal[T](float64(r))
		}
		return nil
	}
}
