package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// alignAttr is the attribute of the third version of the ops.
const alignAttr = "; align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'"

func init() {
	kernels := func() core.KernelSet {
		return plainCells(matrixDiag[uint8], matrixDiag[uint16], matrixDiag[uint32], matrixDiag[uint64], matrixDiag[complex128])
	}
	const in = "diagonal: T; k: int32; num_rows: int32; num_cols: int32; padding_value: T"
	core.Register(core.OpDef{
		Name: "MatrixDiag", In: "diagonal: T", Out: "output: T", Attrs: "T: type",
		Shape: matrixDiagShape, Grad: tf.GradFunc(matrixDiagGrad), Kernels: kernels(),
	})
	core.Register(core.OpDef{
		Name: "MatrixDiagV2", In: in, Out: "output: T", Attrs: "T: type",
		Shape: matrixDiagShape, Grad: tf.GradFunc(matrixDiagGrad), Kernels: kernels(),
	})
	core.Register(core.OpDef{
		Name: "MatrixDiagV3", In: in, Out: "output: T", Attrs: "T: type" + alignAttr,
		Shape: matrixDiagShape, Grad: tf.GradFunc(matrixDiagGrad), Kernels: kernels(),
	})
}

// DiagAlignOpts is the optional attribute of MatrixDiagV3, MatrixDiagPartV3 and
// MatrixSetDiagV3: to which side diagonals above and below the main one are
// aligned that are shorter than the longest. The default is "RIGHT_LEFT".
type DiagAlignOpts struct{ Align string }

// Apply sets the attributes.
func (o DiagAlignOpts) Apply(s *tf.Spec) {
	if o.Align != "" {
		s.Set("align", o.Align)
	}
}

// MatrixDiag returns square matrices with the rows of diagonal as their main
// diagonals. A diagonal [... n] gives [... n n], with 0 or false elsewhere.
// It holds numbers (integers, floating-point or complex ones) or bools. A
// scalar is refused with INVALID_ARGUMENT, when the graph is built if the
// shape is known, else in the step.
func MatrixDiag(diagonal tf.Output, opts ...tf.Option) tf.Output {
	return apply("MatrixDiag", opts, diagonal)
}

// MatrixDiagV2 returns matrices with the rows of diagonal as the diagonals k,
// one number or the first and the last, and padding elsewhere. rows and cols
// are -1 for the least sizes that hold them. k is an int32 scalar or a vector
// of one or two elements; 0 is the main diagonal, and those above it are
// positive. diagonal is [... n] for one diagonal, [... count n] for several,
// the highest first; shorter ones begin at the left. It holds numbers
// (integers, floating-point or complex ones) or bools, and padding is a
// scalar of its type; rows and cols are int32 scalars. A first diagonal above
// the last, a count that does not fit, and sizes that are too small or do not
// fit n are refused with INVALID_ARGUMENT, when the graph is built if they
// are known, else in the step.
func MatrixDiagV2(diagonal, k, rows, cols, padding tf.Output, opts ...tf.Option) tf.Output {
	return apply("MatrixDiagV2", opts, diagonal, k, rows, cols, padding)
}

// MatrixDiagV3 is MatrixDiagV2 with a choice of how shorter diagonals are
// aligned; see DiagAlignOpts. Shapes, types and errors are those of
// MatrixDiagV2.
func MatrixDiagV3(diagonal, k, rows, cols, padding tf.Output, opts ...tf.Option) tf.Output {
	return apply("MatrixDiagV3", opts, diagonal, k, rows, cols, padding)
}

// diagSizes works out the size of the matrices whose longest diagonal has n
// elements, given what was asked for.
func diagSizes(d *diagonals, n, rows, cols int) (int, int, error) {
	leastRows, leastCols := n-min(d.upper, 0), n+max(d.lower, 0)
	switch {
	case rows != -1 && rows < leastRows:
		return 0, 0, tf.Errorf(tf.InvalidArgument, "The number of rows is too small.")
	case cols != -1 && cols < leastCols:
		return 0, 0, tf.Errorf(tf.InvalidArgument, "The number of columns is too small.")
	case rows == -1 && cols == -1:
		square := max(leastRows, leastCols)
		return square, square, nil
	case rows == -1:
		rows = leastRows
	case cols == -1:
		cols = leastCols
	}
	if rows != leastRows && cols != leastCols {
		return 0, 0, tf.Errorf(tf.InvalidArgument, "The number of rows or columns is not consistent with the specified d_lower, d_upper, and diagonal.")
	}
	return rows, cols, nil
}

// matrixDiagResult returns the shape of matrices made of diagonals of shape s.
func matrixDiagResult(d *diagonals, s tf.Shape, rows, cols int) (tf.Shape, error) {
	if len(s) < 1 {
		return nil, tf.Errorf(tf.InvalidArgument, "diagonal must be at least 1-dim, received shape: %s", s.String())
	}
	if err := d.ordered(); err != nil {
		return nil, err
	}
	outer := s[:len(s)-1]
	if d.count() > 1 {
		if len(s) < 2 || s[len(s)-2] != d.count() {
			return nil, tf.Errorf(tf.InvalidArgument, "The number of diagonals provided in the input does not match the lower_diag_index and upper_diag_index range.")
		}
		outer = s[:len(s)-2]
	}
	rows, cols, err := diagSizes(d, s[len(s)-1], rows, cols)
	return append(outer.Clone(), rows, cols), err
}

func matrixDiagShape(c *core.Infer) error {
	s := c.In(0)
	if s == nil {
		return nil
	}
	if len(s) < 1 {
		return tf.Errorf(tf.InvalidArgument, "Shape must be at least rank 1 but is rank 0: diagonal %v", s)
	}
	d, known, err := constDiagonals(c, 1)
	if err != nil || !known {
		return err
	}
	rows, cols := -1, -1
	if c.NumIn() > 1 {
		r, ok1 := c.ConstInts(2)
		l, ok2 := c.ConstInts(3)
		if !ok1 || !ok2 || len(r) != 1 || len(l) != 1 {
			rank := len(s) + 1
			if d.count() > 1 {
				rank--
			}
			c.Set(0, unknownDims(rank))
			return nil
		}
		rows, cols = r[0], l[0]
	}
	if s[len(s)-1] >= 0 && (d.count() == 1 || len(s) < 2 || s[len(s)-2] >= 0) {
		out, err := matrixDiagResult(&d, s, rows, cols)
		if err == nil {
			c.Set(0, out)
		}
		return err
	}
	if d.count() > 1 {
		s = s[:len(s)-1]
	}
	c.Set(0, append(s[:len(s)-1].Clone(), rows, cols))
	return nil
}

// matrixDiagArgs reads the inputs beside the diagonals.
func matrixDiagArgs(c *core.OpContext, d *diagonals) (rows, cols int, err error) {
	if len(c.In) == 1 {
		return -1, -1, nil
	}
	if err = d.read(c.Input(1)); err != nil {
		return 0, 0, err
	}
	for i, name := range []string{"num_rows", "num_cols", "padding_value"} {
		if c.Input(2+i).Rank() != 0 {
			return 0, 0, tf.Errorf(tf.InvalidArgument, "%s must be a scalar", name)
		}
	}
	rows, cols = int(core.Data[int32](c.Input(2))[0]), int(core.Data[int32](c.Input(3))[0])
	return rows, cols, nil
}

func checkPadding(t *core.Tensor) error {
	if t.Len() != 1 {
		return tf.Errorf(tf.InvalidArgument, "padding_value must be a scalar, got shape %s", t.Shape().String())
	}
	return nil
}

func matrixDiag[C cell](n *core.Node) (core.Kernel, error) {
	dtype, align := n.Type("T"), diagonalsOf(n)
	return core.Compute(func(c *core.OpContext) error {
		d, x := align, c.Input(0)
		rows, cols, err := matrixDiagArgs(c, &d)
		if err != nil {
			return err
		}
		s, err := matrixDiagResult(&d, x.Shape(), rows, cols)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, dtype, s)
		if err != nil || out.Len() == 0 {
			return err
		}
		dst, src := cells[C](out), cells[C](x)
		var padding C
		if len(c.In) > 1 {
			padding = cells[C](c.Input(4))[0]
		}
		kernel.Fill(dst, padding)
		eachMatrix(c, s, d, x.Dim(x.Rank()-1), func(m, p, n, step int) { spread(dst[m:], src[p:p+n], step) })
		return nil
	}), nil
}

// eachMatrix calls f for every diagonal of every matrix of shape s: m and p say
// where it begins in the matrices and among the packed ones.
func eachMatrix(c *core.OpContext, s tf.Shape, d diagonals, longest int, f func(m, p, n, step int)) {
	rows, cols := matrixSize(s)
	size, packed := rows*cols, d.count()*longest
	c.ParallelFor(s[:len(s)-2].NumElements(), max(1, elementGrain/max(1, packed)), func(lo, hi int) {
		for b := lo; b < hi; b++ {
			d.each(rows, cols, longest, func(p, at, n int) { f(b*size+at, b*packed+p, n, cols+1) })
		}
	})
}

// spread sets every step-th element of dst to the elements of src.
func spread[C any](dst, src []C, step int) {
	for i, v := range src {
		dst[i*step] = v
	}
}

// collect sets dst to every step-th element of src.
func collect[C any](dst, src []C, step int) {
	for i := range dst {
		dst[i] = src[i*step]
	}
}

func matrixDiagGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	dx := make([]tf.Gradient, len(op.Inputs()))
	dx[0] = tf.Dense(diagonalsOfGrad(op, dy[0], 1))
	return dx
}

// diagonalsOfGrad returns the diagonals of dy that op works on, as TensorFlow
// takes them: with the alignment of the third version.
func diagonalsOfGrad(op *tf.Operation, dy tf.Output, k int) tf.Output {
	return MatrixDiagPartV3(dy, rangeInput(op, k), numberLike(dy, 0), alignOf(op))
}

// rangeInput returns input i of op, which says what diagonals it is about.
func rangeInput(op *tf.Operation, i int) tf.Output {
	if i < len(op.Inputs()) {
		return op.Input(i)
	}
	return intScalar(op.Input(0), tf.Int32, 0)
}

// alignOf returns the alignment for a gradient of op.
func alignOf(op *tf.Operation) DiagAlignOpts {
	if align := op.Str("align"); align != "" {
		return DiagAlignOpts{align}
	}
	return DiagAlignOpts{"RIGHT_LEFT"}
}
