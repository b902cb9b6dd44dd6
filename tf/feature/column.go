// Package feature turns the features of examples, numbers, words and ids, into
// what models compute with: TensorFlow's tf.feature_column. Columns describe
// features; [InputLayer] makes one row of numbers of each example,
// [LinearModel] adds up a weight for each feature, and [MakeParseSpec] says how
// records are parsed.
//
// Variables are named as TensorFlow names them, such as
// input_layer/word_embedding/embedding_weights and linear_model/word/weights.
// Vocabularies are tables: their initializers are in the collection
// train.TableInitializersCollection, which sessions of package train run.
package feature

import (
	"maps"
	"reflect"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
)

// Features are tensors by key: a tf.Output, [batch] or [batch ...], or a
// sparse.Tensor of rank 2, or of rank 1, which stands for [batch 1]. Sequences may be
// [batch time n]: the ids of a step are combined.
type Features map[string]any

// A Column describes one feature, or what is made of several.
type Column interface {
	// Name tells columns apart; variables have it in their names.
	Name() string
	// check reports a mistake in the description.
	check() error
	// spec adds the features that the column is made of.
	spec(s *specs)
}

// A Categorical column has ids in [0, Buckets) for each example.
type Categorical interface {
	Column
	// Buckets returns how many ids there are.
	Buckets() int
	// ids returns the ids of all examples, int64, and their weights, of which the
	// values are the zero Output if all are 1.
	ids(b *builder) (ids, weights sparse.Tensor)
}

// A Dense column has a row of numbers for each example.
type Dense interface {
	Column
	// Width returns how many numbers there are.
	Width() int
	// dense returns float32 [batch Width].
	dense(b *builder) tf.Output
}

// builder computes columns of one set of features. Its first mistake makes all
// that it computes fail.
type builder struct {
	g        *tf.Graph
	features Features
	bad      tf.Output
	found    map[string]any // the features that have been looked up
	// What several columns are made of is computed once.
	categories map[Categorical][2]sparse.Tensor
	numeric    map[*NumericColumn]tf.Output
}

// ids returns the ids of a column and their weights.
func (b *builder) ids(c Categorical) (ids, weights sparse.Tensor) {
	if x, ok := b.categories[c]; ok {
		return x[0], x[1]
	}
	ids, weights = c.ids(b)
	b.categories[c] = [2]sparse.Tensor{ids, weights}
	return ids, weights
}

// allIDs reports whether a column never gives -1 for an id.
func allIDs(c Categorical) bool {
	switch c := c.(type) {
	case *HashedColumn, *CrossedColumn, *BucketizedColumn, *IdentityColumn:
		return true
	case *VocabularyColumn:
		return c.OOV > 0 || c.Default != nil && *c.Default >= 0
	case *SequenceColumn:
		return allIDs(c.Source)
	}
	return false
}

// numbers returns those of a column, [batch width].
func (b *builder) numbers(c *NumericColumn) tf.Output {
	x, ok := b.numeric[c]
	if !ok {
		x = c.rows(b)
		b.numeric[c] = x
	}
	return x
}

func newBuilder(f Features) *builder {
	b := &builder{features: f, found: map[string]any{}, categories: map[Categorical][2]sparse.Tensor{}, numeric: map[*NumericColumn]tf.Output{}}
	for _, x := range f {
		switch x := x.(type) {
		case tf.Output:
			b.g = x.Graph()
		case sparse.Tensor:
			b.g = x.Values.Graph()
		}
		if b.g != nil {
			return b
		}
	}
	return b
}

// fail returns an output that carries a mistake, and keeps the first one.
func (b *builder) fail(format string, args ...any) tf.Output {
	x := tf.Failed(b.g, "feature_column", tf.Errorf(tf.InvalidArgument, format, args...)).Output(0)
	if b.bad.IsZero() {
		b.bad = x
	}
	return x
}

// failed returns a sparse tensor that carries a mistake.
func (b *builder) failed(format string, args ...any) sparse.Tensor {
	x := b.fail(format, args...)
	return sparse.Tensor{Indices: x, Values: x, DenseShape: x}
}

// feature returns a feature: a sparse.Tensor, or a tf.Output of rank 2 at least.
func (b *builder) feature(key string) any {
	if x, ok := b.found[key]; ok {
		return x
	}
	x := b.lookup(key)
	b.found[key] = x
	return x
}

func (b *builder) lookup(key string) any {
	switch x := b.features[key].(type) {
	case sparse.Tensor:
		if err := x.Values.Err(); err != nil {
			return b.fail("feature %s cannot be computed: %v", key, err)
		}
		return atLeastRank2(x)
	case tf.Output:
		if err := x.Err(); err != nil {
			return b.fail("feature %s cannot be computed: %v", key, err)
		}
		switch {
		case x.Shape() == nil:
			return b.fail("the rank of feature %s must be known, got %v: SetShape says it", key, x)
		case len(x.Shape()) == 0:
			return b.fail("Feature (key: %s) cannot have rank 0. Given: %v", key, x)
		case len(x.Shape()) == 1:
			return ops.ExpandDims(x, -1)
		}
		return x
	case nil:
		return b.fail("Feature %s is not in features dictionary. It has: %q", key, slices.Sorted(maps.Keys(b.features)))
	default:
		return b.fail("a feature must be a tf.Output or a sparse.Tensor, that of key %s is a %T", key, x)
	}
}

// atLeastRank2 returns a sparse tensor [batch] as [batch 1].
func atLeastRank2(x sparse.Tensor) sparse.Tensor {
	g, one, s := x.Values.Graph(), []int64{1}, x.DenseShape.Shape()
	sizes := ops.Concat(0, []tf.Output{x.DenseShape, ops.Const(g, one)})
	switch {
	case len(s) == 1 && s[0] > 1:
		return x
	case len(s) != 1 || s[0] < 0: // known to the step alone
		rank := ops.Size(x.DenseShape).Maximum(2)
		sizes = ops.Slice(sizes, ops.Const(g, []int32{0}), rank.Reshape(1))
		sizes.SetShape(tf.Shape{-1})
	}
	x.Indices, x.DenseShape = sparse.SparseReshape(x.Indices, x.DenseShape, sizes)
	return x
}

// sparse returns a feature as a sparse tensor: of a dense one, empty strings,
// integers -1 and zeros are missing.
func (b *builder) sparse(key string) sparse.Tensor {
	switch x := b.feature(key).(type) {
	case sparse.Tensor:
		return x
	case tf.Output:
		return toSparse(x)
	}
	return sparse.Tensor{}
}

func toSparse(x tf.Output) sparse.Tensor {
	if x.Err() != nil {
		return sparse.Tensor{Indices: x, Values: x, DenseShape: x}
	}
	var ignore any = 0
	switch {
	case x.DType() == tf.String:
		ignore = ""
	case x.DType().IsInteger(): // the greatest number of an unsigned type, as in TensorFlow
		ignore = ops.Scalar(x.Graph(), int64(-1)).Cast(x.DType())
	}
	at := ops.Where(x.NotEqual(ignore))
	return sparse.Tensor{Indices: at, Values: ops.GatherNd(x, at), DenseShape: ops.Shape(x, ops.ShapeOpts{OutType: tf.Int64})}
}

// none reports whether a column is nil, a pointer that is nil, or made of one that is.
func none(c Column) bool {
	v := reflect.ValueOf(c)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() || slices.ContainsFunc(sources(c), none)
}

// sources returns the columns that a column is made of.
func sources(c Column) []Column {
	switch c := c.(type) {
	case *IndicatorColumn:
		return []Column{c.Source}
	case *EmbeddingColumn:
		return []Column{c.Source}
	case *WeightedColumn:
		return []Column{c.Source}
	case *SequenceColumn:
		return []Column{c.Source}
	case *BucketizedColumn:
		return []Column{c.Source}
	case *CrossedColumn:
		return c.columns()
	}
	return nil
}

// sorted returns columns by name, and a mistake in them.
func sorted[C Column](columns []C) ([]C, error) {
	if len(columns) == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "feature_columns must not be empty.")
	}
	for i, c := range columns {
		if none(c) {
			return nil, tf.Errorf(tf.InvalidArgument, "a column must not be nil, nor made of one that is: column %d of %d", i, len(columns))
		}
	}
	out := slices.Clone(columns)
	slices.SortStableFunc(out, func(a, b C) int {
		switch {
		case a.Name() < b.Name():
			return -1
		case a.Name() > b.Name():
			return 1
		}
		return 0
	})
	for i, c := range out {
		if err := c.check(); err != nil {
			return nil, err
		}
		if i > 0 && out[i-1].Name() == c.Name() {
			return nil, tf.Errorf(tf.InvalidArgument, "Duplicate feature column name found for columns: %s", c.Name())
		}
	}
	return out, nil
}
