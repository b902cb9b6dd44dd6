package feature

import (
	"math"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/vars"
)

// An IndicatorColumn counts the ids of a categorical column, or adds up their
// weights: one number for each id.
type IndicatorColumn struct{ Source Categorical }

// Indicator returns a column over a categorical one.
func Indicator(source Categorical) *IndicatorColumn { return &IndicatorColumn{source} }

// Name returns the source's name and _indicator.
func (c *IndicatorColumn) Name() string { return c.Source.Name() + "_indicator" }

// Width returns the number of ids.
func (c *IndicatorColumn) Width() int { return c.Source.Buckets() }

func (c *IndicatorColumn) check() error { return c.Source.check() }

func (c *IndicatorColumn) spec(s *specs) { c.Source.spec(s) }

func (c *IndicatorColumn) dense(b *builder) tf.Output {
	ids, weights := b.ids(c.Source)
	return c.rows(ids, weights)
}

func (c *IndicatorColumn) rows(ids, weights sparse.Tensor) tf.Output {
	n := c.Width()
	if ids.Values.Err() != nil {
		return ids.Values
	}
	hot := ids.Values.OneHot(n) // ids of -1 are no ids
	if !weights.Values.IsZero() {
		hot = ops.Mul(hot, ops.ExpandDims(weightsOf(ids, weights).Cast(tf.Float32), 1))
	}
	row := ids.Indices.At(":, 0")
	y := ops.UnsortedSegmentSum(hot, row, ids.DenseShape.At("0"))
	return ops.Reshape(y, []int{-1, n})
}

// weightsOf returns weights, of which each id must have one: a single one would be that of
// all ids.
func weightsOf(ids, weights sparse.Tensor) tf.Output {
	g, w := ids.Values.Graph(), weights.Values
	same := ops.Size(w).Equal(ops.Size(ids.Values))
	fits := ops.Assert(same, []tf.Output{ops.Scalar(g, "there must be a weight for each id: "), ops.Shape(w), ops.Shape(ids.Values)})
	return ops.Identity(w, tf.After(fits))
}

// EmbeddingOpts are what may be chosen for embedding columns.
type EmbeddingOpts struct {
	Combiner     sparse.Combiner          // of the vectors of one example; "" stands for the mean
	Initializer  initializers.Initializer // nil: a truncated normal of deviation 1/sqrt(size)
	MaxNorm      float64                  // bounds the norm of each vector, if not 0
	NotTrainable bool
}

// An EmbeddingColumn turns the ids of a categorical column into vectors that are
// trained, and combines those of each example. A partitioner of the scope cuts the
// table, whose parts may be on several parameter servers.
type EmbeddingColumn struct {
	Source Categorical
	Size   int
	EmbeddingOpts
	shared string // the name of a table that several columns share
}

// Embedding returns a column of vectors of the given size.
func Embedding(source Categorical, size int, o ...EmbeddingOpts) *EmbeddingColumn {
	c := &EmbeddingColumn{Source: source, Size: size}
	if len(o) > 0 {
		c.EmbeddingOpts = o[0]
	}
	return c
}

// SharedEmbedding returns a column for each of sources, which must have as many ids
// as each other; all look up one table.
func SharedEmbedding(sources []Categorical, size int, o ...EmbeddingOpts) []*EmbeddingColumn {
	var names []string
	for _, s := range sources {
		if !none(s) { // one that is none is reported where the column is used
			names = append(names, s.Name())
		}
	}
	slices.Sort(names)
	out := make([]*EmbeddingColumn, len(sources))
	for i, s := range sources {
		out[i] = Embedding(s, size, o...)
		out[i].shared = strings.Join(names, "_") + "_shared_embedding"
		if !none(s) && !none(sources[0]) && s.Buckets() != sources[0].Buckets() {
			out[i].Size = -1
		}
	}
	return out
}

// Name returns the source's name and _embedding or _shared_embedding.
func (c *EmbeddingColumn) Name() string {
	if c.shared != "" {
		return c.Source.Name() + "_shared_embedding"
	}
	return c.Source.Name() + "_embedding"
}

// Width returns the size of the vectors.
func (c *EmbeddingColumn) Width() int { return c.Size }

func (c *EmbeddingColumn) check() error {
	if c.Size == -1 && c.shared != "" {
		return tf.Errorf(tf.InvalidArgument, "To use shared_embedding_column, all categorical_columns must have the same number of buckets: column %s", c.Name())
	}
	if c.Size < 1 {
		return tf.Errorf(tf.InvalidArgument, "Invalid dimension %d.", c.Size)
	}
	if c.Combiner != "" && c.Combiner != sparse.CombineMean && c.Combiner != sparse.CombineSum && c.Combiner != sparse.CombineSqrtN {
		return tf.Errorf(tf.InvalidArgument, "combiner must be one of mean, sqrtn and sum, got %q: column %s", c.Combiner, c.Name())
	}
	return c.Source.check()
}

func (c *EmbeddingColumn) spec(s *specs) { c.Source.spec(s) }

// scope returns the name of the scope of the table.
func (c *EmbeddingColumn) scope() string {
	if c.shared != "" {
		return c.shared
	}
	return c.Name()
}

func (c *EmbeddingColumn) dense(b *builder) tf.Output {
	ids, weights := b.ids(c.Source)
	return c.rows(b, ids, weights)
}

func (c *EmbeddingColumn) rows(b *builder, ids, weights sparse.Tensor) tf.Output {
	if ids.Values.Err() != nil {
		return ids.Values
	}
	table := c.table(b)
	y := sparse.SafeEmbeddingLookupSparse(table, ids, sparse.EmbeddingOpts{Combiner: c.Combiner, Weights: weights, AllIDs: allIDs(c.Source), Lookup: ops.EmbeddingOpts{Div: true, MaxNorm: c.MaxNorm}})
	return ops.Reshape(y, []int{-1, c.Size})
}

// table returns the table of vectors. One that columns share is made by the first of
// them in a graph, as in TensorFlow; the collection of its name has it.
func (c *EmbeddingColumn) table(b *builder) []tf.Output {
	init, shape := c.Initializer, tf.Shape{c.Source.Buckets(), c.Size}
	if init == nil {
		init = initializers.TruncatedNormal(0, 1/math.Sqrt(float64(c.Size)))
	}
	o := vars.Options{Initializer: init, NotTrainable: c.NotTrainable}
	if c.shared == "" {
		return values(tables(b.g, "embedding_weights", shape, o))
	}
	var parts []*tf.Variable
	rows := 0
	for _, v := range tf.Variables(b.g, c.shared) {
		parts, rows = append(parts, v), rows+v.Shape()[0]
	}
	switch {
	case parts == nil:
		parts = tables(b.g, "embedding_weights", shape, o)
		for _, v := range parts {
			b.g.AddToCollection(c.shared, v)
		}
	case rows != shape[0] || parts[0].Shape()[1] != c.Size:
		return []tf.Output{b.fail("Shared embedding collection %s contains variable %s of unexpected shape %v. Expected shape is %v.", c.shared, parts[0].Name(), parts[0].Shape(), shape)}
	}
	return values(parts)
}

// whole returns a variable, put together if the scope cuts it.
func whole(g *tf.Graph, name string, s tf.Shape, o vars.Options) tf.Output {
	if !vars.HasPartitioner(g) {
		return vars.Get(g, name, s, o).Value()
	}
	return vars.GetPartitioned(g, name, s, o).Value()
}

// tables returns a table, in parts if the scope cuts it.
func tables(g *tf.Graph, name string, s tf.Shape, o vars.Options) []*tf.Variable {
	if vars.HasPartitioner(g) {
		if p := vars.GetPartitioned(g, name, s, o); len(p.Parts) > 0 {
			return p.Parts
		}
	}
	return []*tf.Variable{vars.Get(g, name, s, o)}
}

func values(vs []*tf.Variable) (out []tf.Output) {
	for _, v := range vs {
		out = append(out, v.Value())
	}
	return out
}
