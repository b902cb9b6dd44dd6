package sparse

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// scoped returns what f builds of x in a scope, or x in all parts if it cannot be
// computed.
func scoped(scope string, x tf.Output, f func() Tensor) (t Tensor) {
	if x.Err() != nil {
		return Tensor{x, x, x}
	}
	x.Graph().Scope(scope, func() { t = f() })
	return t
}

// Placeholder adds three placeholders that are a sparse tensor of type d
// together: it is fed by session.Feeds.AddSparse or part by part. shape may be
// nil, if the rank is not known. d is any type, Indices int64 [n rank] and
// DenseShape int64 [rank]. Only the number of dimensions in shape counts, not
// its sizes. A step that needs a part that is not fed ends with
// INVALID_ARGUMENT.
func Placeholder(g *tf.Graph, d tf.DType, shape tf.Shape, opts ...tf.Option) (t Tensor) {
	rank := -1
	if shape != nil {
		rank = len(shape)
	}
	if g == nil {
		return noGraph("sparse_placeholder")
	}
	g.Scope("sparse_placeholder", func() {
		t.Values = ops.Placeholder(g, d, tf.Shape{-1}, tf.Join(opts, tf.Name("values"))...)
		t.Indices = ops.Placeholder(g, tf.Int64, tf.Shape{-1, rank}, tf.Name("indices"))
		t.DenseShape = ops.Placeholder(g, tf.Int64, tf.Shape{rank}, tf.Name("shape"))
	})
	return t
}

// noGraph is a tensor of no graph, whose error says so.
func noGraph(name string) Tensor {
	bad := tf.Failed(nil, name, tf.Errorf(tf.InvalidArgument, "an operation without inputs needs a graph, got nil: make one by tf.NewGraph")).Output(0)
	return Tensor{bad, bad, bad}
}

// FromDense returns the elements of x that are not zero, false or empty. x has
// any type that can be compared, which Values keeps; Indices are in order, and
// NaN is an element. Resource handles and variants cannot be compared and fail
// the step with NOT_FOUND.
func FromDense(x tf.Output) Tensor {
	return scoped("dense_to_sparse", x, func() Tensor {
		at := ops.Where(x.NotEqual(ops.ZerosLike(x)))
		return Tensor{at, ops.GatherNd(x, at), ops.Shape(x, ops.ShapeOpts{OutType: tf.Int64})}
	})
}

// ToDense returns t with def, a scalar of its type, where it has no element.
// The indices must be in order and without duplicates. The result has the
// type and the shape of t. Other indices, and a def that is no scalar, fail
// with INVALID_ARGUMENT in the step.
func ToDense(t Tensor, def tf.Output) tf.Output {
	return ops.SparseToDense(t.Indices, t.DenseShape, t.Values, def)
}

// Eye returns a sparse matrix of rows and columns with ones on the main
// diagonal. The result has the numeric type d. Negative rows or columns are
// refused with INVALID_ARGUMENT when the graph is built.
func Eye(g *tf.Graph, rows, columns int, d tf.DType) (t Tensor) {
	n := min(rows, columns)
	one, err := core.ScalarOf(d, 1)
	if err != nil || n < 0 {
		if err == nil {
			err = tf.Errorf(tf.InvalidArgument, "a matrix has at least 0 rows and columns, got %d and %d", rows, columns)
		}
		bad := tf.Failed(g, "eye", err).Output(0)
		return Tensor{bad, bad, bad}
	}
	if g == nil {
		return noGraph("eye")
	}
	g.Scope("eye", func() {
		at := make([]int64, 0, 2*n)
		for i := range int64(n) {
			at = append(at, i, i)
		}
		t = Tensor{ops.Const(g, at, n, 2), ops.Fill([]int{n}, ops.ConstValue(g, one)), ops.Const(g, []int64{int64(rows), int64(columns)})}
	})
	return t
}

// Retain returns the elements of t for which keep, a bool vector, is true.
// keep has an element for each one of t; the shape stays. A true element of
// keep beyond those of t fails as Gather does.
func Retain(t Tensor, keep tf.Output) Tensor {
	return scoped("SparseRetain", t.Values, func() Tensor {
		at := ops.Reshape(ops.Where(keep), []int{-1})
		return Tensor{ops.Gather(t.Indices, at, 0), ops.Gather(t.Values, at, 0), t.DenseShape}
	})
}

// ResetShape returns t with the smallest shape that holds its elements.
// Indices and Values stay. Without elements all sizes are 0. Indices of
// another type than int64 are refused with INVALID_ARGUMENT when the graph is
// built; negative ones are not refused and count as -1.
func ResetShape(t Tensor) Tensor {
	return scoped("SparseResetShape", t.Values, func() Tensor {
		g := t.Values.Graph()
		greatest := ops.Max(t.Indices, []int{0})
		size := greatest.Maximum(ops.Scalar[int64](g, -1)).Add(ops.Scalar[int64](g, 1))
		return Tensor{t.Indices, t.Values, size}
	})
}

// Transpose returns t with its dimensions in the order of perm. perm has each
// dimension once, an int32 or int64 vector or a slice. The result is in
// order. Numbers in perm that are no dimension fail as Gather does.
func Transpose[P tf.Ints](t Tensor, perm P) Tensor {
	return scoped("SparseTranspose", t.Values, func() Tensor {
		p := author.AsInts(t.Values, perm)
		return SparseReorder(Tensor{ops.Gather(t.Indices, p, 1), t.Values, ops.Gather(t.DenseShape, p, 0)})
	})
}

// SparseExpandDims returns t with a new dimension of size 1 at an axis, whose
// rank must be known; a negative axis counts from the end of the result.
// Values stay. An unknown rank and an axis outside [-rank-1, rank] are
// refused with INVALID_ARGUMENT when the graph is built.
func SparseExpandDims(t Tensor, axis int) Tensor {
	return scoped("SparseExpandDims", t.Values, func() Tensor {
		rank := -1
		if s := t.Indices.Shape(); len(s) == 2 {
			rank = s[1]
		}
		at := axis
		if axis < 0 {
			at += rank + 1
		}
		if rank < 0 || at < 0 || at > rank {
			bad := tf.Failed(t.Values.Graph(), "SparseExpandDims", tf.Errorf(tf.InvalidArgument,
				"the rank must be known and the axis in [-rank-1, rank], got rank %d, axis %d", rank, axis)).Output(0)
			return Tensor{bad, bad, bad}
		}
		g := t.Values.Graph()
		column := ops.ZerosLike(t.Indices.At(":, :1"))
		left, right := ops.Slice(t.Indices, []int{0, 0}, []int{-1, at}), ops.Slice(t.Indices, []int{0, at}, []int{-1, -1})
		if rank == 0 {
			column = ops.Fill(ops.Stack([]tf.Output{ops.Shape(t.Indices).At("0"), ops.Scalar[int32](g, 1)}, 0), ops.Scalar[int64](g, 0))
		}
		one := ops.Const(g, []int64{1})
		shape := ops.Concat(0, []tf.Output{ops.Slice(t.DenseShape, []int{0}, []int{at}), one, ops.Slice(t.DenseShape, []int{at}, []int{-1})})
		return Tensor{ops.Concat(1, []tf.Output{left, column, right}), t.Values, shape}
	})
}

// SparseMerge returns the values at places whose last index is the value of
// ids at the same place: a batch of feature ids and their values becomes a
// sparse matrix [batch vocabulary]. ids have an integer type and the same
// indices as values, which is not checked. The result has the type of values
// and is in order. Ids outside [0, vocabulary) are not refused here.
func SparseMerge(ids, values Tensor, vocabulary int) Tensor {
	return scoped("SparseMerge", ids.Values, func() Tensor {
		g := ids.Values.Graph()
		column := ops.ExpandDims(ops.Cast(ids.Values, tf.Int64), -1)
		at := ops.Concat(1, []tf.Output{ids.Indices.At(":, :-1"), column})
		shape := ops.Concat(0, []tf.Output{ids.DenseShape.At(":-1"), ops.Const(g, []int64{int64(vocabulary)})})
		return SparseReorder(Tensor{at, values.Values, shape})
	})
}

// ToIndicator returns a bool tensor whose last dimension, of the size of the
// vocabulary, tells which ids t has at the places before. t has an integer
// type; the result has its shape but for the last dimension. Ids outside
// [0, vocabulary) fail with INVALID_ARGUMENT in the step.
func ToIndicator(t Tensor, vocabulary int) tf.Output {
	if t.Values.Err() != nil {
		return t.Values
	}
	g := t.Values.Graph()
	yes := Tensor{t.Indices, ops.OnesLike(t.Values).Cast(tf.Bool), t.DenseShape}
	m := SparseMerge(t, yes, vocabulary)
	return ops.SparseToDense(m.Indices, m.DenseShape, m.Values, ops.Scalar(g, false), ops.SparseToDenseOpts{Unordered: true})
}

// Mask returns the slices of x whose indices are not among those given. The
// dense shape stays. x.Indices and indices have one type; those of indices
// that x does not have are ignored. Indices that are no vectors, and types
// that differ, are refused with INVALID_ARGUMENT, when the graph is built if
// they are known, else in the step.
func Mask(x tf.IndexedSlices, indices tf.Output) tf.IndexedSlices {
	t := scoped("sparse_mask", x.Values, func() Tensor {
		kept, at := ops.ListDiff(x.Indices, indices)
		return Tensor{kept, ops.Gather(x.Values, at, 0), x.DenseShape}
	})
	return tf.IndexedSlices{Values: t.Values, Indices: t.Indices, DenseShape: x.DenseShape}
}
