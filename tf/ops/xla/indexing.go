package xla

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// An indexing says how windows of an operand belong to vectors of indices, in the
// gather and scatter operations. The windows tensor, which gather returns and scatter
// takes, has the dimensions of indices but for that of vectors, and those of a window.
type indexing struct {
	op      *stablehlo.Op
	operand stablehlo.Type
	indices stablehlo.Type

	window   []int // dimensions of the windows tensor that are a window's
	dropped  []int // dimensions of the operand that windows do not have
	batching []int // dimensions of the operand that go along with batches
	batches  []int // the same, as dimensions of indices
	to       []int // the dimension of the operand that each index is for
	vector   int   // the dimension of indices that vectors lie along

	free []int // dimensions of the operand that windows have
}

// indexingNames are the names of the attributes of an indexing.
type indexingNames struct{ window, dropped, batching, batches, to string }

func newIndexing(op *stablehlo.Op, names indexingNames, operand, indices, windows stablehlo.Type) (*indexing, error) {
	rank, at := len(operand.Shape), len(indices.Shape)
	r := &reading{op: op}
	x := &indexing{op: op, operand: operand, indices: indices,
		window:   r.dims(names.window, len(windows.Shape)),
		dropped:  r.dims(names.dropped, rank),
		batching: r.dims(names.batching, rank),
		batches:  r.dims(names.batches, at),
		to:       r.dims(names.to, rank),
		vector:   r.int("index_vector_dim", at),
	}
	if r.err == nil {
		r.err = x.check(len(windows.Shape))
	}
	return x, r.err
}

func (x *indexing) check(windows int) error {
	at := len(x.indices.Shape)
	switch {
	case !isInteger(x.indices.Elem):
		return refused(x.op, "indices must be integers, got %s", x.indices.Elem)
	case x.vector < 0 || x.vector > at:
		return refused(x.op, "index_vector_dim must be in [0, %d], got %d", at, x.vector)
	case len(x.batching) != len(x.batches):
		return refused(x.op, "operand and indices must have equally many batching dimensions, got %d and %d", len(x.batching), len(x.batches))
	case slices.Contains(x.batches, x.vector):
		return refused(x.op, "the dimension %d of vectors must not be a batching one", x.vector)
	case !slices.IsSorted(x.window):
		return refused(x.op, "dimensions of a window must ascend, got %v", x.window)
	}
	if n := x.vectorLen(); n != len(x.to) {
		return refused(x.op, "a vector of indices must have an index for each of %d dimensions, got %d", len(x.to), n)
	}
	for d := range x.operand.Shape {
		batching, dropped := slices.Contains(x.batching, d), slices.Contains(x.dropped, d)
		if batching && (dropped || slices.Contains(x.to, d)) {
			return refused(x.op, "dimension %d must not be a batching one and another one", d)
		}
		if !batching && !dropped {
			x.free = append(x.free, d)
		}
	}
	if len(x.free) != len(x.window) || windows != len(x.window)+x.batchRank() {
		return refused(x.op, "a window must have %d dimensions, and its tensor %d more, got %d and rank %d", len(x.free), x.batchRank(), len(x.window), windows)
	}
	return nil
}

// vectorLen returns the number of indices in a vector.
func (x *indexing) vectorLen() int {
	if x.vector == len(x.indices.Shape) {
		return 1
	}
	return int(x.indices.Shape[x.vector])
}

// batchRank returns the number of dimensions of indices that are not of vectors.
func (x *indexing) batchRank() int {
	if x.vector == len(x.indices.Shape) {
		return x.vector
	}
	return len(x.indices.Shape) - 1
}

// batch returns the position of a dimension of indices among those that are not of vectors.
func (x *indexing) batch(d int) int {
	if d > x.vector {
		return d - 1
	}
	return d
}

// vectorsLast returns the indices as int32 with vectors along the last dimension, and
// the sizes of the others.
func (x *indexing) vectorsLast(g *tf.Graph, in tf.Output) (tf.Output, []size) {
	sizes := sizesOf(in, x.indices)
	at := indexOf(in)
	if x.vector == len(sizes) {
		return shaped(g, at, append(slices.Clone(sizes), known(1))), sizes
	}
	order := without(len(sizes), x.vector)
	batch := make([]size, len(order))
	for i, d := range order {
		batch[i] = sizes[d]
	}
	return transposed(at, append(order, x.vector)), batch
}

// without returns 0 to n-1 without some of them.
func without(n int, some ...int) []int {
	var out []int
	for d := range n {
		if !slices.Contains(some, d) {
			out = append(out, d)
		}
	}
	return out
}

// transposed reorders dimensions if they are not in order.
func transposed(x tf.Output, order []int) tf.Output {
	if slices.IsSorted(order) {
		return x
	}
	return ops.Transpose(x, order)
}

// A part is a dimension of the operand that indices choose from: n elements of whole.
type part struct {
	dim      int
	n, whole size
	column   int // of the vectors of indices, or -1 for elements from 0 on
	batch    int // the dimension of batches whose position is the index, or -1
}

// columns returns the index of each part, in shapes that broadcast to the batches
// followed by a dimension for each part of more than one element.
func (x *indexing) columns(g *tf.Graph, vectors tf.Output, batch []size, parts []part) []tf.Output {
	wide := 0
	for _, p := range parts {
		if !p.n.is(1) {
			wide++
		}
	}
	out := make([]tf.Output, len(parts))
	at := 0
	for i, p := range parts {
		shape := ones(len(batch) + wide)
		switch {
		case p.batch >= 0:
			shape[p.batch] = batch[p.batch]
			out[i] = shaped(g, upTo(g, batch[p.batch]), shape)
		case p.column >= 0:
			copy(shape, batch)
			out[i] = shaped(g, column(vectors, len(batch), p.column, len(x.to)), shape)
		}
		if !p.n.is(1) {
			shape = ones(len(batch) + wide)
			shape[len(batch)+at] = p.n
			at++
			steps := shaped(g, upTo(g, p.n), shape)
			if p.column >= 0 {
				steps = ops.AddV2(out[i], steps)
			}
			out[i] = steps
		}
		if out[i] == (tf.Output{}) {
			out[i] = shaped(g, int32s(g, []int{0}), ones(len(batch)+wide))
		}
	}
	return out
}

// joined joins columns to vectors along a new last dimension.
func joined(g *tf.Graph, columns []tf.Output, batch []size, parts []part) tf.Output {
	shape := slices.Clone(batch)
	for _, p := range parts {
		if !p.n.is(1) {
			shape = append(shape, p.n)
		}
	}
	for i, c := range columns {
		columns[i] = spreadTo(g, c, shape)
	}
	return ops.Pack(columns, ops.AxisOpts{Axis: len(shape)})
}

// spreadTo broadcasts x.
func spreadTo(g *tf.Graph, x tf.Output, shape []size) tf.Output {
	if v, ok := allKnown(shape); ok {
		if slices.Equal(v, []int(x.Shape())) {
			return x
		}
		return ops.BroadcastTo(x, v)
	}
	return ops.BroadcastTo(x, vector(g, shape))
}

func ones(n int) []size {
	s := make([]size, n)
	for i := range s {
		s[i] = known(1)
	}
	return s
}

// upTo returns 0 to n-1.
func upTo(g *tf.Graph, n size) tf.Output {
	return ops.Range(g, ops.Scalar(g, int32(0)), n.in(g), ops.Scalar(g, int32(1)))
}

// column returns the elements i of n along the last dimension, which it takes away.
func column(x tf.Output, rank, i, n int) tf.Output {
	if n == 1 {
		return ops.Squeeze(x, []int{rank})
	}
	return ops.Gather(x, ops.Scalar(x.Graph(), int32(i)), rank)
}
