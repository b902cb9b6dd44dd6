package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	kernels := func() core.KernelSet {
		return plainCells(matrixSetDiag[uint8], matrixSetDiag[uint16], matrixSetDiag[uint32], matrixSetDiag[uint64], matrixSetDiag[complex128])
	}
	core.Register(core.OpDef{
		Name: "MatrixSetDiag", In: "input: T; diagonal: T", Out: "output: T", Attrs: "T: type",
		Shape: matrixSetDiagShape, Grad: tf.GradFunc(matrixSetDiagGrad), Kernels: kernels(),
	})
	core.Register(core.OpDef{
		Name: "MatrixSetDiagV2", In: "input: T; diagonal: T; k: int32", Out: "output: T", Attrs: "T: type",
		Shape: matrixSetDiagShape, Grad: tf.GradFunc(matrixSetDiagGrad), Kernels: kernels(),
	})
	core.Register(core.OpDef{
		Name: "MatrixSetDiagV3", In: "input: T; diagonal: T; k: int32", Out: "output: T", Attrs: "T: type" + alignAttr,
		Shape: matrixSetDiagShape, Grad: tf.GradFunc(matrixSetDiagGrad), Kernels: kernels(),
	})
}

// MatrixSetDiag returns the matrices in x with the rows of diagonal as their
// main diagonals. x is [... m n], diagonal [... min(m, n)], and the result
// has the shape of x; all have one type of numbers (integers, floating-point
// or complex ones) or bools. Other shapes are refused with INVALID_ARGUMENT,
// when the graph is built if they are known, else in the step.
func MatrixSetDiag(x, diagonal tf.Output, opts ...tf.Option) tf.Output {
	return apply("MatrixSetDiag", opts, x, diagonal)
}

// MatrixSetDiagV2 returns the matrices in x with the rows of diagonal as the
// diagonals k, one number or the first and the last. k is an int32 scalar or
// a vector of one or two elements; 0 is the main diagonal, and those above it
// are positive. diagonal has the shape that MatrixDiagPartV2 gives for x and
// k, and x and diagonal have one type of numbers (integers, floating-point or
// complex ones) or bools. Other shapes, and diagonals that the matrices do
// not have, are refused with INVALID_ARGUMENT, when the graph is built if k
// and the shapes are known, else in the step.
func MatrixSetDiagV2(x, diagonal, k tf.Output, opts ...tf.Option) tf.Output {
	return apply("MatrixSetDiagV2", opts, x, diagonal, k)
}

// MatrixSetDiagV3 is MatrixSetDiagV2 with a choice of how shorter diagonals
// are aligned; see DiagAlignOpts. Shapes, types and errors are those of
// MatrixSetDiagV2.
func MatrixSetDiagV3(x, diagonal, k tf.Output, opts ...tf.Option) tf.Output {
	return apply("MatrixSetDiagV3", opts, x, diagonal, k)
}

func matrixSetDiagShape(c *core.Infer) error {
	s, p := c.In(0), c.In(1)
	c.Set(0, s)
	if s == nil {
		return nil
	}
	if len(s) < 2 {
		return tf.Errorf(tf.InvalidArgument, "Shape must be at least rank 2 but is rank %d: input %v", len(s), s)
	}
	d, known, err := constDiagonals(c, 2)
	if err != nil || !known || p == nil || !s.Known() {
		return err
	}
	if err := d.within(s[len(s)-2], s[len(s)-1], ""); err != nil {
		return err
	}
	if _, ok := d.packedShape(s).Merge(p); !ok {
		return tf.Errorf(tf.InvalidArgument, "diagonals must fit the matrices: input %v, diagonal %v", s, p)
	}
	return nil
}

// checkDiagonals checks that p, diagonals, fit matrices of shape s.
func (d *diagonals) checkDiagonals(s, p tf.Shape) error {
	if len(s) < 2 {
		return tf.Errorf(tf.InvalidArgument, "input must be at least 2-dim, received shape: %s", s.String())
	}
	if len(p) < 1 {
		return tf.Errorf(tf.InvalidArgument, "diagonal must be at least 1-dim, received shape: %s", p.String())
	}
	if err := d.within(s[len(s)-2], s[len(s)-1], ""); err != nil {
		return err
	}
	if d.count() > 1 && (len(p) != len(s) || p[len(s)-2] != d.count()) {
		return tf.Errorf(tf.InvalidArgument, "The number of diagonals provided in `diag` is not consistent with `lower_diag_index` and `upper_diag_index`")
	}
	if want := d.packedShape(s); !want.Equal(p) {
		return tf.Errorf(tf.InvalidArgument, "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] is not equal to "+
			"the longests diagonal in range [lower_diag_index:upper_diag_index].\nInput shape: %s\nDiagonal shape: %s\nExpected diagonal shape: %s",
			s.String(), p.String(), want.String())
	}
	return nil
}

func matrixSetDiag[C cell](n *core.Node) (core.Kernel, error) {
	dtype, align := n.Type("T"), diagonalsOf(n)
	return core.Compute(func(c *core.OpContext) error {
		d, x := align, c.Input(0)
		if len(c.In) > 2 {
			if c.Input(2).Rank() < 2 && c.Input(2).Len() == 0 {
				return tf.Errorf(tf.InvalidArgument, "diag_index must have at least one element")
			}
			if err := d.read(c.Input(2)); err != nil {
				return err
			}
		}
		s := x.Shape().Clone()
		if err := d.checkDiagonals(s, c.Input(1).Shape()); err != nil {
			return err
		}
		if x.Len() == 0 {
			c.Forward(0, 0)
			return nil
		}
		out, err := c.AllocFrom(0, 0, dtype, s)
		if err != nil {
			return err
		}
		dst, src := cells[C](out), cells[C](c.Input(1))
		copy(dst, cells[C](x))
		eachMatrix(c, s, d, d.longest(matrixSize(s)), func(m, p, n, step int) { spread(dst[m:], src[p:p+n], step) })
		return nil
	}), nil
}

func matrixSetDiagGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	dx := make([]tf.Gradient, len(op.Inputs()))
	dx[0] = tf.Dense(MatrixSetDiagV3(dy[0], ZerosLike(op.Input(1)), rangeInput(op, 2), alignOf(op)))
	dx[1] = tf.Dense(diagonalsOfGrad(op, dy[0], 2))
	return dx
}
