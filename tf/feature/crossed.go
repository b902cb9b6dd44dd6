package feature

import (
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
)

// defaultCrossKey is the key of TensorFlow's hash of crosses.
const defaultCrossKey = 0xDECAFCAFFE

// A CrossedColumn gives each combination of its parts an id by its hash.
type CrossedColumn struct {
	// Parts are keys of features, strings, or categorical columns; a crossed one
	// stands for its parts.
	Parts   []any
	Size    int   // how many ids there are
	HashKey int64 // where hashes start from; 0 stands for TensorFlow's
}

// Crossed returns a column of size ids over parts, keys of features or categorical
// columns.
func Crossed(size int, parts ...any) *CrossedColumn { return &CrossedColumn{Parts: parts, Size: size} }

// Name returns the names of the parts, sorted, with _X_ between them.
func (c *CrossedColumn) Name() string {
	var names []string
	for _, p := range c.leaves() {
		switch p := p.(type) {
		case string:
			names = append(names, p)
		case Column:
			names = append(names, p.Name())
		}
	}
	slices.Sort(names)
	return strings.Join(names, "_X_")
}

// leaves returns the parts, those of crossed ones instead of them.
func (c *CrossedColumn) leaves() (out []any) {
	for _, p := range c.Parts {
		if inner, ok := p.(*CrossedColumn); ok {
			out = append(out, inner.leaves()...)
		} else {
			out = append(out, p)
		}
	}
	return out
}

// columns returns those parts that are columns.
func (c *CrossedColumn) columns() (out []Column) {
	for _, p := range c.Parts {
		if p, ok := p.(Column); ok {
			out = append(out, p)
		}
	}
	return out
}

// Buckets returns the number of ids.
func (c *CrossedColumn) Buckets() int { return c.Size }

func (c *CrossedColumn) check() error {
	if c.Size < 1 {
		return tf.Errorf(tf.InvalidArgument, "hash_bucket_size must be > 1. hash_bucket_size: %d", c.Size)
	}
	if len(c.Parts) < 2 {
		return tf.Errorf(tf.InvalidArgument, "keys must be a list with length > 1, got %d", len(c.Parts))
	}
	for _, p := range c.leaves() {
		switch p := p.(type) {
		case string:
		case *HashedColumn:
			return tf.Errorf(tf.InvalidArgument, "categorical_column_with_hash_bucket is not supported for crossing. Hashing before crossing will increase probability of collision. Instead, use the feature name as a string: %s", p.Key)
		case Categorical:
			if err := p.check(); err != nil {
				return err
			}
		default:
			return tf.Errorf(tf.InvalidArgument, "Unsupported key type. All keys must be either string, or categorical column except the hashed one. Given: %T", p)
		}
	}
	return nil
}

func (c *CrossedColumn) spec(s *specs) {
	for _, p := range c.leaves() {
		switch p := p.(type) {
		case string:
			s.sparse(p, tf.String)
		case Column:
			p.spec(s)
		}
	}
}

func (c *CrossedColumn) ids(b *builder) (ids, weights sparse.Tensor) {
	var some []sparse.Tensor
	var dense []tf.Output
	for _, p := range c.leaves() {
		x, isDense := c.part(b, p)
		switch {
		case x.Values.Err() != nil:
			return x, weights
		case isDense:
			dense = append(dense, x.Values)
		default:
			some = append(some, x)
		}
	}
	hash := sparse.CrossHash{Buckets: int64(c.Size), Key: c.HashKey}
	if hash.Key == 0 {
		hash.Key = defaultCrossKey
	}
	return sparse.SparseCross(b.g, some, dense, &hash), weights
}

// part returns the values of one part. A dense feature is taken with all of its
// elements.
func (c *CrossedColumn) part(b *builder, p any) (x sparse.Tensor, isDense bool) {
	if col, ok := p.(Categorical); ok {
		x, weights := b.ids(col)
		if !weights.Values.IsZero() {
			return b.failed("crossed_column does not support weight_tensor, but the given column populates weight_tensor. Given column: %s", col.Name()), false
		}
		return x, false
	}
	key, _ := p.(string)
	switch f := b.feature(key).(type) {
	case tf.Output:
		return sparse.Tensor{Values: wide(f)}, true
	case sparse.Tensor:
		f.Values = wide(f.Values)
		return f, false
	}
	return x, false
}

// wide makes numbers int64, the only ones that are crossed: fractions are cut off, as in
// TensorFlow.
func wide(x tf.Output) tf.Output {
	if x.Err() == nil && x.DType() != tf.String {
		return x.Cast(tf.Int64)
	}
	return x
}
