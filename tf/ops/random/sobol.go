package random

import (
	"math"

	stream "github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "SobolSample", In: "dim: int32; num_results: int32; skip: int32", Out: "samples: dtype", Attrs: "dtype: {float, double} = float",
		Shape: sobolShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("dtype", map[tf.DType]core.NewKernel{tf.Float32: sobol[float32], tf.Float64: sobol[float64]}),
	})
}

// SobolSample returns points of the Sobol sequence, which fills the unit cube
// evenly: a matrix of numResults rows of dim coordinates each, behind the
// first skip points. All are int32 scalars. The direction numbers are those
// of Joe and Kuo (2008). The result is float32 unless the attribute dtype
// says Float64. Inputs of another shape are refused with INVALID_ARGUMENT,
// when the graph is built if they are known, else in the step; so are, in the
// step, a dim or numResults below 1, a dim that is too great, a negative
// skip, and numbers of points or coordinates beyond int32.
func SobolSample(dim, numResults, skip tf.Output, opts ...tf.Option) tf.Output {
	return apply("SobolSample", opts, dim, numResults, skip)
}

func sobolShape(c *core.Infer) error {
	sizes := tf.Shape{-1, -1}
	for i := range 3 {
		if _, err := c.Rank(i, 0); err != nil {
			return err
		}
		if t := c.Const(i); t != nil && i < 2 {
			sizes[1-i] = int(core.Data[int32](t)[0])
		}
	}
	for _, n := range sizes {
		if n < -1 {
			return tf.Errorf(tf.InvalidArgument, "Dimension %d must be >= 0", n)
		}
	}
	c.Set(0, sizes)
	return nil
}

// A sobolRequest says which points are asked for.
type sobolRequest struct{ dim, count, skip int }

func sobolInputs(c *core.OpContext) (r sobolRequest, err error) {
	for i, to := range []*int{&r.dim, &r.count, &r.skip} {
		if c.Input(i).Rank() != 0 {
			return r, tf.Errorf(tf.InvalidArgument, "%s must be a scalar", []string{"dim", "num_results", "skip"}[i])
		}
		*to = int(core.Data[int32](c.Input(i))[0])
	}
	most := stream.MaxSobolDim()
	switch {
	case r.dim < 1:
		return r, tf.Errorf(tf.InvalidArgument, "dim must be at least one")
	case r.dim > most:
		return r, tf.Errorf(tf.InvalidArgument, "dim must be at most %d", most)
	case r.count < 1:
		return r, tf.Errorf(tf.InvalidArgument, "num_results must be at least one")
	case r.skip < 0:
		return r, tf.Errorf(tf.InvalidArgument, "skip must be non-negative")
	case r.count >= math.MaxInt32-r.skip:
		return r, tf.Errorf(tf.InvalidArgument, "num_results+skip must be less than %d", math.MaxInt32)
	case r.count >= math.MaxInt32/r.dim:
		return r, tf.Errorf(tf.InvalidArgument, "num_results*dim must be less than %d", math.MaxInt32)
	}
	return r, nil
}

// sobolGrain is the least number of points worth a sequence of their own.
const sobolGrain = 512

func sobol[T float32 | float64](*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		r, err := sobolInputs(c)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, tf.TypeOf[T](), tf.Shape{r.count, r.dim})
		if err != nil {
			return err
		}
		y := core.Data[T](out)
		c.ParallelFor(r.count, sobolGrain, func(lo, hi int) {
			first := uint32(r.skip + lo + 1)
			s := stream.NewSobol(r.dim, first, uint32(r.skip+hi))
			for ; lo < hi; lo++ {
				sobolPoint(s, y[lo*r.dim:(lo+1)*r.dim])
				s.Next()
			}
		})
		return nil
	}), nil
}

func sobolPoint[T float32 | float64](s *stream.Sobol, y []T) {
	for j := range y {
		v, digits := s.Coordinate(j)
		y[j] = T(v) / T(uint32(1)<<digits)
	}
}
