package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const policy = "; bad_indices_policy: string = ''"
	sums := addSlices.and(tf.String, eachSlice(zipRows(joinStrings)))
	core.Register(core.OpDef{
		Name: "ScatterNd", In: "indices: Tindices; updates: T; shape: Tindices", Out: "output: T",
		Attrs: "T: type; Tindices: {int16, int32, int64}" + policy,
		Shape: scatterNDShape, Grad: tf.GradFunc(scatterNDGrad), Kernels: core.ByType("T", sums.kernels(scatterND)),
	})
	core.Register(core.OpDef{
		Name: "ScatterNdNonAliasingAdd", In: "input: T; indices: Tindices; updates: T", Out: "output: T",
		Attrs: "T: {" + scatteredTypes + ", bool}; Tindices: {int32, int64}" + policy,
		Shape: tensorScatterShape, Grad: tf.GradFunc(tensorAddGrad), Kernels: core.ByType("T", addSlices.kernels(nonAliasingScatter)),
	})
	tensorScatterOp("Update", "{int16, int32, int64, uint16}", tensorUpdateGrad, setSlices.only(dataTypes...))
	tensorScatterOp("Add", "{int32, int64}", tensorAddGrad, addSlices.only(numberTypes...))
	tensorScatterOp("Sub", "{int32, int64}", tensorSubGrad, subSlices.only(numberTypes...))
	tensorScatterOp("Max", "{int32, int64}", tensorExtremeGrad, maxSlices)
	tensorScatterOp("Min", "{int32, int64}", tensorExtremeGrad, minSlices)
}

// scatteredTypes are the numbers in the signatures of ScatterNdAdd and others.
const scatteredTypes = "float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64"

func tensorScatterOp(name, indices string, grad tf.GradFunc, by slicesOps) {
	core.Register(core.OpDef{
		Name: "TensorScatter" + name, In: "tensor: T; indices: Tindices; updates: T", Out: "output: T",
		Attrs: "T: type; Tindices: " + indices + "; bad_indices_policy: string = ''",
		Shape: tensorScatterShape, Grad: tf.GradFunc(grad), Kernels: core.ByType("T", by.kernels(tensorScatter)),
	})
}

func joinStrings(z, x, y []string) {
	for i := range z {
		z[i] = x[i] + y[i]
	}
}

// ScatterNd returns zeros of the given shape to which, at the slices that the
// rows of indices point to, updates are added. shape is a vector of the type
// of indices: int16, int32 or int64. updates has the shape of indices without
// its last dimension, followed by that of a slice; it holds numbers, bools,
// which are joined by or, or strings, which are concatenated. Other shapes
// are refused with INVALID_ARGUMENT, when the graph is built if they are
// known, else in the step. An index out of range and a negative size end the
// step with INVALID_ARGUMENT; BadIndicesOpts may leave such indices out.
func ScatterNd(indices, updates, shape tf.Output, opts ...tf.Option) tf.Output {
	return apply("ScatterNd", opts, indices, updates, shape)
}

// ScatterNdNonAliasingAdd returns x with updates added to the slices that
// indices point to. x has one dimension or more and holds numbers or bools,
// which are joined by or; indices is int32 or int64. The shape of updates,
// and what is refused, are those of ScatterNd.
func ScatterNdNonAliasingAdd(x, indices, updates tf.Output, opts ...tf.Option) tf.Output {
	return apply("ScatterNdNonAliasingAdd", opts, x, indices, updates)
}

// TensorScatterUpdate returns x with the slices that indices point to
// replaced by updates. x and updates have one type: numbers, bools or
// strings; indices, one row of int16, int32, int64 or uint16 for each slice,
// may repeat, and then the last one counts. updates has the shape of indices
// without its last dimension, followed by that of a slice. Other shapes are
// refused with INVALID_ARGUMENT, when the graph is built if they are known,
// else in the step. An index out of range ends the step with
// INVALID_ARGUMENT; BadIndicesOpts may leave it out.
func TensorScatterUpdate(x, indices, updates tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorScatterUpdate", opts, x, indices, updates)
}

// TensorScatterAdd returns x with updates added to slices. x holds numbers
// and indices is int32 or int64; shapes and errors are those of
// TensorScatterUpdate. Updates of one slice add up.
func TensorScatterAdd(x, indices, updates tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorScatterAdd", opts, x, indices, updates)
}

// TensorScatterSub returns x with updates subtracted from slices. x holds
// numbers and indices is int32 or int64; shapes and errors are those of
// TensorScatterUpdate. All updates of one slice are subtracted.
func TensorScatterSub(x, indices, updates tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorScatterSub", opts, x, indices, updates)
}

// TensorScatterMax returns x with slices raised to updates, by element. x
// holds real numbers and indices is int32 or int64; an element becomes NaN if
// it or its update is. Shapes and errors are those of TensorScatterUpdate.
func TensorScatterMax(x, indices, updates tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorScatterMax", opts, x, indices, updates)
}

// TensorScatterMin returns x with slices lowered to updates, by element. x
// holds real numbers and indices is int32 or int64; an element becomes NaN if
// it or its update is. Shapes and errors are those of TensorScatterUpdate.
func TensorScatterMin(x, indices, updates tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorScatterMin", opts, x, indices, updates)
}

func scatterNDShape(c *core.Infer) error {
	s := c.ConstShape(2)
	c.Set(0, s)
	return scatterFits(s, c.In(0), c.In(1))
}

func tensorScatterShape(c *core.Infer) error {
	c.Set(0, c.In(0))
	return scatterFits(c.In(0), c.In(1), c.In(2))
}

// scatterFits checks what is known of the shapes of a scatter's operands.
func scatterFits(s, idx, updates tf.Shape) error {
	if s == nil || updates == nil || len(idx) == 0 || idx[len(idx)-1] < 0 || !s.Known() && len(s) == 0 {
		return nil
	}
	depth, rows := idx[len(idx)-1], idx[:len(idx)-1]
	if depth > len(s) {
		return tf.Errorf(tf.InvalidArgument, "an index must have at most as many entries as the tensor dimensions: indices %v, tensor %v", idx, s)
	}
	if want := append(rows.Clone(), s[depth:]...); !updates.Compatible(want) {
		return tf.Errorf(tf.InvalidArgument, "Dimensions of updates must be those of indices but the last, and of a slice: updates %v, indices %v, tensor %v", updates, idx, s)
	}
	return nil
}

func scatterND(f slicesOp) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		bad, err := badIndicesOf(n)
		return core.Compute(func(c *core.OpContext) error {
			if c.Input(2).Rank() != 1 {
				return tf.Errorf(tf.InvalidArgument, "Shape must be a vector")
			}
			s, err := shapeOf(c.Input(2), "shape")
			if err != nil {
				return err
			}
			if err := checkSizes(s); err != nil {
				return err
			}
			idx, updates := c.Input(0), c.Input(1)
			if err := checkScatterND(s, idx.Shape(), updates.Shape()); err != nil {
				return err
			}
			out, err := c.Alloc(0, updates.DType(), s)
			if err != nil {
				return err
			}
			clearCells(out)
			return scatterSlices(out, idx, updates, f, bad)
		}), err
	}
}

func tensorScatter(f slicesOp) core.NewKernel { return scatterInput(f, checkTensorScatter) }

func nonAliasingScatter(f slicesOp) core.NewKernel { return scatterInput(f, checkVariableScatter) }

// scatterInput scatters into a copy of input 0.
func scatterInput(f slicesOp, check func(s, idx, updates tf.Shape) error) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		bad, err := badIndicesOf(n)
		return core.Compute(func(c *core.OpContext) error {
			x := c.Input(0)
			if err := check(x.Shape(), c.Input(1).Shape(), c.Input(2).Shape()); err != nil && !(bad.open && x.Len() == 0) {
				return err
			}
			out, err := c.AllocFrom(0, 0, x.DType(), x.Shape())
			if err != nil {
				return err
			}
			if out.Buffer() == nil || out.Buffer() != x.Buffer() {
				copyCached(c, out, x)
			}
			return scatterSlices(out, c.Input(1), c.Input(2), f, bad)
		}), err
	}
}

// cachedBytes is the size of a tensor of which the caches still hold a good part when it has
// been copied.
const cachedBytes = 16 << 20

// copyCached copies x, of the size of dst, by pieces and so through the caches: what a
// single copy of millions of bytes has written is not there when slices of it are changed.
func copyCached(c *core.OpContext, dst, x *core.Tensor) {
	const grain = 4 * elementGrain
	take, piece := move(dst, x), grain
	if b := x.Buffer(); b != nil && b.Len() > cachedBytes {
		piece = x.Len()
	}
	c.ParallelFor(x.Len(), grain, func(lo, hi int) {
		for ; lo < hi; lo += piece {
			take(lo, lo, min(hi-lo, piece))
		}
	})
}

// scatterSlices combines slices of dst with updates, all of shapes that fit.
func scatterSlices(dst, idx, updates *core.Tensor, f slicesOp, bad badIndices) error {
	if updates.Len() == 0 {
		return nil
	}
	w, combine := newSlices(idx, dst.Shape()), f(dst, updates)
	rows := idx.Shape()[:idx.Rank()-1]
	n := product(rows)
	found := make([]int64, min(n, walkBlock))
	for lo := 0; lo < n; lo += walkBlock {
		at := found[:min(n-lo, walkBlock)]
		if w.find(at, lo) || bad.ignore {
			combine(at, lo, w.inner)
			continue
		}
		k := slices.Index(at, -1)
		combine(at[:k], lo, w.inner)
		return tf.Errorf(tf.InvalidArgument, "indices%s = [%s] does not index into shape %s", position(rows, lo+k), w.text(lo+k), dst.Shape().String())
	}
	return nil
}
