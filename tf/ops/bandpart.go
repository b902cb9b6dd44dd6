package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "MatrixBandPart", In: "input: T; num_lower: Tindex; num_upper: Tindex", Out: "band: T",
		Attrs: "T: type; Tindex: {int32, int64} = int64",
		Shape: core.UnchangedShape, Grad: tf.GradFunc(bandPartGrad), Kernels: core.ByType("T", sameFor(bandPart, plainTypes...)),
	})
}

// MatrixBandPart returns the matrices in x with zeros outside of a band:
// numLower diagonals below the main one and numUpper above, all if negative.
// The matrices lie in the last two dimensions of x, numbers or bools; the
// result has its shape and type. numLower and numUpper are int32 or int64
// scalars, at most the number of rows and of columns. An x of fewer than two
// dimensions, bounds that are no scalars and greater ones fail the step with
// INVALID_ARGUMENT.
func MatrixBandPart(x, numLower, numUpper tf.Output, opts ...tf.Option) tf.Output {
	return apply("MatrixBandPart", opts, x, numLower, numUpper)
}

// bandWidth reads how many diagonals of n input i keeps.
func bandWidth(c *core.OpContext, i int, name, what string, n int) (int, error) {
	t := c.Input(i)
	if t.Rank() != 0 {
		return 0, tf.Errorf(tf.InvalidArgument, "%s must be scalar, got shape %s", name, t.Shape().String())
	}
	v, err := t.Ints()
	if err != nil {
		return 0, err
	}
	if v[0] > n {
		return 0, tf.Errorf(tf.InvalidArgument, "%s must be negative or less or equal to number of %s (%d) got: %d", name, what, n, v[0])
	}
	if v[0] < 0 {
		return n, nil
	}
	return v[0], nil
}

func bandPart(n *core.Node) (core.Kernel, error) {
	d := n.Type("T")
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		if x.Rank() < 2 {
			return tf.Errorf(tf.InvalidArgument, "input must be at least 2-dim, received shape: %s", x.Shape().String())
		}
		rows, cols := matrixSize(x.Shape())
		lower, err := bandWidth(c, 1, "num_lower", "rows", rows)
		if err != nil {
			return err
		}
		upper, err := bandWidth(c, 2, "num_upper", "columns", cols)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, d, x.Shape())
		if err != nil || x.Len() == 0 {
			return err
		}
		clearCells(out)
		keep := move(out, x)
		c.ParallelFor(x.Len()/cols, max(1, elementGrain/cols), func(lo, hi int) {
			for r := lo; r < hi; r++ {
				i := r % rows
				if from, to := min(max(i-lower, 0), cols), min(i+upper+1, cols); from < to {
					keep(r*cols+from, r*cols+from, to-from)
				}
			}
		})
		return nil
	}), nil
}

func bandPartGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	dx := MatrixBandPart(dy[0], op.Input(1), op.Input(2))
	return tf.Grads(dx, tf.Output{}, tf.Output{})
}
