package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const types = "T: {bfloat16, half, float, double, int32, int64, complex64, complex128}"
	core.Register(core.OpDef{
		Name: "Diag", In: "diagonal: T", Out: "output: T", Attrs: types,
		Shape: diagShape, Grad: tf.GradFunc(diagGrad), Kernels: core.ByType("T", diagKernels(diag[uint16], diag[uint32], diag[uint64], diag[complex128])),
	})
	core.Register(core.OpDef{
		Name: "DiagPart", In: "input: T", Out: "diagonal: T", Attrs: types,
		Shape: diagPartShape, Grad: tf.GradFunc(diagPartGrad), Kernels: core.ByType("T", diagKernels(diagPart[uint16], diagPart[uint32], diagPart[uint64], diagPart[complex128])),
	})
}

// diagKernels lists kernels by the size of what they move for the types that
// Diag and DiagPart have.
func diagKernels(k2, k4, k8, k16 core.NewKernel) byType {
	return byType{
		tf.Float16: k2, tf.Float32: k4, tf.Int32: k4, tf.Float64: k8, tf.Int64: k8, tf.Complex64: k8, tf.Complex128: k16,
	}
}

// Diag returns a tensor of twice the rank of diagonal, whose elements stand
// where both halves of the indices are equal; the others are 0. Its shape is
// that of diagonal twice. diagonal holds float16, float32, float64, int32,
// int64 or complex numbers. A scalar is refused with INVALID_ARGUMENT, when
// the graph is built if the shape is known, else in the step.
func Diag(diagonal tf.Output, opts ...tf.Option) tf.Output { return apply("Diag", opts, diagonal) }

// DiagPart returns the elements of x at which both halves of the indices are
// equal. The sizes of both halves must be the same. The result has the first
// half of the shape of x. x holds float16, float32, float64, int32, int64 or
// complex numbers. An odd rank, a scalar and halves that differ are refused
// with INVALID_ARGUMENT, when the graph is built if the shape is known, else
// in the step.
func DiagPart(x tf.Output, opts ...tf.Option) tf.Output { return apply("DiagPart", opts, x) }

func diagShape(c *core.Infer) error {
	s := c.In(0)
	if s == nil {
		return nil
	}
	if len(s) == 0 {
		return tf.Errorf(tf.InvalidArgument, "Shape must be at least rank 1 but is rank 0")
	}
	c.Set(0, append(s.Clone(), s...))
	return nil
}

func diagPartShape(c *core.Infer) error {
	s := c.In(0)
	if s == nil {
		return nil
	}
	if len(s)%2 != 0 || len(s) == 0 {
		return tf.Errorf(tf.InvalidArgument, "Input must have even and non-zero rank, input rank is %d", len(s))
	}
	half := len(s) / 2
	out := make(tf.Shape, half)
	for i := range half {
		d, ok := mergedDim(s[i], s[half+i])
		if !ok {
			return tf.Errorf(tf.InvalidArgument, "Dimensions must be equal, but are %d and %d", s[i], s[half+i])
		}
		out[i] = d
	}
	c.Set(0, out)
	return nil
}

func diag[C cell](n *core.Node) (core.Kernel, error) {
	d := n.Type("T")
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		if x.Rank() == 0 {
			return tf.Errorf(tf.InvalidArgument, "Input must be at least rank 1, got 0")
		}
		out, err := c.Alloc(0, d, append(x.Shape().Clone(), x.Shape()...))
		if err != nil {
			return err
		}
		clearCells(out)
		dst := cells[C](out)
		for i, v := range cells[C](x) {
			dst[i*(x.Len()+1)] = v
		}
		return nil
	}), nil
}

func diagPart[C cell](n *core.Node) (core.Kernel, error) {
	d := n.Type("T")
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		s := x.Shape()
		half := len(s) / 2
		if len(s)%2 != 0 || len(s) == 0 {
			return tf.Errorf(tf.InvalidArgument, "The rank of the tensor should be                                          even and positive, got shape %s", s.String())
		}
		for i := range half {
			if s[i] != s[half+i] {
				return tf.Errorf(tf.InvalidArgument, "Invalid shape %s: dimensions %d and %d do not match.", s.String(), i, i+half)
			}
		}
		out, err := c.Alloc(0, d, s[:half].Clone())
		if err != nil {
			return err
		}
		dst, src := cells[C](out), cells[C](x)
		for i := range dst {
			dst[i] = src[i*(len(dst)+1)]
		}
		return nil
	}), nil
}

func diagGrad(_ *tf.Operation, dy []tf.Output) []tf.Gradient { return tf.Grads(DiagPart(dy[0])) }

func diagPartGrad(_ *tf.Operation, dy []tf.Output) []tf.Gradient { return tf.Grads(Diag(dy[0])) }
