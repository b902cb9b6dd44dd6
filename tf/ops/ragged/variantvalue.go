package ragged

import (
	"fmt"
	"strings"

	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
)

// variantTypeName is TensorFlow's name for a ragged tensor in a variant.
const variantTypeName = "RaggedTensorVariant"

func init() { core.RegisterVariant(variantTypeName, decodeVariant) }

// An encoded is a ragged tensor as a variant holds it.
type encoded struct {
	splits []*core.Tensor
	values *core.Tensor
}

var (
	_ core.VariantEncoder = (*encoded)(nil)
	_ ops.Summable        = (*encoded)(nil)
)

// VariantOf returns a variant that holds a ragged tensor of one ragged
// dimension, as RaggedTensorToVariant makes it, for kernels elsewhere. It
// never fails, since it checks neither values nor splits.
func VariantOf(values, splits *core.Tensor) *core.Tensor {
	t := core.NewTensor(tf.Variant, tf.Shape{})
	t.Variants()[0].Value = &encoded{[]*core.Tensor{splits}, values}
	return t
}

// keep returns t for use after the step: its memory must not go back to a pool.
func keep(t *core.Tensor) *core.Tensor { return t.Share().Escape() }

// EncodeVariant writes e as TensorFlow does: the splits, then the values.
func (e *encoded) EncodeVariant() (core.VariantData, error) {
	tensors := append(append([]*core.Tensor{}, e.splits...), e.values)
	return core.VariantData{TypeName: variantTypeName, Tensors: tensors}, nil
}

// decodeVariant reads what EncodeVariant or TensorFlow wrote. Kernels rely on splits
// that fit together: what a peer sends is verified.
func decodeVariant(d core.VariantData) (any, error) {
	last := len(d.Tensors) - 1
	if last < 0 {
		return nil, invalid("a %s must have values, got no tensor", variantTypeName)
	}
	e := &encoded{d.Tensors[:last:last], d.Tensors[last]}
	for _, s := range e.splits {
		if s.DType() != e.splits[0].DType() || s.DType() != tf.Int32 && s.DType() != tf.Int64 {
			return nil, invalid("splits of a %s must be all int32 or all int64, got %v", variantTypeName, s.DType())
		}
	}
	if _, err := e.verified(); err != nil {
		return nil, err
	}
	return e, nil
}

// verified returns the splits of e, which fit together and its values.
func (e *encoded) verified() ([][]int, error) {
	if len(e.splits) == 0 {
		return nil, nil
	}
	if e.values.Rank() == 0 {
		return nil, invalid("Requires flat_values to have rank>=1 when nested_row_splits is not empty, but is 0.")
	}
	splits, n := core.Make[[]int](len(e.splits)), e.values.Dim(0)
	for k := len(splits) - 1; k >= 0; k-- {
		if e.splits[k].Rank() != 1 {
			return nil, invalid("Invalid ragged splits: ragged splits must be rank 1 but is rank %d", e.splits[k].Rank())
		}
		s, err := e.splits[k].Ints()
		if err != nil {
			return nil, err
		}
		if err := rows.VerifySplits(s, n); err != nil {
			return nil, err
		}
		splits[k], n = s, len(s)-1
	}
	return splits, nil
}

// Plus returns the ragged tensor of the same splits whose values are the sums.
func (e *encoded) Plus(other any) (any, error) {
	o, ok := other.(*encoded)
	switch {
	case !ok:
		return nil, invalid("a ragged tensor in a variant can be added to another only, got %T", other)
	case e.values.DType() != o.values.DType():
		return nil, invalid("Can't add RaggedTensorVariants of different dtypes. One is %s and the other is %s", e.values.DType().CName(), o.values.DType().CName())
	case len(e.splits) != len(o.splits):
		return nil, invalid("Can't add RaggedTensorVariants of different ragged rank. One is %d and the other is %d", len(e.splits), len(o.splits))
	}
	for i, s := range e.splits {
		if !core.TensorsEqual(s, o.splits[i]) {
			return nil, invalid("Can't add RaggedTensorVariants with different row_splits.")
		}
	}
	if !e.values.Shape().Equal(o.values.Shape()) {
		return nil, invalid("Trying to add two tensors with incompatible element shapes. One is %s and the other is %s", e.values.Shape().String(), o.values.Shape().String())
	}
	sum, err := sumOf(e.values, o.values)
	if err != nil {
		return nil, err
	}
	return &encoded{e.splits, keep(sum)}, nil
}

// sumOf computes AddN of two tensors.
func sumOf(a, b *core.Tensor) (*core.Tensor, error) {
	n, err := core.NewNode("AddN", "AddN", core.Attrs{"N": int64(2), "T": a.DType()})
	if err != nil {
		return nil, invalid("Trying to add unsupported dtype %d", a.DType())
	}
	find, err := core.FindKernel("CPU", n)
	if err != nil {
		return nil, invalid("Trying to add unsupported dtype %d", a.DType())
	}
	k, err := find(n)
	if err != nil {
		return nil, err
	}
	compute, ok := core.AsCompute(k)
	if !ok {
		return nil, tf.Errorf(tf.Internal, "the kernel of AddN must not wait")
	}
	c := &core.OpContext{Node: n, In: []core.Slot{{T: a}, {T: b}}, Out: make([]core.Slot, 1)}
	if err := compute(c); err != nil {
		return nil, err
	}
	return c.Out[0].T, nil
}

// Zero returns a ragged tensor of the splits of e whose values are 0.
func (e *encoded) Zero() any {
	return &encoded{e.splits, core.NewTensor(e.values.DType(), e.values.Shape())}
}

// describe says in errors what a variant holds.
func describe(v any) string {
	name := fmt.Sprintf("%T", v)
	if p, ok := v.(*pb.VariantTensorDataProto); ok {
		name = p.GetTypeName()
	} else if e, ok := v.(core.VariantEncoder); ok {
		if d, err := e.EncodeVariant(); err == nil {
			name = d.TypeName
		}
	}
	return fmt.Sprintf("Variant<type: %s value: %s>", name, name[strings.LastIndexByte(name, ':')+1:])
}

// describeScalar writes a tensor of one element as TensorFlow does in errors.
func describeScalar(t *core.Tensor) string {
	if t.DType() == tf.Bool {
		t = core.Scalar(map[bool]int8{true: 1}[core.Data[bool](t)[0]])
		return strings.Replace(describeScalar(t), "int8", "bool", 1)
	}
	value := strings.TrimSuffix(t.String()[strings.IndexByte(t.String(), '{')+1:], "}")
	return fmt.Sprintf("Tensor<type: %s shape: [] values: %s>", t.DType().CName(), value)
}
