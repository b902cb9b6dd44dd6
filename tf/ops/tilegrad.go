package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "TileGrad", In: "input: T; multiples: int32", Out: "output: T", Attrs: "T: type", // of graphs before version 3
		Shape: noOutputs, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", byType{
			tf.Float32: sumTiles(asItself[float32]()), tf.Float64: sumTiles(asItself[float64]()), tf.Float16: sumTiles(asFloat32[tf.Half]()), tf.BFloat16: sumTiles(asFloat32[tf.BF16]()),
			tf.Int16: sumTiles(asItself[int16]()), tf.Int32: sumTiles(asItself[int32]()), tf.Int64: sumTiles(asItself[int64]()),
			tf.Complex64: sumTiles(asItself[complex64]()), tf.Complex128: sumTiles(asItself[complex128]()),
		}),
	})
}

// untiled returns the shape of which s is m tiles along each dimension.
func untiled(s tf.Shape, multiples *core.Tensor) (tf.Shape, error) {
	if multiples.Rank() != 1 {
		return nil, tf.Errorf(tf.InvalidArgument, "Expected multiples to be 1-D, but got shape %s", multiples.Shape().String())
	}
	if multiples.Len() != len(s) {
		return nil, tf.Errorf(tf.InvalidArgument, "Expected multiples argument to be a vector of length %d but got length %d", len(s), multiples.Len())
	}
	out := s.Clone()
	for i, m := range core.Data[int32](multiples) {
		switch {
		case m <= 0:
			return nil, tf.Errorf(tf.InvalidArgument, "Expected multiples[%d] > 0, but got %d", i, m)
		case s[i]%int(m) != 0:
			return nil, tf.Errorf(tf.InvalidArgument, "Expected input_dim[%d] to be divisible by multiples[%d], but %d %% %d != 0", i, i, s[i], m)
		}
		out[i] /= int(m)
	}
	return out, nil
}

// sumTiles makes the kernel that adds up the tiles of its input.
func sumTiles[T numeric.Number](k computedIn[T]) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) {
		return core.Compute(func(c *core.OpContext) error {
			x := c.Input(0)
			s, err := untiled(x.Shape(), c.Input(1))
			if err != nil {
				return err
			}
			if s.Equal(x.Shape()) {
				c.Forward(0, 0)
				return nil
			}
			out, y, err := k.alloc(c, 0, x.DType(), s)
			if err != nil {
				return err
			}
			addTiles(y, k.load(c, x), s, x.Shape())
			k.finish(out, y)
			return nil
		}), nil
	}
}

// addTiles sets y, of shape s, to the sum of the tiles of x.
func addTiles[T numeric.Number](y, x []T, s, xs tf.Shape) {
	clear(y)
	steps, at := layout.Strides(s), make([]int, len(xs))
	for _, v := range x {
		to := 0
		for i, p := range at {
			to += p % s[i] * steps[i]
		}
		y[to] += v
		for i := len(at) - 1; i >= 0; i-- {
			if at[i]++; at[i] < xs[i] {
				break
			}
			at[i] = 0
		}
	}
}
