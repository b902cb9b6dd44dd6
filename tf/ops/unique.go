package ops

import (
	"hash/maphash"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	uniqueOp("Unique", "x: T", "y: T; idx: out_idx", "T: type; out_idx: {int32, int64} = int32")
	uniqueOp("UniqueWithCounts", "x: T", "y: T; idx: out_idx; count: out_idx", "T: type; out_idx: {int32, int64} = int32")
	const along = "T: type; Taxis: {int32, int64} = int64; out_idx: {int32, int64} = int32"
	uniqueOp("UniqueV2", "x: T; axis: Taxis", "y: T; idx: out_idx", along)
	uniqueOp("UniqueWithCountsV2", "x: T; axis: Taxis", "y: T; idx: out_idx; count: out_idx", along)
}

func uniqueOp(name, in, out, attrs string) {
	core.Register(core.OpDef{
		Name: name, In: in, Out: out, Attrs: attrs, Shape: uniqueShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", byType{
			tf.Float32: unique[float32], tf.Float64: unique[float64], tf.Float16: unique[tf.Half], tf.BFloat16: unique[tf.BF16],
			tf.Int8: unique[int8], tf.Int16: unique[int16], tf.Int32: unique[int32], tf.Int64: unique[int64],
			tf.Uint8: unique[uint8], tf.Uint16: unique[uint16], tf.Uint32: unique[uint32], tf.Uint64: unique[uint64],
			tf.Bool: unique[bool], tf.String: unique[string],
		}),
	})
}

// UniqueOpts are the optional attributes of Unique: the type of the positions,
// int32 unless OutIdx says int64.
type UniqueOpts struct{ OutIdx tf.DType }

// Apply sets the attributes.
func (o UniqueOpts) Apply(s *tf.Spec) {
	if o.OutIdx != tf.Invalid {
		s.Set("out_idx", o.OutIdx)
	}
}

// Unique returns the distinct elements of vector x in the order in which they
// first come, and where in y each element of x is. x holds real numbers, bool
// or strings; y has its type, and idx its shape. Each NaN differs from all
// other elements, as do 0 and -0 of 16 bits in vectors. Another rank is refused with
// INVALID_ARGUMENT, when the graph is built if it is known, else in the step.
// Its options are [UniqueOpts].
func Unique(x tf.Output, opts ...tf.Option) (y, idx tf.Output) {
	ys := outputs(2, "Unique", opts, x)
	return ys[0], ys[1]
}

// UniqueWithCounts is Unique with how often each element comes. count has the
// shape of y and the type of idx, and what Unique refuses is refused alike.
// Its options are [UniqueOpts].
func UniqueWithCounts(x tf.Output, opts ...tf.Option) (y, idx, count tf.Output) {
	ys := outputs(3, "UniqueWithCounts", opts, x)
	return ys[0], ys[1], ys[2]
}

// UniqueV2 is Unique of the slices along an axis, a vector of one number, or
// none for elements of a vector. The axis is int32 or int64 and counts from
// the end if it is negative; y has the shape of x but for that dimension, and
// idx is a vector as long as it is in x. More than one axis, one out of range,
// or none with x of another rank, is refused with INVALID_ARGUMENT: the last
// two when the graph is built if they are known, else in the step.
// Its options are [UniqueOpts].
func UniqueV2(x, axis tf.Output, opts ...tf.Option) (y, idx tf.Output) {
	ys := outputs(2, "UniqueV2", opts, x, axis)
	return ys[0], ys[1]
}

// UniqueWithCountsV2 is UniqueV2 with how often each slice comes. count is a
// vector with an element for each slice of y, in the type of idx, and what
// UniqueV2 refuses is refused alike. Its options are [UniqueOpts].
func UniqueWithCountsV2(x, axis tf.Output, opts ...tf.Option) (y, idx, count tf.Output) {
	ys := outputs(3, "UniqueWithCountsV2", opts, x, axis)
	return ys[0], ys[1], ys[2]
}

func uniqueShape(c *core.Infer) error {
	x := c.In(0)
	for i := 1; i < c.NumOut(); i++ {
		c.Set(i, tf.Shape{-1})
	}
	if c.NumIn() == 1 {
		x, err := c.Rank(0, 1)
		c.Set(0, tf.Shape{-1})
		c.Set(1, x)
		return err
	}
	axis, ok := c.ConstInts(1)
	if x == nil || !ok || len(axis) > 1 {
		return nil
	}
	at := 0
	if len(axis) == 1 {
		if at, ok = wrapAxis(axis[0], len(x)); !ok {
			return tf.Errorf(tf.InvalidArgument, "axis expected to be in the range [%d, %d), got %d", -len(x), len(x), axis[0])
		}
	} else if len(x) != 1 {
		return tf.Errorf(tf.InvalidArgument, "unique expects a 1D vector, got shape %v", x)
	}
	y := x.Clone()
	y[at] = -1
	c.Set(0, y)
	c.Set(1, tf.Shape{x[at]})
	return nil
}

// uniqueAxis returns the axis along which slices are compared.
func uniqueAxis(c *core.OpContext) (int, error) {
	s := c.Input(0).Shape()
	if c.Inputs() == 1 || c.Input(1).Len() == 0 {
		if len(s) != 1 {
			return 0, tf.Errorf(tf.InvalidArgument, "unique expects a 1D vector.")
		}
		return 0, nil
	}
	if c.Input(1).Rank() != 1 {
		return 0, tf.Errorf(tf.InvalidArgument, "axis expects a 1D vector.")
	}
	if c.Input(1).Len() > 1 {
		return 0, tf.Errorf(tf.InvalidArgument, "axis does not support input tensors larger than 1 elements")
	}
	axis, err := scalarInt(c.Input(1), "axis")
	if err != nil {
		return 0, err
	}
	at, ok := wrapAxis(axis, len(s))
	if !ok {
		return 0, tf.Errorf(tf.InvalidArgument, "axis has to be between [0, %d)", len(s))
	}
	return at, nil
}

func unique[T tf.Elem](n *core.Node) (core.Kernel, error) {
	d := n.Type("out_idx")
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		axis, err := uniqueAxis(c)
		if err != nil {
			return err
		}
		s := x.Shape()
		outer, inner := product(s[:axis]), product(s[axis+1:])
		u := newUniques(c.Par(), core.Data[T](x), outer, s[axis], inner)
		defer u.release()
		out, err := c.Alloc(0, x.DType(), append(append(s[:axis].Clone(), len(u.first)), s[axis+1:]...))
		if err != nil {
			return err
		}
		put := move(out, x)
		for o := range outer {
			for k, at := range u.first {
				put((o*len(u.first)+k)*inner, (o*s[axis]+at)*inner, inner)
			}
		}
		if err := allocInts(c, 1, d, u.index); err != nil || len(c.Out) < 3 {
			return err
		}
		return allocInts(c, 2, d, u.count)
	}), nil
}

// uniques are the distinct ones among n slices: where each comes first, how
// often it comes, and by slice which it is.
type uniques struct {
	first, count, index []int
	scratch             *uniqueScratch // whose memory these are, or nil
}

// newUniques finds the distinct slices of x, of shape outer × n × inner, with the help of
// what par starts.
func newUniques[T comparable](par parallel, x []T, outer, n, inner int) *uniques {
	u := &uniques{}
	if outer == 1 && inner == 1 && uniqueIDs(u, x) {
		return u
	}
	switch x := any(x).(type) { // as their bits 16 would not compare as numbers do
	case []string:
		if outer == 1 && inner == 1 && uniqueTexts(u, par, x) {
			return u
		}
	case []tf.Half:
		return newUniques(par, widen(x), outer, n, inner)
	case []tf.BF16:
		return newUniques(par, widen(x), outer, n, inner)
	}
	u.index = core.Make[int](n)
	if outer == 1 && inner == 1 {
		uniqueByMap(u, x)
		return u
	}
	uniqueSlices(u, x, outer, n, inner)
	return u
}

// uniqueByMap finds the distinct elements of x.
func uniqueByMap[T comparable](u *uniques, x []T) {
	seen := make(map[T]int, len(x)/8) // few values come once only
	for i, v := range x {
		k, ok := seen[v]
		if !ok {
			k = u.add(i)
			seen[v] = k
		}
		u.put(i, k)
	}
}

// uniqueSlices finds the distinct slices by a hash that no input can know: compared with
// all others, many would take forever.
func uniqueSlices[T comparable](u *uniques, x []T, outer, n, inner int) {
	seed, found := maphash.MakeSeed(), map[uint64][]int{} // the distinct ones, by hash
	at := func(o, i, k int) T { return x[(o*n+i)*inner+k] }
	hash := func(i int) (h uint64) {
		for o := range outer {
			for k := range inner {
				h = h*0x9E3779B97F4A7C15 + maphash.Comparable(seed, at(o, i, k))
			}
		}
		return h
	}
	same := func(a, b int) bool {
		for o := range outer {
			for k := range inner {
				if at(o, a, k) != at(o, b, k) {
					return false
				}
			}
		}
		return true
	}
	for i := range n {
		h := hash(i)
		k := u.find(found[h], i, same)
		if k < 0 {
			k = u.add(i)
			found[h] = append(found[h], k)
		}
		u.put(i, k)
	}
}

// add makes slice i a distinct one.
func (u *uniques) add(i int) int {
	u.first, u.count = append(u.first, i), append(u.count, 0)
	return len(u.first) - 1
}

// put says that slice i is distinct slice k.
func (u *uniques) put(i, k int) {
	u.index[i] = k
	u.count[k]++
}

// find returns which one among some distinct slices slice i is, -1 if it is none.
func (u *uniques) find(among []int, i int, same func(a, b int) bool) int {
	for _, k := range among {
		if same(u.first[k], i) {
			return k
		}
	}
	return -1
}
