package sparse

import (
	"encoding/binary"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

func init() {
	const in = "sparse_indices: int64; sparse_values: T; sparse_shape: int64"
	const attrs = "T: type; out_type: {string, variant} = string"
	core.Register(core.OpDef{
		Name: "SerializeSparse", In: in, Out: "serialized_sparse: out_type", Attrs: attrs,
		Shape: sparseTo(tf.Shape{3}), NoGrad: core.NoGradientDefined, Kernels: core.AnyType(serializer(serializeOne)),
	})
	core.Register(core.OpDef{
		Name: "SerializeManySparse", In: in, Out: "serialized_sparse: out_type", Attrs: attrs,
		Shape: sparseTo(tf.Shape{-1, 3}), NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", sameFor(serializer(serializeMany), anything...)),
	})
	core.Register(core.OpDef{
		Name: "DeserializeSparse", In: "serialized_sparse: Tserialized", Out: "sparse_indices: int64; sparse_values: dtype; sparse_shape: int64",
		Attrs: "dtype: type; Tserialized: {string, variant} = string",
		Shape: deserializeShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(deserialize),
	})
	core.Register(core.OpDef{
		Name: "DeserializeManySparse", In: "serialized_sparse: string", Out: "sparse_indices: int64; sparse_values: dtype; sparse_shape: int64", Attrs: "dtype: type",
		Shape: deserializeManyShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(deserialize),
	})
}

// SerializeOpts is the optional attribute of SerializeSparse and
// SerializeManySparse: Variant keeps tensors in variants, which costs no work,
// instead of strings.
type SerializeOpts struct{ Variant bool }

// Apply sets the attributes.
func (o SerializeOpts) Apply(s *tf.Spec) {
	if o.Variant {
		s.Set("out_type", tf.Variant)
	}
}

// SerializeSparse returns the three parts of t, as a vector of encoded
// TensorProtos. t has any type; the result is [3], of type string or variant.
// Another rank of a part is refused with INVALID_ARGUMENT, when the graph is
// built if it is known, else in the step. Its options are [SerializeOpts].
func SerializeSparse(t Tensor, opts ...tf.Option) tf.Output {
	return apply("SerializeSparse", opts, flat(t)...)
}

// SerializeManySparse returns a row of three for each of the parts of t, of
// rank 2 or more, that have the same first index. t has any type; the result
// is [n 3], of type string or variant, where n is the first size of t.
// Another rank of a part is refused with INVALID_ARGUMENT, when the graph is
// built if it is known, else in the step; a lower rank of t and indices out
// of order or bounds fail with INVALID_ARGUMENT in the step.
// Its options are [SerializeOpts].
func SerializeManySparse(t Tensor, opts ...tf.Option) tf.Output {
	return apply("SerializeManySparse", opts, flat(t)...)
}

// DeserializeSparse returns the sparse tensors of type d that are in a vector
// of three, or in a tensor of these, of strings or variants: its dimensions
// but the last become the first of the result, which is as large as the
// largest. A last dimension that is not 3 is refused with INVALID_ARGUMENT,
// when the graph is built if it is known, else in the step; a scalar, no
// tensors at all, what cannot be decoded, another type than d, and different
// ranks fail with INVALID_ARGUMENT in the step.
func DeserializeSparse(serialized tf.Output, d tf.DType, opts ...tf.Option) Tensor {
	return tensorOf(tf.Apply(nil, "DeserializeSparse", []tf.Output{serialized}, tf.Join(opts, tf.Attr("dtype", d))...))
}

// DeserializeManySparse is DeserializeSparse for a matrix of strings. It has
// the shape [n 3]; another rank is refused with INVALID_ARGUMENT when the
// graph is built. Other errors are those of DeserializeSparse.
func DeserializeManySparse(serialized tf.Output, d tf.DType, opts ...tf.Option) Tensor {
	return tensorOf(tf.Apply(nil, "DeserializeManySparse", []tf.Output{serialized}, tf.Join(opts, tf.Attr("dtype", d))...))
}

func deserializeShape(c *core.Infer) error {
	setSparse(c, 0, -1)
	if s := c.In(0); len(s) > 0 && s[len(s)-1] >= 0 && s[len(s)-1] != 3 {
		return invalid("Dimension must be 3 but is %d", s[len(s)-1])
	}
	return nil
}

func deserializeManyShape(c *core.Infer) error {
	if _, err := c.Rank(0, 2); err != nil {
		return err
	}
	return deserializeShape(c)
}

// A store puts tensors into elements of a result.
type store func(out *core.Tensor, i int, t *core.Tensor) error

var stores = map[tf.DType]store{tf.String: storeString, tf.Variant: storeVariant}

func storeVariant(out *core.Tensor, i int, t *core.Tensor) error {
	out.Variants()[i].Value = keep(t)
	return nil
}

func storeString(out *core.Tensor, i int, t *core.Tensor) error {
	p := core.TensorProto(t)
	if t.DType() == tf.String {
		p.StringVal, p.TensorContent = nil, stringContent(core.Data[string](t))
	}
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(p)
	if err != nil {
		return invalid("the tensor cannot be encoded: %v", err)
	}
	core.Data[string](out)[i] = string(data)
	return nil
}

// stringContent encodes strings as tensor_content has them: all lengths as
// varints, then all bytes.
func stringContent(v []string) (b []byte) {
	for _, s := range v {
		b = binary.AppendUvarint(b, uint64(len(s)))
	}
	for _, s := range v {
		b = append(b, s...)
	}
	return b
}

// serializer makes the kernel of an op that writes sparse tensors.
func serializer(write func(*core.OpContext, tf.DType, store) error) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		d := n.Type("out_type")
		return core.Compute(func(c *core.OpContext) error {
			if err := checkParts(c.Input(0), c.Input(1), c.Input(2)); err != nil {
				return err
			}
			return write(c, d, stores[d])
		}), nil
	}
}

func serializeOne(c *core.OpContext, d tf.DType, put store) error {
	out, err := c.Alloc(0, d, tf.Shape{3})
	for i := 0; i < 3 && err == nil; i++ {
		err = put(out, i, c.Input(i))
	}
	return err
}

func serializeMany(c *core.OpContext, d tf.DType, put store) error {
	if rank := c.Input(2).Len(); rank <= 1 {
		return invalid("Rank of input SparseTensor should be > 1, but saw rank: %d", rank)
	}
	t, err := inputCOO(c, 0)
	if err != nil {
		return err
	}
	if err := t.valid(); err != nil {
		return err
	}
	out, err := c.Alloc(0, d, tf.Shape{t.shape[0], 3})
	if err != nil {
		return err
	}
	written := core.Make[bool](t.shape[0])
	for lo, hi := range t.runs(1) {
		b := int(t.index(lo)[0])
		written[b] = true
		if err := t.part(lo, hi).store(out, b, put); err != nil {
			return err
		}
	}
	empty := t.part(0, 0)
	for b, is := range written {
		if !is {
			if err := empty.store(out, b, put); err != nil {
				return err
			}
		}
	}
	return nil
}

// store puts the parts of t into row i of out.
func (t *coo) store(out *core.Tensor, i int, put store) error {
	at, shape := core.NewTensor(tf.Int64, tf.Shape{t.n, t.rank}), core.NewTensor(tf.Int64, tf.Shape{t.rank})
	copy(core.Data[int64](at), t.at)
	for k, d := range t.shape {
		core.Data[int64](shape)[k] = int64(d)
	}
	for k, part := range []*core.Tensor{at, t.values, shape} {
		if err := put(out, 3*i+k, part); err != nil {
			return err
		}
	}
	return nil
}

func deserialize(n *core.Node) (core.Kernel, error) {
	d := n.Type("dtype")
	return core.Compute(func(c *core.OpContext) error {
		in := c.Input(0)
		s := in.Shape()
		if len(s) == 0 {
			return invalid("Serialized sparse should have non-zero rank %s", s.String())
		}
		if s[len(s)-1] != 3 {
			return invalid("Serialized sparse should have 3 as the last dimension %s", s.String())
		}
		outer := s[:len(s)-1]
		if outer.NumElements() == 0 {
			return invalid("Serialized sparse should have at least 1 serialized tensor, but has a zero dimension %s", s.String())
		}
		ts := core.Make[*coo](outer.NumElements())
		for i := range ts {
			t, err := loaded(in, i, d)
			if err != nil {
				return err
			}
			if ts[i] = t; t.rank != ts[0].rank {
				return invalid("Inconsistent shape across SparseTensors: rank prior to SparseTensor[%d] was: %d but rank of SparseTensor[%d] is: %d", i, ts[0].rank, i, t.rank)
			}
		}
		return writeNested(c, ts, outer, d)
	}), nil
}

// loaded returns the sparse tensor in row i of serialized ones.
func loaded(in *core.Tensor, i int, d tf.DType) (*coo, error) {
	var part [3]*core.Tensor
	for k := range part {
		t, err := loadPart(in, 3*i+k)
		if err != nil {
			return nil, err
		}
		part[k] = t
	}
	at, vals, shape := part[0], part[1], part[2]
	switch {
	case at.DType() != tf.Int64 || shape.DType() != tf.Int64:
		return nil, invalid("Expected serialized_sparse[%d, 0] to be a matrix of DT_INT64 but received dtype %s", i, at.DType().CName())
	case at.Rank() != 2:
		return nil, invalid("Expected serialized_sparse[%d, 0] to represent an index matrix but received shape %s", i, at.Shape().String())
	case vals.Rank() != 1:
		return nil, invalid("Expected serialized_sparse[%d, 1] to represent a values vector but received shape %s", i, vals.Shape().String())
	case vals.DType() != d:
		return nil, invalid("Requested SparseTensor of type %s but SparseTensor[%d].values.dtype() == %s", d.CName(), i, vals.DType().CName())
	case at.Dim(0) != vals.Len():
		return nil, invalid("Expected row counts of SparseTensor[%d].indices and SparseTensor[%d].values to match but they do not: %d vs. %d", i, i, at.Dim(0), vals.Len())
	case shape.Rank() != 1:
		return nil, invalid("Expected serialized_sparse[%d, 1] to be a shape vector but its shape is %s", i, shape.Shape().String())
	case at.Dim(1) != shape.Len():
		return nil, invalid("Expected column counts of SparseTensor[%d].indices to match size of SparseTensor[%d].shape but they do not: %d vs. %d", i, i, at.Dim(1), shape.Len())
	}
	s, err := shape.Ints()
	return &coo{at: core.Data[int64](at), rank: len(s), n: vals.Len(), shape: s, values: vals}, err
}

// loadPart returns the tensor in element i of serialized ones.
func loadPart(in *core.Tensor, i int) (*core.Tensor, error) {
	if in.DType() == tf.Variant {
		if t, ok := in.Variants()[i].Value.(*core.Tensor); ok {
			return t, nil
		}
		return nil, invalid("Could not get a tensor from serialized_sparse[%d, %d]", i/3, i%3)
	}
	var p pb.TensorProto
	if err := proto.Unmarshal([]byte(core.Data[string](in)[i]), &p); err != nil {
		return nil, invalid("Could not parse serialized proto")
	}
	t, err := core.TensorFromProto(&p)
	if err != nil {
		return nil, invalid("Could not construct tensor from proto")
	}
	return t, nil
}

// writeNested makes sparse tensors, as the elements of one of shape outer, the
// outputs of a kernel.
func writeNested(c *core.OpContext, ts []*coo, outer tf.Shape, d tf.DType) error {
	shape, n, err := stackSizes(ts, d)
	if err != nil {
		return err
	}
	shape = append(outer.Clone(), shape[1:]...)
	at, err := c.Alloc(0, tf.Int64, tf.Shape{n, len(shape)})
	if err != nil {
		return err
	}
	vals, err := c.Alloc(1, d, tf.Shape{n})
	if err != nil {
		return err
	}
	dst, from, place := core.Data[int64](at)[:0], 0, make([]int64, len(outer))
	for i, t := range ts {
		if i > 0 {
			increment(place, outer)
		}
		for k := range t.n {
			dst = append(append(dst, place...), t.index(k)...)
		}
		rows.Mover(vals, t.values)(from, 0, t.n)
		from += t.n
	}
	return allocShape(c, 2, shape)
}
