package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "GatherV2", In: "params: Tparams; indices: Tindices; axis: Taxis", Out: "output: Tparams",
		Attrs: "batch_dims: int = 0; Tparams: type; Tindices: {int16, int32, int64}; Taxis: {int32, int64}",
		Shape: gatherShape, Grad: tf.GradFunc(gatherGrad), Kernels: gatherers(gather).on("Tparams", allQuantized, smallFloats),
	})
	core.Register(core.OpDef{
		Name: "Gather", In: "params: Tparams; indices: Tindices", Out: "output: Tparams",
		Attrs: "validate_indices: bool = true; Tparams: type; Tindices: {int32, int64}",
		Shape: gatherShape, Grad: tf.GradFunc(gatherGrad), Kernels: gatherers(gather).on("Tparams", allQuantized, smallFloats),
	})
}

// gatherers returns the kernels that mk makes of each gatherer.
func gatherers(mk func(gatherer) core.NewKernel) mover {
	plain := mk(gatherBytes)
	return byCell(plain, plain, plain, plain, plain,
		mk(gatherCells[string]), mk(gatherCells[core.ResourceHandle]), mk(gatherCells[core.VariantValue]))
}

// GatherOpts are the optional attributes of GatherV2 and ResourceGather: how
// many leading dimensions params and indices have in common.
type GatherOpts struct{ BatchDims int }

// Apply sets the attributes.
func (o GatherOpts) Apply(s *tf.Spec) { s.Set("batch_dims", o.BatchDims) }

// GatherV2 returns the slices of params along dimension axis that indices
// name, in the shape of indices. Its options are [GatherOpts]. params is of
// any type and has at least one dimension, indices are int16, int32 or int64,
// axis is a scalar, int32 or int64, and counts from the end if it is
// negative. The result has the shape of params with axis replaced by the
// dimensions of indices; batch dimensions occur once. An axis or number of
// batch dimensions out of range, batch dimensions after axis, and those that
// differ are refused with INVALID_ARGUMENT, when the graph is built if shapes
// and axis are known, else in the step. The step refuses indices outside of
// the dimension, negative ones too, with the same code.
func GatherV2(params, indices, axis tf.Output, opts ...tf.Option) tf.Output {
	return apply("GatherV2", opts, params, indices, axis)
}

// pick returns the rows of params that indices name.
func pick(params, indices tf.Output) tf.Output { return apply("Gather", nil, params, indices) }

// Gather returns the slices of params along an axis that indices name: the
// axis is replaced by the shape of indices. With axis 0 these are rows.
// GatherOpts has batch dimensions. It is GatherV2, with the same types and
// errors: indices outside of the dimension, negative ones too, are refused
// with INVALID_ARGUMENT in the step.
func Gather[A tf.Int](params, indices tf.Output, axis A, opts ...tf.Option) tf.Output {
	return GatherV2(params, indices, author.AsInt(params, axis), opts...)
}

// gatherShape serves Gather, too, whose axis is 0.
func gatherShape(c *core.Infer) error {
	params, indices, axis := c.In(0), c.In(1), 0
	if c.NumIn() > 2 {
		v, ok := c.ConstInts(2)
		if !ok || len(v) != 1 {
			if params != nil && indices != nil && c.Int("batch_dims") == 0 && len(params) > 0 {
				c.Set(0, unknownDims(len(params)-1+len(indices)))
			}
			return nil
		}
		axis = v[0]
	}
	if params == nil || indices == nil {
		return nil
	}
	p, err := planGather(params, indices, axis, c.Int("batch_dims"))
	if err != nil {
		return err
	}
	c.Set(0, p.shape(tf.Shape{}, params, indices))
	return nil
}

// A gatherPlan says how a gather walks its operands, of which the first batch
// dimensions run together.
type gatherPlan struct{ axis, batch int }

func planGather(params, indices tf.Shape, axis, batch int) (p gatherPlan, err error) {
	rank, ok := len(params), false
	if rank == 0 {
		return p, tf.Errorf(tf.InvalidArgument, "params must be at least 1 dimensional")
	}
	if p.axis, ok = wrapAxis(axis, rank); !ok {
		return p, tf.Errorf(tf.InvalidArgument, "Expected axis in the range [%d, %d), but got %d", -rank, rank, axis)
	}
	if batch < -len(indices) || batch > len(indices) {
		return p, tf.Errorf(tf.InvalidArgument, "Expected batch_dims in the range [%d, %d], but got %d", -len(indices), len(indices), batch)
	}
	if p.batch = batch; batch < 0 {
		p.batch += len(indices)
	}
	if p.batch >= rank {
		return p, tf.Errorf(tf.InvalidArgument, "batch_dims (%d) must be less than rank(params) (%d).", p.batch, rank)
	}
	if p.axis < p.batch {
		return p, tf.Errorf(tf.InvalidArgument, "batch_dims (%d) must be less than or equal to axis (%d).", p.batch, p.axis)
	}
	for i := range p.batch {
		if _, ok := mergedDim(params[i], indices[i]); !ok {
			return p, tf.Errorf(tf.InvalidArgument, "params.shape[%d]: %d should be equal to indices.shape[%d]: %d", i, params[i], i, indices[i])
		}
	}
	return p, nil
}

// shape appends to out the shape of the result.
func (p gatherPlan) shape(out, params, indices tf.Shape) tf.Shape {
	out = append(out, params[:p.axis]...)
	out = append(out, indices[p.batch:]...)
	return append(out, params[p.axis+1:]...)
}

func gather(take gatherer) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		d, batch := n.Type("Tparams"), n.Int("batch_dims")
		return core.Compute(func(c *core.OpContext) error {
			axis := 0
			if len(c.In) > 2 {
				at := c.Input(2)
				if at.Rank() != 0 {
					return tf.Errorf(tf.InvalidArgument, "axis must be scalar")
				}
				v, err := scalarInt(at, "axis")
				if err != nil {
					return err
				}
				axis = v
			}
			return gatherInto(c, d, c.Input(0), c.Input(1), axis, batch, take)
		}), nil
	}
}

// gatherInto makes output 0 what gathering from params gives.
func gatherInto(c *core.OpContext, d tf.DType, params, indices *core.Tensor, axis, batch int, take gatherer) error {
	s := params.Shape()
	p, err := planGather(s, indices.Shape(), axis, batch)
	if err != nil {
		return err
	}
	if err := badIndexIn(indices, "indices", s[p.axis]); err != nil {
		return err
	}
	var room [roomRank]int
	out, err := c.Alloc(0, d, p.shape(room[:0], s, indices.Shape()))
	if err != nil || out.Len() == 0 {
		return err
	}
	g := gatherLoop{batches: product(s[:p.batch]), outer: product(s[p.batch:p.axis]), n: s[p.axis], inner: product(s[p.axis+1:])}
	take(c, g, out, params, indices)
	return nil
}

// gatherLoop holds the sizes of a gather: batches of params of shape outer × n
// × inner.
type gatherLoop struct{ batches, outer, n, inner int }

// A gatherer sets out to what a loop gathers from params.
type gatherer func(c *core.OpContext, g gatherLoop, out, params, indices *core.Tensor)

// gatherBytes gathers elements that are plain bytes.
func gatherBytes(c *core.OpContext, g gatherLoop, out, params, indices *core.Tensor) {
	dst, src := cells[uint8](out), cells[uint8](params)
	g.inner *= params.DType().Size()
	if indices.DType() == tf.Int32 {
		gatherBatches(c, g, dst, src, core.Data[int32](indices), layout.GatherBytes[int32])
	} else {
		gatherBatches(c, g, dst, src, rows.Indices(indices), layout.GatherBytes[int64])
	}
}

// gatherCells gathers Go objects.
func gatherCells[C cell](c *core.OpContext, g gatherLoop, out, params, indices *core.Tensor) {
	gatherBatches(c, g, cells[C](out), cells[C](params), rows.Indices(indices), layout.Gather[C, int64])
}

// gatherBatches gathers small batches side by side, and large ones each in parallel.
func gatherBatches[C cell, I numeric.Index](c *core.OpContext, g gatherLoop, dst, src []C, idx []I,
	take func(par kernel.Par, dst, src []C, idx []I, outer, n, inner int),
) {
	rows, from := len(idx)/g.batches, g.outer*g.n*g.inner
	to := g.outer * rows * g.inner
	some := func(par kernel.Par, lo, hi int) {
		for b := lo; b < hi; b++ {
			take(par, dst[b*to:(b+1)*to], src[b*from:(b+1)*from], idx[b*rows:(b+1)*rows], g.outer, g.n, g.inner)
		}
	}
	grain := layout.RowGrain(g.inner) / (g.outer * rows)
	if grain == 0 || g.batches <= grain {
		some(c.Par(), 0, g.batches)
		return
	}
	c.ParallelFor(g.batches, grain, func(lo, hi int) { some(kernel.Serial, lo, hi) })
}
