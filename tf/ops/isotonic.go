package ops

import (
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func isotonicShape(c *core.Infer) error {
	s := c.In(0)
	if s != nil && len(s) == 0 {
		return tf.Errorf(tf.InvalidArgument, "Shape must be at least rank 1 but is rank 0")
	}
	c.Set(0, s)
	c.Set(1, s)
	return nil
}

// isotonic computes each row of the last dimension by pooling neighbours that
// increase until none do. The result is of type d.
func isotonic[T numeric.Real, R numeric.Float](in computedIn[T], result computedIn[R], d tf.DType) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		if got := n.Type("output_dtype"); got != d {
			return nil, tf.Errorf(tf.NotFound, "No OpKernel was registered to support Op '%s' with attr T = %v and output_dtype = %v", n.OpName(), n.Type("T"), got)
		}
		return core.Compute(func(c *core.OpContext) error {
			x := c.Input(0)
			out, y, err := result.alloc(c, 0, d, x.Shape())
			if err != nil {
				return err
			}
			segments, err := c.Alloc(1, tf.Int32, x.Shape())
			if err != nil {
				return err
			}
			width := 1
			if x.Rank() > 0 {
				width = x.Dim(x.Rank() - 1)
			}
			v, number := in.load(c, x), core.Data[int32](segments)
			if len(v) > 0 {
				c.ParallelFor(len(v)/width, max(1, elementGrain/width), func(lo, hi int) {
					for i := lo * width; i < hi*width; i += width {
						isotonicRow(y[i:i+width], number[i:i+width], v[i:i+width])
					}
				})
			}
			result.finish(out, y)
			return nil
		}), nil
	}
}

// A level is a stretch of a row that gets one value, the mean of what is there.
type level[R numeric.Float] struct {
	end       int
	sum, mean R
}

func isotonicRow[T numeric.Real, R numeric.Float](y []R, number []int32, x []T) {
	levels := core.Make[level[R]](len(x))[:0]
	for i, v := range x {
		levels = append(levels, level[R]{i + 1, R(v), R(v)})
		for k := len(levels) - 1; k > 0 && levels[k].mean > levels[k-1].mean; k-- {
			begin := 0
			if k > 1 {
				begin = levels[k-2].end
			}
			sum := levels[k-1].sum + levels[k].sum
			levels[k-1] = level[R]{i + 1, sum, sum / R(i+1-begin)}
			levels = levels[:k]
		}
	}
	at := 0
	for k, l := range levels {
		for ; at < l.end; at++ {
			y[at], number[at] = l.mean, int32(k)
		}
	}
}

// isotonicGrad gives each element the mean of the gradients of its stretch.
func isotonicGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	g, shape := dy[0], Shape(op.Output(1))
	zero, one := intScalar(g, tf.Int32, 0), intScalar(g, tf.Int32, 1)
	n, width := Size(op.Output(1)), GatherV2(shape, Sub(Rank(op.Output(1)), one), zero)
	// A stretch is known by its number and the place where its row begins.
	rows := Mul(FloorDiv(Range(nil, zero, n, one), width), width)
	of := Add(op.Output(1), Reshape(rows, shape))
	sums, counts := UnsortedSegmentSum(g, of, n), UnsortedSegmentSum(OnesLike(g), of, n)
	means := apply("RealDiv", nil, sums, Maximum(counts, castTo(one, g.DType())))
	return tf.Grads(GatherV2(means, of, zero))
}
