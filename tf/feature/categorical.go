package feature

import (
	"bytes"
	"io"
	"os"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/lookup"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
)

// tableInitializers is TensorFlow's collection of what fills tables.
const tableInitializers = "table_initializer"

// A HashedColumn gives strings, or integers, ids by their hash: different ones may
// have the same.
type HashedColumn struct {
	Key  string
	Size int      // how many ids there are
	Type tf.DType // String if it is not set, or an integer type
}

// Hashed returns a column of size ids.
func Hashed(key string, size int) *HashedColumn { return &HashedColumn{Key: key, Size: size} }

// Name returns the key.
func (c *HashedColumn) Name() string { return c.Key }

// Buckets returns the number of ids.
func (c *HashedColumn) Buckets() int { return c.Size }

func (c *HashedColumn) check() error {
	if c.Size < 1 {
		return tf.Errorf(tf.InvalidArgument, "hash_bucket_size must be at least 1. hash_bucket_size: %d, key: %s", c.Size, c.Key)
	}
	return checkType(c.Key, typeOr(c.Type, tf.String))
}

func (c *HashedColumn) spec(s *specs) { s.sparse(c.Key, typeOr(c.Type, tf.String)) }

func (c *HashedColumn) ids(b *builder) (ids, weights sparse.Tensor) {
	x := b.typed(c.Key, typeOr(c.Type, tf.String))
	x.Values = hashOf(x.Values, c.Size)
	return x, weights
}

func hashOf(x tf.Output, size int) tf.Output {
	if x.DType() != tf.String {
		x = ops.AsString(x)
	}
	return ops.StringToHashBucketFast(x, size)
}

func typeOr(d, other tf.DType) tf.DType {
	if d == tf.Invalid {
		return other
	}
	return d
}

func checkType(key string, d tf.DType) error {
	if d != tf.String && !d.IsInteger() {
		return tf.Errorf(tf.InvalidArgument, "dtype must be string or integer. dtype: %v, column_name: %s", d, key)
	}
	return nil
}

// typed returns a sparse feature, which must be of a type, or of an integer type if
// d is one.
func (b *builder) typed(key string, d tf.DType) sparse.Tensor {
	x := b.sparse(key)
	if x.Values.Err() != nil {
		return x
	}
	if have := x.Values.DType(); (have == tf.String) != (d == tf.String) || have != tf.String && !have.IsInteger() {
		return b.failed("Column dtype and SparseTensors dtype must be compatible. key: %s, column dtype: %v, tensor dtype: %v", key, d, have)
	}
	return x
}

// A VocabularyColumn gives the strings, or integers, of a vocabulary their
// positions as ids.
type VocabularyColumn struct {
	Key  string
	List any    // []string or []int64; nil: File has them
	File string // a line for each string
	Size int    // how many lines of File count; 0 stands for all, which File must have then when the column is used
	// OOV is how many ids follow for what is not in the vocabulary, chosen by hash. If
	// it is 0 that is Default.
	OOV     int
	Default *int // nil stands for -1: it is left out
}

// Vocabulary returns a column for a list.
func Vocabulary[T string | int64](key string, list ...T) *VocabularyColumn {
	return &VocabularyColumn{Key: key, List: list}
}

// VocabularyFile returns a column for the first size lines of a file, or for all of
// them if size is 0.
func VocabularyFile(key, file string, size int) *VocabularyColumn {
	return &VocabularyColumn{Key: key, File: file, Size: size}
}

// Name returns the key.
func (c *VocabularyColumn) Name() string { return c.Key }

// Buckets returns the number of ids.
func (c *VocabularyColumn) Buckets() int { return c.size() + c.OOV }

func (c *VocabularyColumn) size() int {
	switch list := c.List.(type) {
	case []string:
		return len(list)
	case []int64:
		return len(list)
	}
	if c.Size == 0 && c.File != "" {
		n, _ := linesOf(c.File)
		return n
	}
	return c.Size
}

// linesOf counts the lines of a file. The last one may lack its end.
func linesOf(name string) (n int, err error) {
	f, err := os.Open(core.LocalPath(name))
	if err != nil {
		return 0, tf.Errorf(tf.NotFound, "vocabulary_file must be readable: %v", err)
	}
	defer f.Close()
	buf, last := make([]byte, 1<<16), byte('\n')
	for {
		k, err := f.Read(buf)
		n += bytes.Count(buf[:k], []byte{'\n'})
		if k > 0 {
			last = buf[k-1]
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, tf.Errorf(tf.Unavailable, "vocabulary_file must be readable: %v", err)
		}
	}
	if last != '\n' {
		n++
	}
	return n, nil
}

// dtype returns the type of the feature.
func (c *VocabularyColumn) dtype() tf.DType {
	if _, ok := c.List.([]int64); ok {
		return tf.Int64
	}
	return tf.String
}

func (c *VocabularyColumn) check() error {
	switch list := c.List.(type) {
	case []string:
		if err := unique(c.Key, list); err != nil {
			return err
		}
	case []int64:
		if err := unique(c.Key, list); err != nil {
			return err
		}
	case nil:
		if c.File == "" {
			return tf.Errorf(tf.InvalidArgument, "Missing vocabulary_file in %s.", c.Key)
		}
		if c.Size == 0 {
			if _, err := linesOf(c.File); err != nil {
				return err
			}
		}
	default:
		return tf.Errorf(tf.InvalidArgument, "a vocabulary must be []string or []int64, got %T: column %s", c.List, c.Key)
	}
	switch {
	case c.size() < 1:
		return tf.Errorf(tf.InvalidArgument, "Invalid vocabulary_size in %s: it must be at least 1, got %d", c.Key, c.size())
	case c.OOV < 0 || c.OOV > 0 && c.Default != nil:
		return tf.Errorf(tf.InvalidArgument, "Can't specify both num_oov_buckets and default_value in %s, and there cannot be %d buckets", c.Key, c.OOV)
	case c.Default != nil && (*c.Default < -1 || *c.Default >= c.size()):
		return tf.Errorf(tf.InvalidArgument, "default_value must be -1 or an id in [0, %d), got %d: column %s", c.size(), *c.Default, c.Key)
	}
	return nil
}

func unique[T comparable](key string, list []T) error {
	seen := map[T]bool{}
	for _, x := range list {
		if seen[x] {
			return tf.Errorf(tf.InvalidArgument, "Duplicate keys in vocabulary_list: %v, column %s", x, key)
		}
		seen[x] = true
	}
	return nil
}

func (c *VocabularyColumn) spec(s *specs) { s.sparse(c.Key, c.dtype()) }

func (c *VocabularyColumn) ids(b *builder) (ids, weights sparse.Tensor) {
	x := b.typed(c.Key, c.dtype())
	if x.Values.Err() != nil {
		return x, weights
	}
	keys := x.Values
	if keys.DType() != tf.String {
		keys = keys.Cast(tf.Int64)
	}
	missing := int64(-1)
	if c.Default != nil {
		missing = int64(*c.Default)
	}
	found := lookup.LookupTableFindV2(c.table(b.g), keys, ops.Scalar(b.g, missing))
	if c.OOV > 0 {
		found = ops.SelectV2(found.GreaterEqual(0), found, hashOf(keys, c.OOV).Add(c.size()))
	}
	x.Values = found
	return x, weights
}

// table returns a table of the vocabulary, which a session has to fill.
func (c *VocabularyColumn) table(g *tf.Graph) (t tf.Output) {
	g.InitScope(func() {
		g.Scope(c.Key+"_lookup", func() {
			t = lookup.HashTableV2(g, c.dtype(), tf.Int64)
			var fill *tf.Operation
			if c.List == nil {
				fill = lookup.InitializeTableFromTextFileV2(t, ops.Scalar(g, c.File), lookup.WholeLine, lookup.LineNumber, lookup.TextFileOpts{VocabSize: c.size()})
			} else {
				fill = lookup.InitializeTableV2(t, c.keys(g), ops.Const(g, positions(c.size())))
			}
			if !g.IsEager() {
				g.AddToCollection(tableInitializers, fill)
			}
		})
	})
	return t
}

func (c *VocabularyColumn) keys(g *tf.Graph) tf.Output {
	if list, ok := c.List.([]int64); ok {
		return ops.Const(g, slices.Clone(list))
	}
	list, _ := c.List.([]string)
	return ops.Const(g, slices.Clone(list))
}

func positions(n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i)
	}
	return out
}

// An IdentityColumn takes integers in [0, Size) for ids.
type IdentityColumn struct {
	Key     string
	Size    int
	Default *int // for integers outside; nil: they fail the step
}

// Identity returns a column of size ids.
func Identity(key string, size int) *IdentityColumn { return &IdentityColumn{Key: key, Size: size} }

// Name returns the key.
func (c *IdentityColumn) Name() string { return c.Key }

// Buckets returns the number of ids.
func (c *IdentityColumn) Buckets() int { return c.Size }

func (c *IdentityColumn) check() error {
	if c.Size < 1 || c.Default != nil && (*c.Default < 0 || *c.Default >= c.Size) {
		return tf.Errorf(tf.InvalidArgument, "an identity column needs a positive number of ids, and a default among them: %d, column_name %s", c.Size, c.Key)
	}
	return nil
}

func (c *IdentityColumn) spec(s *specs) { s.sparse(c.Key, tf.Int64) }

func (c *IdentityColumn) ids(b *builder) (ids, weights sparse.Tensor) {
	x := b.typed(c.Key, tf.Int64)
	if x.Values.Err() != nil {
		return x, weights
	}
	v := x.Values.Cast(tf.Int64)
	inside := v.GreaterEqual(0).And(v.Less(int64(c.Size)))
	if c.Default != nil {
		x.Values = ops.SelectV2(inside, v, ops.ZerosLike(v).Add(int64(*c.Default)))
		return x, weights
	}
	check := ops.Assert(inside.All(), []tf.Output{ops.Scalar(b.g, "ids of column "+c.Key+" must be at least 0 and less than the number of buckets: "), v})
	b.g.ControlDependencies([]*tf.Operation{check}, func() { x.Values = ops.Identity(v) })
	return x, weights
}

// A WeightedColumn gives the ids of another column weights, which are a feature of
// the same shape.
type WeightedColumn struct {
	Source Categorical
	Key    string // of the weights
}

// Weighted returns a column of the ids of source with weights.
func Weighted(source Categorical, key string) *WeightedColumn { return &WeightedColumn{source, key} }

// Name returns the source's name, _weighted_by_ and the key.
func (c *WeightedColumn) Name() string { return c.Source.Name() + "_weighted_by_" + c.Key }

// Buckets returns those of the source.
func (c *WeightedColumn) Buckets() int { return c.Source.Buckets() }

func (c *WeightedColumn) check() error { return c.Source.check() }

func (c *WeightedColumn) spec(s *specs) {
	c.Source.spec(s)
	s.sparse(c.Key, tf.Float32)
}

func (c *WeightedColumn) ids(b *builder) (ids, weights sparse.Tensor) {
	ids, _ = b.ids(c.Source)
	weights, ok := b.feature(c.Key).(sparse.Tensor)
	if !ok {
		x, _ := b.feature(c.Key).(tf.Output)
		weights = toSparse(x)
	}
	if weights.Values.Err() == nil && !weights.Values.DType().IsFloat() {
		return b.failed("Bad dtype, expected floating point weights, feature %s is %v", c.Key, weights.Values), weights
	}
	return ids, weights
}
