package feature

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/vars"
)

// A SequenceColumn says that the ids of a categorical column are steps of a
// sequence, whose order counts. It needs an [Indicator] or an [Embedding] around it,
// in a [SequenceInputLayer].
type SequenceColumn struct{ Source Categorical }

// Sequence returns a column of the steps of source.
func Sequence(source Categorical) *SequenceColumn { return &SequenceColumn{source} }

// Name returns the source's name.
func (c *SequenceColumn) Name() string { return c.Source.Name() }

// Buckets returns those of the source.
func (c *SequenceColumn) Buckets() int { return c.Source.Buckets() }

func (c *SequenceColumn) check() error { return c.Source.check() }

func (c *SequenceColumn) spec(s *specs) { c.Source.spec(s) }

// ids refuses: outside of a sequence layer the order would be lost.
func (c *SequenceColumn) ids(b *builder) (ids, weights sparse.Tensor) {
	return b.failed("categorical_column must not be of type SequenceCategoricalColumn: use SequenceInputLayer for column %s", c.Name()), weights
}

// A SequenceNumericColumn is numbers that are steps of a sequence.
type SequenceNumericColumn struct {
	Key     string
	Size    int     // how many numbers a step has; 0 stands for 1
	Default float32 // behind the end of a sequence
	// Normalize is applied to the numbers, if it is given, as that of a numeric column:
	// to the values of the feature, a vector, and not to Default.
	Normalize func(x tf.Output) tf.Output
}

// SequenceNumeric returns a column of one number for each step.
func SequenceNumeric(key string) *SequenceNumericColumn { return &SequenceNumericColumn{Key: key} }

// Name returns the key.
func (c *SequenceNumericColumn) Name() string { return c.Key }

// Width returns how many numbers a step has.
func (c *SequenceNumericColumn) Width() int { return max(c.Size, 1) }

func (c *SequenceNumericColumn) check() error {
	if c.Size < 0 {
		return tf.Errorf(tf.InvalidArgument, "shape dimensions must be greater than 0, got %d: column %s", c.Size, c.Key)
	}
	return nil
}

func (c *SequenceNumericColumn) spec(s *specs) { s.sparse(c.Key, tf.Float32) }

// A SequenceDense column has a row of numbers for each step of each example.
type SequenceDense interface {
	Column
	// Width returns how many numbers a step has.
	Width() int
	// sequence returns float32 [batch time Width] and the lengths, int64 [batch].
	sequence(b *builder) (x, lengths tf.Output)
}

// SequenceInputLayer returns the numbers of all columns side by side, float32 [batch
// time width], in the order of the columns' names, and the lengths of the sequences,
// int64 [batch]: what a recurrent network takes. The sequences of all columns must be
// equally long; else the step fails.
func SequenceInputLayer(f Features, columns ...SequenceDense) (y, lengths tf.Output) {
	return sequenceLayer("sequence_input_layer", scopeOf, f, columns)
}

// SequenceFeatures is [SequenceInputLayer] with the names of variables that Keras'
// layer of this name has, as in sequence_features/word_embedding/embedding_weights:
// those in checkpoints of TensorFlow's recurrent estimators.
func SequenceFeatures(f Features, columns ...SequenceDense) (y, lengths tf.Output) {
	return sequenceLayer("sequence_features", func(c Column) string { return kerasName(c.Name()) }, f, columns)
}

func sequenceLayer(name string, scope func(Column) string, f Features, columns []SequenceDense) (y, lengths tf.Output) {
	b := newBuilder(f)
	all, err := sorted(columns)
	if err != nil {
		y = b.fail("%s", tf.AsError(err).Msg)
		return y, y
	}
	if b.g == nil {
		y = b.fail("features must not be empty")
		return y, y
	}
	vars.Unique(b.g, name, vars.ScopeOptions{}, func() { y, lengths = b.sequences(scope, all) })
	return y, lengths
}

func (b *builder) sequences(scope func(Column) string, columns []SequenceDense) (y, lengths tf.Output) {
	var steps, all []tf.Output
	for _, c := range columns {
		vars.Unique(b.g, scope(c), vars.ScopeOptions{}, func() {
			x, n := c.sequence(b)
			if x.Err() != nil && b.bad.IsZero() {
				b.bad = x
			}
			steps, all = append(steps, x), append(all, n)
		})
	}
	if !b.bad.IsZero() {
		return b.bad, b.bad
	}
	var checks []*tf.Operation
	for _, n := range all[1:] {
		checks = append(checks, ops.Assert(ops.Equal(n, all[0]).All(), []tf.Output{ops.Scalar(b.g, "the sequences of all columns must be equally long: "), all[0], n}))
	}
	b.g.ControlDependencies(checks, func() { lengths, y = ops.Identity(all[0]), ops.Concat(2, steps) })
	return y, lengths
}

func (c *IndicatorColumn) sequence(b *builder) (x, lengths tf.Output) {
	return b.steps(c, c.Source, c.rows)
}

func (c *EmbeddingColumn) sequence(b *builder) (x, lengths tf.Output) {
	return b.steps(c, c.Source, func(ids, weights sparse.Tensor) tf.Output { return c.rows(b, ids, weights) })
}

// steps computes a column with each step as an example of its own.
func (b *builder) steps(c SequenceDense, source Categorical, rows func(ids, weights sparse.Tensor) tf.Output) (x, lengths tf.Output) {
	s, ok := source.(*SequenceColumn)
	if !ok {
		x = b.fail("categorical_column must be of type SequenceCategoricalColumn to use SequenceInputLayer: column %s, a %T", c.Name(), source)
		return x, x
	}
	ids, weights := b.ids(s.Source)
	if ids.Values.Err() != nil {
		return ids.Values, ids.Values
	}
	flat := flatten(ids)
	if !weights.Values.IsZero() {
		weights = flatten(weights)
	}
	y := rows(flat, weights)
	sizes := ops.Concat(0, []tf.Output{ids.DenseShape.At(":2"), ops.Const(b.g, []int64{int64(c.Width())})})
	if x = ops.Reshape(y, sizes); x.Err() == nil {
		x.SetShape(tf.Shape{-1, -1, c.Width()})
	}
	return x, lengthsOf(ids, 1)
}

// flatten returns t [batch time] as [batch·time 1]. Of t [batch time n], the elements of
// a step are those of one row.
func flatten(t sparse.Tensor) sparse.Tensor {
	g := t.Values.Graph()
	time := t.DenseShape.At("1")
	row := ops.AddV2(ops.Mul(t.Indices.At(":, 0"), time), t.Indices.At(":, 1"))
	return sparse.Tensor{
		Indices:    ops.Stack([]tf.Output{row, ops.ZerosLike(row)}, 1),
		Values:     t.Values,
		DenseShape: ops.Stack([]tf.Output{ops.Mul(t.DenseShape.At("0"), time), ops.Scalar(g, int64(1))}, 0),
	}
}

// lengthsOf returns the lengths of the rows of t [batch time·n], of which each step has
// n elements, or of t [batch time n].
func lengthsOf(t sparse.Tensor, n int) tf.Output {
	if s := t.DenseShape.Shape(); len(s) == 1 && s[0] > 2 {
		n = 1
	}
	last := ops.AddV2(ops.FloorDiv(t.Indices.At(":, 1"), ops.Scalar(t.Values.Graph(), int64(n))), ops.Scalar(t.Values.Graph(), int64(1)))
	y := ops.UnsortedSegmentMax(last, t.Indices.At(":, 0"), t.DenseShape.At("0"))
	return y.Maximum(0) // rows without elements have the least number
}

func (c *SequenceNumericColumn) sequence(b *builder) (x, lengths tf.Output) {
	f := b.feature(c.Key)
	t, ok := f.(sparse.Tensor)
	switch {
	case !ok:
		x = b.fail("a sequence of numbers must be a sparse.Tensor [batch time], whose rows say how long each sequence is, as ParseSpec.Parse returns it: feature %s is %v", c.Key, f)
		return x, x
	case t.Values.Err() != nil:
		return t.Values, t.Values
	case !t.Values.DType().IsFloat() && !t.Values.DType().IsInteger():
		x = b.fail("a sequence of numbers needs numbers, feature %s is %v", c.Key, t.Values)
		return x, x
	}
	if t.Values = normalized(t.Values, c.Normalize); t.Values.Err() != nil {
		return t.Values, t.Values
	}
	x = sparse.ToDense(t, ops.Scalar(b.g, c.Default))
	sizes := ops.Stack([]tf.Output{t.DenseShape.At("0"), ops.Scalar(b.g, int64(-1)), ops.Scalar(b.g, int64(c.Width()))}, 0)
	if x = ops.Reshape(x, sizes); x.Err() == nil {
		x.SetShape(tf.Shape{-1, -1, c.Width()})
	}
	return x, lengthsOf(t, c.Width())
}
