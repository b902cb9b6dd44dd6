package feature

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
)

// A NumericColumn is numbers as they are.
type NumericColumn struct {
	Key     string
	Shape   []int     // of one example; nil stands for [1]
	Default []float32 // of a missing one in records: one number for all, or all; nil: it must not be missing
	// Normalize is applied to the numbers, if it is given: integers come as float64,
	// as in divisions of Python, all others with the type of the feature.
	Normalize func(x tf.Output) tf.Output
	// DType is the type that the numbers have in records; 0: Float32. Records have
	// floating-point numbers as float32 and integers as int64. A feature that is no part
	// of a record may have any type of numbers.
	DType tf.DType
}

// Numeric returns a column of one number.
func Numeric(key string) *NumericColumn { return &NumericColumn{Key: key} }

// Name returns the key.
func (c *NumericColumn) Name() string { return c.Key }

// Width returns how many numbers there are.
func (c *NumericColumn) Width() int { return c.shape().NumElements() }

func (c *NumericColumn) shape() tf.Shape {
	if c.Shape == nil {
		return tf.Shape{1}
	}
	return c.Shape
}

func (c *NumericColumn) check() error {
	if slices.ContainsFunc(c.shape(), func(n int) bool { return n <= 0 }) {
		return tf.Errorf(tf.InvalidArgument, "shape dimensions must be greater than 0, got %v: column %s", c.Shape, c.Key)
	}
	if c.DType != tf.Invalid && !c.DType.IsFloat() && !c.DType.IsInteger() {
		return tf.Errorf(tf.InvalidArgument, "dtype must be convertible to float. dtype: %v, key: %s", c.DType, c.Key)
	}
	f := c.feature()
	return f.checkDefault()
}

func (c *NumericColumn) spec(s *specs) { s.dense(c.feature()) }

// feature returns how the numbers are read from records.
func (c *NumericColumn) feature() DenseFeature {
	d := tf.Float32
	if c.DType.IsInteger() {
		d = tf.Int64 // all that records have
	}
	return DenseFeature{c.Key, c.shape(), c.Default, d}
}

func (c *NumericColumn) dense(b *builder) tf.Output { return b.numbers(c) }

// rows returns [batch width].
func (c *NumericColumn) rows(b *builder) tf.Output {
	x, ok := b.feature(c.Key).(tf.Output)
	if !ok {
		return b.fail("The corresponding Tensor of numerical column must be a Tensor. SparseTensor is not supported. key: %s", c.Key)
	}
	if x.Err() != nil {
		return x
	}
	if !x.DType().IsFloat() && !x.DType().IsInteger() {
		return b.fail("a numeric column needs numbers, feature %s is %v", c.Key, x)
	}
	if n := x.Shape()[1:].NumElements(); n >= 0 && n != c.Width() {
		return b.fail("column %s has %d numbers, the feature is %v", c.Key, c.Width(), x)
	}
	return eachRow(normalized(x, c.Normalize), c.Width())
}

// eachRow returns x [batch ...] as [batch width]. A step that has another number of
// elements for each example fails: numbers of one would become another one's.
func eachRow(x tf.Output, width int) tf.Output {
	s := x.Shape()
	if x.Err() != nil || len(s) > 0 && s[1:].NumElements() == width {
		return ops.Reshape(x, []int{-1, width})
	}
	g := x.Graph()
	batch := ops.Slice(ops.Shape(x), []int{0}, []int{1})
	y := ops.Reshape(x, ops.Concat(0, []tf.Output{batch, ops.Const(g, []int32{int32(width)})}))
	if y.Err() == nil {
		y.SetShape(tf.Shape{-1, width})
	}
	return y
}

// normalized returns float32 numbers, to which f has been applied, if it is given,
// while they have all their digits.
func normalized(x tf.Output, f func(x tf.Output) tf.Output) tf.Output {
	if f != nil {
		if x.DType().IsInteger() {
			x = x.Cast(tf.Float64)
		}
		x = f(x)
	}
	return x.Cast(tf.Float32)
}

// A BucketizedColumn says between which boundaries numbers are: one of
// len(Boundaries)+1 buckets for each number. It is a dense column of ones and
// zeros, and a categorical one.
type BucketizedColumn struct {
	Source     *NumericColumn
	Boundaries []float32 // ascending
}

// Bucketized returns a column over a numeric one.
func Bucketized(source *NumericColumn, boundaries ...float32) *BucketizedColumn {
	return &BucketizedColumn{source, boundaries}
}

// Name returns the source's name and _bucketized.
func (c *BucketizedColumn) Name() string { return c.Source.Name() + "_bucketized" }

// Width returns the number of buckets of all numbers.
func (c *BucketizedColumn) Width() int { return c.Buckets() }

// Buckets returns the number of buckets of all numbers.
func (c *BucketizedColumn) Buckets() int { return c.Source.Width() * (len(c.Boundaries) + 1) }

func (c *BucketizedColumn) check() error {
	for i := range c.Boundaries {
		if i > 0 && !(c.Boundaries[i] > c.Boundaries[i-1]) {
			return tf.Errorf(tf.InvalidArgument, "boundaries must be a sorted list, got %v: column %s", c.Boundaries, c.Name())
		}
	}
	if len(c.Boundaries) == 0 {
		return tf.Errorf(tf.InvalidArgument, "boundaries must not be empty: column %s", c.Name())
	}
	return c.Source.check()
}

func (c *BucketizedColumn) spec(s *specs) { c.Source.spec(s) }

// buckets returns the bucket of each number, int32 [batch width].
func (c *BucketizedColumn) buckets(b *builder) tf.Output {
	return ops.Bucketize(b.numbers(c.Source), c.Boundaries)
}

func (c *BucketizedColumn) dense(b *builder) tf.Output {
	return ops.Reshape(c.buckets(b).OneHot(len(c.Boundaries)+1), []int{-1, c.Width()})
}

// ids gives each number buckets of its own.
func (c *BucketizedColumn) ids(b *builder) (ids, weights sparse.Tensor) {
	x := c.buckets(b)
	if x.Err() != nil {
		return sparse.Tensor{Indices: x, Values: x, DenseShape: x}, weights
	}
	n := c.Source.Width()
	offsets := make([]int32, n)
	for i := range offsets {
		offsets[i] = int32(i * (len(c.Boundaries) + 1))
	}
	x = ops.AddV2(x, ops.Const(b.g, offsets, 1, n)).Cast(tf.Int64)
	at := ops.Where(x.GreaterEqual(0))
	return sparse.Tensor{Indices: at, Values: ops.Reshape(x, []int{-1}), DenseShape: ops.Shape(x, ops.ShapeOpts{OutType: tf.Int64})}, weights
}
