package feature

import (
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/vars"
)

// InputLayer returns the numbers of all columns side by side, float32 [batch
// width], in the order of the columns' names: what a deep network begins with. A
// categorical column needs an [Indicator] or an [Embedding] around it.
func InputLayer(f Features, columns ...Dense) (y tf.Output) {
	return inputLayer("input_layer", scopeOf, f, columns)
}

// DenseFeatures is [InputLayer] with the names of variables that Keras' layer of this
// name has, as in dense_features/word_embedding/embedding_weights.
func DenseFeatures(f Features, columns ...Dense) tf.Output {
	return inputLayer("dense_features", kerasScope, f, columns)
}

func inputLayer(name string, scope func(Column) string, f Features, columns []Dense) (y tf.Output) {
	b := newBuilder(f)
	all, err := sorted(columns)
	if err != nil {
		return b.fail("%s", tf.AsError(err).Msg)
	}
	if b.g == nil {
		return b.fail("features must not be empty")
	}
	vars.Unique(b.g, name, vars.ScopeOptions{}, func() {
		var rows []tf.Output
		for _, c := range all {
			rows = append(rows, b.inScope(scope(c), c))
		}
		if y = b.bad; y.IsZero() {
			y = ops.Concat(1, rows)
		}
	})
	return y
}

// inScope computes a column in a scope.
func (b *builder) inScope(name string, c Dense) (y tf.Output) {
	vars.Unique(b.g, name, vars.ScopeOptions{}, func() { y = c.dense(b) })
	if y.Err() != nil && b.bad.IsZero() {
		b.bad = y
	}
	return y
}

// scopeOf returns the name of the scope for a column's variables.
func scopeOf(c Column) string {
	if e, ok := c.(*EmbeddingColumn); ok {
		return e.scope()
	}
	return c.Name()
}

// kerasScope is scopeOf in a layer of Keras.
func kerasScope(c Column) string { return kerasName(scopeOf(c)) }

// kerasName returns a name as Keras makes scopes of it: what is neither letter, digit nor
// one of _ . - becomes _.
func kerasName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune("_.-", r):
			return r
		}
		return '_'
	}, name)
}

// LinearOpts are what may be chosen for a LinearModel.
type LinearOpts struct {
	Units        int             // results for each example; 0 stands for 1
	Combiner     sparse.Combiner // of the weights of the ids of one column; "" stands for the sum
	NotTrainable bool
}

// LinearModel returns the sum of the weights of all features and a bias, float32
// [batch units]. Columns are categorical, whose ids have weights, or dense ones, whose
// numbers have. All weights begin with 0.
func LinearModel(f Features, columns []Column, o ...LinearOpts) (y tf.Output) {
	opt := LinearOpts{}
	if len(o) > 0 {
		opt = o[0]
	}
	opt.Units = max(opt.Units, 1)
	if opt.Combiner == "" {
		opt.Combiner = sparse.CombineSum
	}
	b := newBuilder(f)
	all, err := sorted(columns)
	if err != nil {
		return b.fail("%s", tf.AsError(err).Msg)
	}
	if b.g == nil {
		return b.fail("features must not be empty")
	}
	vars.Unique(b.g, "linear_model", vars.ScopeOptions{}, func() { y = b.linear(all, opt) })
	return y
}

func (b *builder) linear(columns []Column, o LinearOpts) tf.Output {
	var sums []tf.Output
	for _, c := range columns {
		vars.Unique(b.g, scopeOf(c), vars.ScopeOptions{}, func() { sums = append(sums, b.weighed(c, o)) })
	}
	zeros := vars.Options{Initializer: initializers.Zeros, NotTrainable: o.NotTrainable}
	bias := whole(b.g, "bias_weights", tf.Shape{o.Units}, zeros)
	if !b.bad.IsZero() {
		return b.bad
	}
	return ops.BiasAdd(ops.AddN(sums), bias)
}

// weighed returns what a column adds to the results.
func (b *builder) weighed(c Column, o LinearOpts) (y tf.Output) {
	zeros := vars.Options{Initializer: initializers.Zeros, NotTrainable: o.NotTrainable}
	switch c := c.(type) {
	case Categorical: // a bucketized column too
		ids, weights := b.ids(c)
		if y = ids.Values; y.Err() == nil {
			table := values(tables(b.g, "weights", tf.Shape{c.Buckets(), o.Units}, zeros))
			look := sparse.SafeEmbeddingLookupSparse
			if _, ok := c.(*BucketizedColumn); ok { // no example lacks a bucket
				look = sparse.EmbeddingLookupSparse
			}
			y = look(table, ids, sparse.EmbeddingOpts{Combiner: o.Combiner, Weights: weights, AllIDs: allIDs(c), Lookup: ops.EmbeddingOpts{Div: true}})
			y = ops.Reshape(y, []int{-1, o.Units})
		}
	case Dense:
		if y = c.dense(b); y.Err() == nil {
			y = ops.MatMul(y, whole(b.g, "weights", tf.Shape{c.Width(), o.Units}, zeros))
		}
	default:
		y = b.fail("Items of feature_columns must be either a DenseColumn or CategoricalColumn: %s is a %T", c.Name(), c)
	}
	if y.Err() != nil && b.bad.IsZero() {
		b.bad = y
	}
	return y
}
