package layers

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/vars"
)

// EmbeddingOpts are what may be chosen for an EmbeddingLayer.
type EmbeddingOpts struct {
	Initializer         initializers.Initializer // uniform in [-0.05, 0.05)
	Regularizer         vars.Regularizer
	ActivityRegularizer vars.Regularizer
	DType               tf.DType // Float32
	NotTrainable        bool
	Name                string
	Reuse               vars.Reuse
}

// An EmbeddingLayer turns integers into vectors: rows of a table, which is
// trained. A partitioner cuts the table into parts, which may be on different
// devices.
type EmbeddingLayer struct {
	layer
	Table      *tf.Variable // [rows size]; nil before the layer is built, and if it is cut
	rows, size int
	table      weight
	o          EmbeddingOpts
}

// NewEmbedding returns a layer for integers in [0, rows) and vectors of the given
// size. Its variable is embedding/embeddings.
func NewEmbedding(rows, size int, opts ...EmbeddingOpts) *EmbeddingLayer {
	l := &EmbeddingLayer{rows: rows, size: size}
	if len(opts) > 0 {
		l.o = opts[0]
	}
	if l.o.DType == tf.Invalid {
		l.o.DType = tf.Float32
	}
	l.self = l
	l.settings = settings{kind: "embedding", name: l.o.Name, reuse: l.o.Reuse, frozen: l.o.NotTrainable, activity: l.o.ActivityRegularizer}
	return l
}

// Embedding adds a layer that turns ids, of type int32 or int64, into vectors:
// [...] becomes [... size].
func Embedding(ids tf.Output, rows, size int, o ...EmbeddingOpts) tf.Output {
	return NewEmbedding(rows, size, o...).once(ids)
}

func (l *EmbeddingLayer) accept(in input) error {
	if l.rows <= 0 || l.size <= 0 {
		return tf.Errorf(tf.InvalidArgument, "Both `input_dim` and `output_dim` should be positive, Received input_dim = %d and output_dim = %d", l.rows, l.size)
	}
	if in.dtype != tf.Int32 && in.dtype != tf.Int64 {
		return tf.Errorf(tf.InvalidArgument, "an embedding needs ids of type int32 or int64, got %v", in.dtype)
	}
	return nil
}

func (l *EmbeddingLayer) build(in input) {
	in.dtype = l.o.DType
	l.table = l.weight(in, "embeddings", tf.Shape{l.rows, l.size},
		weightOpts{init: or(l.o.Initializer, initializers.RandomUniform(-0.05, 0.05)), reg: l.o.Regularizer})
	l.Table = l.table.variable
}

func (l *EmbeddingLayer) call(ids tf.Output) tf.Output {
	return ops.EmbeddingLookup(l.table.pieces(), ids, ops.EmbeddingOpts{Div: true})
}
