package ops

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const out = "precision: bool"
	kernels := byType{tf.Int32: inTopK[int32], tf.Int64: inTopK[int64]}
	core.Register(core.OpDef{
		Name: "InTopK", In: "predictions: float; targets: T", Out: out, Attrs: "k: int; T: {int32, int64} = DT_INT32",
		Shape: inTopKShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", kernels),
	})
	core.Register(core.OpDef{
		Name: "InTopKV2", In: "predictions: float; targets: T; k: T", Out: out, Attrs: "T: {int32, int64} = DT_INT32",
		Shape: inTopKShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", kernels),
	})
}

// InTopKV2 tells for each row of predictions whether the element that targets
// choose is among its k greatest. predictions are [rows classes] of type
// float32, targets [rows] of type int32 or int64, k is a scalar of that type,
// and the result is bool [rows]. Elements equal to the chosen one do not
// count as greater. A target outside of [0, classes) and a row with Inf or
// NaN give false. Other shapes are refused with INVALID_ARGUMENT, when the
// graph is built if they are known, else in the step.
func InTopKV2(predictions, targets, k tf.Output, opts ...tf.Option) tf.Output {
	return apply("InTopKV2", opts, predictions, targets, k)
}

func inTopKShape(c *core.Infer) error {
	p, err := c.Rank(0, 2)
	if err != nil {
		return err
	}
	t, err := c.Rank(1, 1)
	if err != nil {
		return err
	}
	n, ok := mergedDim(p[0], t[0])
	if !ok {
		return tf.Errorf(tf.InvalidArgument, "Dimensions must be equal: %d rows of predictions and %d targets", p[0], t[0])
	}
	c.Set(0, tf.Shape{n})
	return nil
}

func inTopK[T interface{ int32 | int64 }](n *core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		k := n.Int("k")
		if c.Inputs() == 3 {
			if s := c.Input(2).Shape(); len(s) != 0 {
				return tf.Errorf(tf.InvalidArgument, "k must be 0-D, got shape %s", s.String())
			}
			var err error
			if k, err = scalarInt(c.Input(2), "k"); err != nil {
				return err
			}
		}
		p, t := c.Input(0), c.Input(1)
		switch {
		case p.Rank() != 2:
			return tf.Errorf(tf.InvalidArgument, "predictions must be 2-dimensional")
		case t.Rank() != 1:
			return tf.Errorf(tf.InvalidArgument, "targets must be 1-dimensional")
		case p.Dim(0) != t.Dim(0):
			return tf.Errorf(tf.InvalidArgument, "First dimension of predictions %d must match length of targets %d", p.Dim(0), t.Dim(0))
		}
		out, err := c.Alloc(0, tf.Bool, t.Shape())
		if err != nil {
			return err
		}
		rows, classes := core.Data[float32](p), p.Dim(1)
		for i, target := range core.Data[T](t) {
			core.Data[bool](out)[i] = amongTop(rows[i*classes:(i+1)*classes], int(target), k)
		}
		return nil
	}), nil
}

// amongTop reports whether fewer than k elements of row are greater than that
// of target. Nothing can be said of rows that are not finite.
func amongTop(row []float32, target, k int) bool {
	if target < 0 || target >= len(row) {
		return false
	}
	greater := 0
	for _, v := range row {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return false
		}
		if v > row[target] {
			if greater++; greater >= k {
				return false // whatever comes
			}
		}
	}
	return greater < k
}
