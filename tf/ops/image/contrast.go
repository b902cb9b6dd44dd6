package image

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "AdjustContrast", In: "images: T; contrast_factor: float; min_value: float; max_value: float", Out: "output: float",
		Attrs: "T: {uint8, int8, int16, int32, int64, float, double}", Shape: oldContrastShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", forTypes(computed(oldContrast), tf.Uint8, tf.Int8, tf.Int16, tf.Int32, tf.Float32, tf.Float64)),
	})
}

// AdjustContrast is AdjustContrastv2 for images of other types too. Its
// result is kept between low and high. TensorFlow takes it from old graphs
// only. images [... height width channels] are uint8, int8, int16, int32,
// float32 or float64, the result is float32 of their shape; factor, low and
// high are float32 scalars. Other shapes are refused with INVALID_ARGUMENT,
// when the graph is built if they are known, else in the step.
func AdjustContrast(images, factor, low, high tf.Output, opts ...tf.Option) tf.Output {
	return apply("AdjustContrast", opts, images, factor, low, high)
}

func oldContrastShape(c *core.Infer) error {
	for i := 1; i < 4; i++ {
		if _, err := c.Rank(i, 0); err != nil {
			return err
		}
	}
	return atLeast3(c)
}

func oldContrast(c *core.OpContext) error {
	in := c.Input(0)
	s := in.Shape()
	if len(s) < 3 {
		return invalid("input must be at least 3-D, got shape%s", s.String())
	}
	var by [3]float32
	for i, name := range []string{"contrast_factor", "min_value", "max_value"} {
		t := c.Input(1 + i)
		if t.Rank() != 0 {
			return invalid("%s must be scalar: %s", name, t.Shape().String())
		}
		by[i] = core.Data[float32](t)[0]
	}
	y, _, err := output(c, 0, tf.Float32, s)
	if err != nil || len(y) == 0 {
		return err
	}
	x, depth := inFloat32(c, in), s[len(s)-1]
	size := s[len(s)-3] * s[len(s)-2] * depth
	c.ParallelFor(len(y)/size, max(1, grain/size), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for ch := range depth {
				stretchChannel(y[i*size:(i+1)*size], x[i*size:(i+1)*size], ch, depth, by)
			}
		}
	})
	return nil
}

// stretchChannel multiplies the distances of a channel from its mean.
func stretchChannel(y, x []float32, ch, depth int, by [3]float32) {
	mean, _ := moments(x, ch, depth)
	for i := ch; i < len(x); i += depth {
		y[i] = max(by[1], min(by[2], (x[i]-mean)*by[0]+mean))
	}
}
