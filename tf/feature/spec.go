package feature

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/parsing"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
)

// A ParseSpec says how the features of columns are read from tf.Example records.
type ParseSpec struct {
	Dense  []DenseFeature  // by key
	Sparse []SparseFeature // by key
}

// A DenseFeature has the same number of values in each record.
type DenseFeature struct {
	Key     string
	Shape   tf.Shape  // of one record; nil stands for [1]
	Default []float32 // one number for all, or all; nil: it must not be missing
	Type    tf.DType  // Float32, for which 0 stands, Int64 or String, which has no Default
}

// check reports what no record can have.
func (d *DenseFeature) check() error {
	switch {
	case d.Key == "":
		return tf.Errorf(tf.InvalidArgument, "a dense feature needs a key")
	case d.Type != tf.Float32 && d.Type != tf.Int64 && d.Type != tf.String:
		return tf.Errorf(tf.InvalidArgument, "records have float32, int64 and strings, got %v: feature %s", d.Type, d.Key)
	case d.Type == tf.String && d.Default != nil:
		return tf.Errorf(tf.InvalidArgument, "a feature of strings has no Default, got %v: feature %s", d.Default, d.Key)
	case slices.ContainsFunc(d.Shape, func(n int) bool { return n <= 0 }):
		return tf.Errorf(tf.InvalidArgument, "shape dimensions must be greater than 0, got %v: feature %s", d.Shape, d.Key)
	}
	return d.checkDefault()
}

// checkDefault reports a default that no record has.
func (d *DenseFeature) checkDefault() error {
	if d.Default != nil && len(d.Default) != 1 && len(d.Default) != d.Shape.NumElements() {
		return tf.Errorf(tf.InvalidArgument, "The shape of default_value must be equal to given shape. default_value: %v, shape: %v, key: %s", d.Default, d.Shape, d.Key)
	}
	broken := func(v float32) bool { return !(v >= -1<<63 && v < 1<<63) || v != float32(int64(v)) }
	if d.Type == tf.Int64 && slices.ContainsFunc(d.Default, broken) {
		return tf.Errorf(tf.InvalidArgument, "default_value must be compatible with dtype. default_value: %v, dtype: %v, key: %s", d.Default, d.Type, d.Key)
	}
	return nil
}

// defaults returns a number for each of a record, nil if none may be missing.
func (d *DenseFeature) defaults() []float32 {
	if len(d.Default) == 1 {
		return slices.Repeat(d.Default, d.Shape.NumElements())
	}
	return d.Default
}

// With returns a spec that reads further features, such as labels and weights, which
// must not be features of columns: TensorFlow's classifier_parse_example_spec.
func (s *ParseSpec) With(more ...DenseFeature) (*ParseSpec, error) {
	out := &ParseSpec{Dense: slices.Clone(s.Dense), Sparse: slices.Clone(s.Sparse)}
	for _, d := range more {
		if d.Type == tf.Invalid {
			d.Type = tf.Float32
		}
		if d.Shape == nil {
			d.Shape = tf.Shape{1}
		}
		if err := d.check(); err != nil {
			return nil, err
		}
		same := func(f DenseFeature) bool { return f.Key == d.Key }
		if slices.ContainsFunc(out.Dense, same) || slices.ContainsFunc(out.Sparse, func(f SparseFeature) bool { return f.Key == d.Key }) {
			return nil, tf.Errorf(tf.InvalidArgument, "label should not be used as feature. label_key: %s", d.Key)
		}
		out.Dense = append(out.Dense, d)
	}
	return out, nil
}

// A SparseFeature has any number of values in a record.
type SparseFeature struct {
	Key  string
	Type tf.DType
}

// specs collects the features of columns.
type specs struct {
	ParseSpec
	err error
}

func (s *specs) dense(d DenseFeature) {
	for _, f := range s.Sparse {
		s.conflict(f.Key == d.Key, d.Key)
	}
	for _, f := range s.ParseSpec.Dense {
		if f.Key == d.Key {
			s.conflict(!f.Shape.Equal(d.Shape) || !slices.Equal(f.defaults(), d.defaults()) || f.Type != d.Type, d.Key)
			return
		}
	}
	s.ParseSpec.Dense = append(s.ParseSpec.Dense, d)
}

func (s *specs) sparse(key string, d tf.DType) {
	if d.IsInteger() {
		d = tf.Int64 // all that records have
	}
	for _, f := range s.ParseSpec.Dense {
		s.conflict(f.Key == key, key)
	}
	for _, f := range s.Sparse {
		if f.Key == key {
			s.conflict(f.Type != d, key)
			return
		}
	}
	s.Sparse = append(s.Sparse, SparseFeature{key, d})
}

func (s *specs) conflict(is bool, key string) {
	if is && s.err == nil {
		s.err = tf.Errorf(tf.InvalidArgument, "feature_columns contain different parse_spec for key %s.", key)
	}
}

// MakeParseSpec returns how the features of columns are read from records. Two
// columns must not want a feature in different forms.
func MakeParseSpec(columns ...Column) (*ParseSpec, error) {
	s := &specs{}
	for i, c := range columns {
		if none(c) {
			return nil, tf.Errorf(tf.InvalidArgument, "a column must not be nil, nor made of one that is: column %d of %d", i, len(columns))
		}
		if err := c.check(); err != nil {
			return nil, err
		}
		c.spec(s)
	}
	slices.SortFunc(s.ParseSpec.Dense, func(a, b DenseFeature) int { return cmpKeys(a.Key, b.Key) })
	slices.SortFunc(s.Sparse, func(a, b SparseFeature) int { return cmpKeys(a.Key, b.Key) })
	return &s.ParseSpec, s.err
}

func cmpKeys(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Parse adds the operation that reads features from serialized tf.Example messages,
// string [batch].
func (s *ParseSpec) Parse(serialized tf.Output) Features {
	g, f := serialized.Graph(), Features{}
	if serialized.Err() != nil {
		return s.failed(serialized)
	}
	var dense []parsing.Dense
	for _, d := range s.Dense {
		dense = append(dense, parsing.Dense{Key: d.Key, Shape: d.Shape, Default: d.value(g)})
	}
	var some []parsing.Sparse
	for _, x := range s.Sparse {
		some = append(some, parsing.Sparse{Key: x.Key, Type: x.Type})
	}
	p := parsing.ParseExampleV2(serialized, ops.Const(g, []string{}), dense, some, nil)
	for i, d := range s.Dense {
		f[d.Key] = p.Dense[i]
	}
	for i, x := range s.Sparse {
		r := p.Sparse[i]
		f[x.Key] = sparse.Tensor{Indices: r.Indices, Values: r.Values, DenseShape: r.Shape}
	}
	return f
}

// failed returns the features that the spec reads, each of which carries a mistake.
func (s *ParseSpec) failed(x tf.Output) Features {
	f := Features{}
	for _, d := range s.Dense {
		f[d.Key] = x
	}
	for _, d := range s.Sparse {
		f[d.Key] = sparse.Tensor{Indices: x, Values: x, DenseShape: x}
	}
	return f
}

// value returns the default as the operation wants it.
func (d *DenseFeature) value(g *tf.Graph) tf.Output {
	values := d.defaults()
	switch shape := d.Shape; {
	case d.Type == tf.String:
		return ops.Const(g, []string{})
	case values == nil && d.Type == tf.Int64:
		return ops.Const(g, []int64{})
	case values == nil:
		return ops.Const(g, []float32{})
	case d.Type == tf.Int64:
		whole := make([]int64, len(values))
		for i, v := range values {
			whole[i] = int64(v)
		}
		return ops.Const(g, whole).Reshape(shape...)
	default:
		return ops.Const(g, slices.Clone(values)).Reshape(shape...)
	}
}
