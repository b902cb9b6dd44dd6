package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/tf"
)

func init() {
	tf.Register(tf.OpDef{
		Name: "ApproximateEqual", In: "x: T; y: T", Out: "z: bool", Attrs: "T: {" + reducibleTypes + "}; tolerance: float = 0.00001",
		Shape: mergedShape, NoGrad: tf.NotDifferentiable,
		Kernels: tf.ByType("T", byType{tf.Float32: approximateEqual[float32], tf.Float64: approximateEqual[float64]}),
	})
}

// ApproximateEqualOpts are the optional attributes of ApproximateEqual.
type ApproximateEqualOpts struct{ Tolerance float32 }

// Apply sets the attributes.
func (o ApproximateEqualOpts) Apply(s *tf.Spec) { s.Set("tolerance", o.Tolerance) }

// ApproximateEqual reports where x and y differ by less than a tolerance, 1e-5
// if not given.
func ApproximateEqual(x, y tf.Output, opts ...tf.Option) tf.Output {
	return apply("ApproximateEqual", opts, x, y)
}

func approximateEqual[T interface {
	kernel.Float
	tf.Elem
}](n *tf.Node) (tf.Kernel, error) {
	tolerance := T(n.Float("tolerance"))
	return tf.Compute(func(c *tf.OpContext) error {
		x, y := c.Input(0), c.Input(1)
		if !slices.Equal(x.Shape(), y.Shape()) {
			return tf.Errorf(tf.InvalidArgument, "x and y must be of the same shape. x shape: %s. y shape: %s", x.Shape().Text(), y.Shape().Text())
		}
		out, err := c.Alloc(0, tf.Bool, x.Shape())
		if err != nil {
			return err
		}
		kernel.Zip2(tf.Data[bool](out), tf.Data[T](x), tf.Data[T](y), func(a, b T) bool { return max(a-b, b-a) < tolerance })
		return nil
	}), nil
}
