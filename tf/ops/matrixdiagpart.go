package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	kernels := func() core.KernelSet {
		return plainCells(matrixDiagPart[uint8], matrixDiagPart[uint16], matrixDiagPart[uint32], matrixDiagPart[uint64], matrixDiagPart[complex128])
	}
	core.Register(core.OpDef{
		Name: "MatrixDiagPart", In: "input: T", Out: "diagonal: T", Attrs: "T: type",
		Shape: matrixDiagPartShape, Grad: tf.GradFunc(matrixDiagPartGrad), Kernels: kernels(),
	})
	core.Register(core.OpDef{
		Name: "MatrixDiagPartV2", In: "input: T; k: int32; padding_value: T", Out: "diagonal: T", Attrs: "T: type",
		Shape: matrixDiagPartShape, Grad: tf.GradFunc(matrixDiagPartGrad), Kernels: kernels(),
	})
	core.Register(core.OpDef{
		Name: "MatrixDiagPartV3", In: "input: T; k: int32; padding_value: T", Out: "diagonal: T", Attrs: "T: type" + alignAttr,
		Shape: matrixDiagPartShape, Grad: tf.GradFunc(matrixDiagPartGrad), Kernels: kernels(),
	})
}

// MatrixDiagPart returns the main diagonals of the matrices in the last two
// dimensions of x. An x [... m n] gives [... min(m, n)], of its type: numbers
// (integers, floating-point or complex ones) or bools. Fewer than two
// dimensions are refused with INVALID_ARGUMENT, when the graph is built if
// they are known, else in the step.
func MatrixDiagPart(x tf.Output, opts ...tf.Option) tf.Output {
	return apply("MatrixDiagPart", opts, x)
}

// MatrixDiagPartV2 returns the diagonals k, one number or the first and the
// last, of the matrices in x; padding fills those that are shorter than
// others. k is an int32 scalar or a vector of one or two elements; 0 is the
// main diagonal, and those above it are positive. The result is [... length]
// for one diagonal, [... count length] for several, the highest first, where
// length is that of the longest; shorter ones begin at the left. x is
// [... m n] and holds numbers (integers, floating-point or complex ones) or
// bools, padding is a scalar of its type. Diagonals that the matrices do not
// have, a first one above the last, and fewer than two dimensions are refused
// with INVALID_ARGUMENT, when the graph is built if k and the shape are
// known, else in the step.
func MatrixDiagPartV2(x, k, padding tf.Output, opts ...tf.Option) tf.Output {
	return apply("MatrixDiagPartV2", opts, x, k, padding)
}

// MatrixDiagPartV3 is MatrixDiagPartV2 with a choice of how shorter diagonals
// are aligned; see DiagAlignOpts. Shapes, types and errors are those of
// MatrixDiagPartV2.
func MatrixDiagPartV3(x, k, padding tf.Output, opts ...tf.Option) tf.Output {
	return apply("MatrixDiagPartV3", opts, x, k, padding)
}

func matrixDiagPartShape(c *core.Infer) error {
	s := c.In(0)
	if s == nil {
		return nil
	}
	if len(s) < 2 {
		return tf.Errorf(tf.InvalidArgument, "Shape must be at least rank 2 but is rank %d: input %v", len(s), s)
	}
	d, known, err := constDiagonals(c, 1)
	if err != nil || !known {
		return err
	}
	rows, cols := matrixSize(s)
	if rows < 0 || cols < 0 {
		out := s[:len(s)-2].Clone()
		if d.count() > 1 {
			out = append(out, d.count())
		}
		c.Set(0, append(out, -1))
		return nil
	}
	if err := d.within(rows, cols, "."); err != nil {
		return err
	}
	c.Set(0, d.packedShape(s))
	return nil
}

func matrixDiagPart[C cell](n *core.Node) (core.Kernel, error) {
	dtype, align := n.Type("T"), diagonalsOf(n)
	return core.Compute(func(c *core.OpContext) error {
		d, x := align, c.Input(0)
		var padding C
		if len(c.In) > 1 {
			if err := d.read(c.Input(1)); err != nil {
				return err
			}
			if err := checkPadding(c.Input(2)); err != nil {
				return err
			}
			padding = cells[C](c.Input(2))[0]
		}
		if x.Rank() < 2 {
			return tf.Errorf(tf.InvalidArgument, "input must be at least 2-dim, received shape: %s", x.Shape().String())
		}
		rows, cols := matrixSize(x.Shape())
		if err := d.within(rows, cols, "."); err != nil {
			return err
		}
		out, err := c.Alloc(0, dtype, d.packedShape(x.Shape()))
		if err != nil || out.Len() == 0 {
			return err
		}
		dst, src := cells[C](out), cells[C](x)
		kernel.Fill(dst, padding)
		eachMatrix(c, x.Shape(), d, d.longest(rows, cols), func(m, p, n, step int) { collect(dst[p:p+n], src[m:], step) })
		return nil
	}), nil
}

func matrixDiagPartGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	dx := make([]tf.Gradient, len(op.Inputs()))
	dx[0] = tf.Dense(MatrixSetDiagV3(ZerosLike(op.Input(0)), dy[0], rangeInput(op, 1), alignOf(op)))
	return dx
}
