package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "LinSpace", In: "start: T; stop: T; num: Tidx", Out: "output: T", Attrs: "T: {" + floatTypes + "}; Tidx: {int32, int64} = int32",
		Shape: linSpaceShape, NoGrad: core.NotDifferentiable,
		Kernels: core.ByType("T", byType{tf.Float32: linSpace[float32], tf.Float64: linSpace[float64]}),
	})
}

// LinSpace returns num numbers from start to stop at equal distances. All are
// scalars: start and stop of one type, float32 or float64, and num int32 or
// int64. The result is a vector of num elements; the last is stop itself, and
// with num 1 there is only start. A num that is not positive, and arguments
// that are no scalars, are refused with INVALID_ARGUMENT, when the graph is
// built if they are known, else in the step.
func LinSpace(start, stop, num tf.Output, opts ...tf.Option) tf.Output {
	return apply("LinSpace", opts, start, stop, num)
}

func linSpaceShape(c *core.Infer) error {
	for i := range 3 {
		if _, err := c.Rank(i, 0); err != nil {
			return err
		}
	}
	n := -1
	if v, ok := c.ConstInts(2); ok && len(v) == 1 {
		if n = v[0]; n <= 0 {
			return tf.Errorf(tf.InvalidArgument, "Requires num > 0: %d", n)
		}
	}
	c.Set(0, tf.Shape{n})
	return nil
}

func linSpace[T interface {
	numeric.Float
	tf.Elem
}](n *core.Node) (core.Kernel, error) {
	d := n.Type("T")
	return core.Compute(func(c *core.OpContext) error {
		for i, name := range []string{"start", "stop", "num"} {
			if c.Input(i).Rank() != 0 {
				return tf.Errorf(tf.InvalidArgument, "%s must be a scalar, not shape %s", name, c.Input(i).Shape().String())
			}
		}
		num, err := scalarInt(c.Input(2), "num")
		if err != nil {
			return err
		}
		if num <= 0 {
			return tf.Errorf(tf.InvalidArgument, "Requires num > 0: %d", num)
		}
		out, err := c.Alloc(0, d, tf.Shape{num})
		if err != nil {
			return err
		}
		start, stop, y := core.Data[T](c.Input(0))[0], core.Data[T](c.Input(1))[0], core.Data[T](out)
		if num > 1 {
			ramp(y, start, (stop-start)/T(num-1))
			y[num-1] = stop // to the last bit
		}
		y[0] = start
		return nil
	}), nil
}

const (
	rampBlock = 1024    // elements stay in the first-level cache
	rampExact = 1 << 24 // up to here every int is a float32
)

// ramp sets y[i] to start + i·step, the product rounded, by vector loops if
// there are any.
func ramp[T numeric.Float](y []T, start, step T) {
	exact := 0
	if _, ok := kernel.AsFloat32(y); ok {
		exact = min(len(y), rampExact)
	}
	var from [rampBlock]T
	for i := range min(exact, rampBlock) {
		from[i] = T(i)
	}
	for lo := 0; lo < exact; lo += rampBlock {
		some := y[lo:min(lo+rampBlock, exact)]
		elementwise.AddScalar(some, from[:len(some)], T(lo))
		elementwise.MulScalar(some, some, step)
		elementwise.AddScalar(some, some, start)
	}
	for i := exact; i < len(y); i++ {
		y[i] = start + T(T(i)*step)
	}
}
