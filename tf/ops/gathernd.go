package ops

import (
	"slices"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "GatherNd", In: "params: Tparams; indices: Tindices", Out: "output: Tparams",
		Attrs: "Tparams: type; Tindices: {int16, int32, int64}; bad_indices_policy: string = ''",
		Shape: gatherNDShape, Grad: tf.GradFunc(gatherNDGrad), Kernels: core.ByType("Tparams", sameFor(gatherND, slices.Concat(objectTypes, wideQuantized, smallFloats)...)),
	})
	core.Register(core.OpDef{
		Name: "ResourceGatherNd", Traits: core.ReadsState, In: "resource: resource; indices: Tindices", Out: "output: dtype",
		Attrs: "dtype: type; Tindices: {int32, int64}", Stateful: true,
		Shape: resourceGatherNDShape, Grad: tf.GradFunc(resourceGatherNDGrad), Kernels: core.ByType("dtype", sameFor(resourceGatherND, objectTypes...)),
	})
}

// BadIndicesOpts are the optional attributes of GatherNd and the ScatterNd
// family: "ERROR", or "IGNORE" to read zeros and to write nothing where an
// index is out of range. By default that is an error.
type BadIndicesOpts struct{ Policy string }

// Apply sets the attributes.
func (o BadIndicesOpts) Apply(s *tf.Spec) { s.Set("bad_indices_policy", o.Policy) }

// GatherNd returns the slices of params that the rows of indices, the last
// dimension, point to. Its options are [BadIndicesOpts]. params is of any
// type, indices are int16, int32 or int64, and both have at least one
// dimension. Rows of d indices name slices of the shape params.shape[d:], so
// the result has the shape indices.shape[:-1] followed by that. A d that
// exceeds the rank of params is refused with INVALID_ARGUMENT, when the graph
// is built if they are known, else in the step. The step refuses indices out
// of range with that code; with policy IGNORE their slices are zeros.
func GatherNd(params, indices tf.Output, opts ...tf.Option) tf.Output {
	return apply("GatherNd", opts, params, indices)
}

// ResourceGatherNd is GatherNd on the variable, of type d, behind handle.
// indices are int32 or int64, and those out of range are refused with
// INVALID_ARGUMENT in the step, as is a variable of another type. A variable
// that does not exist or has no value is refused with FAILED_PRECONDITION.
func ResourceGatherNd(handle, indices tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("ResourceGatherNd", tf.Join(opts, tf.Attr("dtype", d)), handle, indices)
}

func gatherNDShape(c *core.Infer) error { return setGathered(c, c.In(0)) }

func resourceGatherNDShape(c *core.Infer) error {
	_, s := c.Handle(0)
	return setGathered(c, s)
}

// setGathered infers the shape of slices of a tensor of shape s.
func setGathered(c *core.Infer, s tf.Shape) error {
	idx := c.In(1)
	if s == nil || len(idx) == 0 || idx[len(idx)-1] < 0 {
		return nil
	}
	depth := idx[len(idx)-1]
	if depth > len(s) {
		return tf.Errorf(tf.InvalidArgument, "indices.shape[-1] must be <= params.rank, but saw indices shape: %v and params shape: %v", idx, s)
	}
	c.Set(0, append(idx[:len(idx)-1].Clone(), s[depth:]...))
	return nil
}

// A badIndices says what happens to indices out of range. open lets there be indices into
// tensors without elements.
type badIndices struct{ ignore, open bool }

func badIndicesOf(n *core.Node) (badIndices, error) {
	switch p := n.Str("bad_indices_policy"); p {
	case "", "DEFAULT", "ERROR":
		return badIndices{open: n.Bool(openSizes)}, nil
	case "IGNORE":
		return badIndices{true, n.Bool(openSizes)}, nil
	default:
		return badIndices{}, tf.Errorf(tf.InvalidArgument, "Bad indices policy attribute is invalid: %s", p)
	}
}

func gatherND(n *core.Node) (core.Kernel, error) {
	bad, err := badIndicesOf(n)
	if err != nil {
		return nil, err
	}
	return core.Compute(func(c *core.OpContext) error { return gatherSlices(c, c.Input(0), n.Type("Tparams"), bad) }), nil
}

func resourceGatherND(n *core.Node) (core.Kernel, error) {
	d := n.Type("dtype")
	return core.Compute(func(c *core.OpContext) error {
		v, err := lookupVariable(c, 0)
		if err != nil {
			return err
		}
		t := v.Load()
		if t == nil {
			return uninitialized(c, 0)
		}
		defer t.Release()
		if t.DType() != d {
			return tf.Errorf(tf.InvalidArgument, "Trying to read variable with wrong dtype. Expected %s got %s", d.CName(), t.DType().CName())
		}
		return gatherSlices(c, t, d, badIndices{})
	}), nil
}

// gatherSlices makes output 0 the slices of params that input 1 points to.
func gatherSlices(c *core.OpContext, params *core.Tensor, d tf.DType, bad badIndices) error {
	idx, s := c.Input(1), params.Shape()
	if err := checkGatherND(idx, params, bad); err != nil {
		return err
	}
	depth, rows := idx.Dim(idx.Rank()-1), idx.Shape()[:idx.Rank()-1]
	out, err := c.Alloc(0, d, append(rows.Clone(), s[depth:]...))
	if err != nil || out.Len() == 0 {
		return err
	}
	if bad.ignore {
		clearCells(out)
	}
	w, n := newSlices(idx, s), product(rows)
	take, grain := moveSlices, max(1, elementGrain/(w.inner+len(w.dims)))
	if params.Buffer() != nil {
		take = takeSlices
	}
	var outside atomic.Bool
	c.ParallelFor(n, grain, func(lo, hi int) {
		if !take(out, params, w, lo, hi) && !bad.ignore {
			outside.Store(true)
		}
	})
	if !outside.Load() {
		return nil
	}
	i := w.firstOutside()
	return tf.Errorf(tf.InvalidArgument, "indices%s = [%s] does not index into param shape %s, node name: %s", position(rows, i), w.text(i), s.String(), c.Node.Name)
}

func checkGatherND(idx, params *core.Tensor, bad badIndices) error {
	s := params.Shape()
	switch {
	case len(s) == 0:
		return tf.Errorf(tf.InvalidArgument, "params must be at least a vector")
	case idx.Rank() == 0:
		return tf.Errorf(tf.InvalidArgument, "indices must be at least a vector")
	}
	if depth := idx.Dim(idx.Rank() - 1); depth > len(s) {
		return tf.Errorf(tf.InvalidArgument, "index innermost dimension length must be <= params rank; saw: %d vs. %d", depth, len(s))
	}
	if params.Len() == 0 && product(idx.Shape()[:idx.Rank()-1]) > 0 && !bad.open {
		return tf.Errorf(tf.InvalidArgument, "Requested more than 0 entries, but params is empty.  Params shape: %s", s.String())
	}
	return nil
}

// takeSlices makes the slices [lo, hi) of dst those of src, both plain bytes, that w finds.
// It leaves out those outside, and reports whether there are none.
func takeSlices(dst, src *core.Tensor, w *sliceWalk, lo, hi int) bool {
	var found [walkBlock]int64
	z, x, width, inside := cells[uint8](dst), cells[uint8](src), w.inner*src.DType().Size(), true
	for ; lo < hi; lo += walkBlock {
		at := found[:min(hi-lo, walkBlock)]
		inside = w.find(at, lo) && inside
		layout.TakeRows(z[lo*width:], x, at, width)
	}
	return inside
}

// moveSlices is takeSlices for elements of any type.
func moveSlices(dst, src *core.Tensor, w *sliceWalk, lo, hi int) bool {
	take, inside := move(dst, src), true
	for i := lo; i < hi; i++ {
		at, ok := w.offset(i)
		if ok {
			take(i*w.inner, at, w.inner)
		}
		inside = inside && ok
	}
	return inside
}

// gatherNDGrad is sparse for indices that name rows.
func gatherNDGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, idx := op.Input(0), op.Input(1)
	d := idx.DType()
	shape := shapeValue(x, widerIndex(d))
	if widerIndex(d) != d {
		shape = castTo(shape, d)
	}
	return slicesGrad(shape, idx, dy[0], BadIndicesOpts{op.Str("bad_indices_policy")})
}

// widerIndex is d, or int32 if shapes cannot be had in it.
func widerIndex(d tf.DType) tf.DType {
	if d == tf.Int64 {
		return d
	}
	return tf.Int32
}

func resourceGatherNDGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	shape := VariableShape(op.Input(0), ShapeOpts{OutType: op.Input(1).DType()})
	return slicesGrad(shape, op.Input(1), dy[0], BadIndicesOpts{})
}

func slicesGrad(shape, idx, dy tf.Output, bad BadIndicesOpts) []tf.Gradient {
	if s := idx.Shape(); len(s) == 2 && s[1] == 1 {
		rows := Squeeze(idx, []int{-1})
		return []tf.Gradient{tf.Sparse(tf.IndexedSlices{Values: dy, Indices: rows, DenseShape: shape}), {}}
	}
	return tf.Grads(ScatterNd(idx, dy, shape, bad), tf.Output{})
}
