package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
)

// EmbeddingOpts say how EmbeddingLookup finds rows.
type EmbeddingOpts struct {
	// Div says that of n parts the first has the first rows, and so on. Otherwise
	// row i is row i/n of part i mod n.
	Div bool
	// MaxNorm, if positive, bounds the Euclidean norm of each row.
	MaxNorm float64
}

// EmbeddingLookup returns the rows of a table that ids, integers of any
// shape, name. The table may be in several parts, on devices of their own:
// only the rows are moved. The shape is that of ids, followed by that of a
// row. Its options are [EmbeddingOpts], of which the first counts. Ids are
// int32 or int64; the step refuses those outside of the table with
// INVALID_ARGUMENT. When the graph is built, a table of no parts is refused
// with that code, and a MaxNorm for rows or ids of unknown rank.
func EmbeddingLookup(params []tf.Output, ids tf.Output, opts ...EmbeddingOpts) tf.Output {
	var o EmbeddingOpts
	if len(opts) > 0 {
		o = opts[0]
	}
	if len(params) == 0 {
		return scoped("embedding_lookup", ids, func() tf.Output {
			return refused(ids, "embedding_lookup", "Need at least one param")
		})
	}
	for _, p := range params {
		if p.Err() != nil {
			return p
		}
	}
	return scoped("embedding_lookup", ids, func() tf.Output {
		rows := func(p, i tf.Output) tf.Output {
			var y tf.Output
			p.Graph().Device("", func() { y = Gather(p, i, 0, tf.ColocateWith(p.Operation())) })
			return y
		}
		if len(params) == 1 {
			return limited(rows(params[0], ids), ids, o.MaxNorm)
		}
		return limited(looked(params, ids, o.Div, rows), ids, o.MaxNorm)
	})
}

// looked gathers the rows of each part and puts them where their ids are.
func looked(params []tf.Output, ids tf.Output, div bool, rows func(p, ids tf.Output) tf.Output) tf.Output {
	flat := Reshape(ids, []int{-1})
	places := Range(nil, intScalar(ids, tf.Int32, 0), Size(flat), intScalar(ids, tf.Int32, 1))
	n := numberLike(flat, float64(len(params)))
	part, row := Mod(flat, n), FloorDiv(flat, n)
	if div {
		part, row = consecutive(params, flat)
	}
	part = castTo(part, tf.Int32)
	wanted, where := DynamicPartition(row, part, len(params)), DynamicPartition(places, part, len(params))
	found := make([]tf.Output, len(params))
	for i, p := range params {
		found[i] = rows(p, wanted[i])
	}
	all := ParallelDynamicStitch(where, found)
	inner := Slice(Shape(params[0]), []int{1}, []int{-1})
	return Reshape(all, ConcatV2([]tf.Output{Shape(ids), inner}, intScalar(ids, tf.Int32, 0)))
}

// consecutive returns the part and the row in it of ids, where the first parts have
// a row more if the rows do not divide evenly.
func consecutive(params []tf.Output, ids tf.Output) (part, row tf.Output) {
	total := numberLike(ids, 0)
	for _, p := range params {
		total = AddV2(total, castTo(dim(p, 0), ids.DType().Base()))
	}
	n, one := numberLike(ids, float64(len(params))), numberLike(ids, 1)
	each, extra := FloorDiv(total, n), Mod(total, n)
	part = Maximum(FloorDiv(ids, AddV2(each, one)), FloorDiv(Sub(ids, extra), each))
	row = SelectV2(Less(part, extra), Mod(ids, AddV2(each, one)), Mod(Sub(ids, extra), each))
	return part, row
}

// limited scales rows whose norm is greater than limit down to it.
func limited(y, ids tf.Output, limit float64) tf.Output {
	if limit <= 0 {
		return y
	}
	if y.Shape() == nil || ids.Shape() == nil {
		return refused(y, "embedding_lookup", "a maximal norm needs rows and ids of known rank, got %v and %v", y.Shape(), ids.Shape())
	}
	var axes []int
	for i := len(ids.Shape()); i < len(y.Shape()); i++ {
		axes = append(axes, i)
	}
	sum := Sum(Square(y), slices.Clone(axes), keepDims)
	safe := SelectV2(Greater(sum, ZerosLike(sum)), sum, OnesLike(sum)) // no gradient of √0
	norm := SelectV2(Greater(sum, ZerosLike(sum)), Sqrt(safe), sum)
	max := numberLike(y, limit)
	return RealDiv(Mul(y, max), Maximum(norm, max))
}
