package summary

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// numbers give the elements of a tensor of one type, from i to j, as numbers.
type numbers func(t *core.Tensor, i, j int, f func(float64))

// realNumbers are the types of numbers that summaries may have.
var realNumbers = map[tf.DType]numbers{
	tf.Float32: elements[float32], tf.Float64: elements[float64],
	tf.Int8: elements[int8], tf.Int16: elements[int16], tf.Int32: elements[int32], tf.Int64: elements[int64],
	tf.Uint8: elements[uint8], tf.Uint16: elements[uint16], tf.Uint32: elements[uint32], tf.Uint64: elements[uint64],
	tf.Float16: halves[tf.Half], tf.BFloat16: halves[tf.BF16],
}

type number interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

func elements[T interface {
	number
	tf.Elem
}](t *core.Tensor, i, j int, f func(float64)) {
	for _, v := range core.Data[T](t)[i:j] {
		f(float64(v))
	}
}

func halves[T interface {
	tf.Elem
	Float32() float32
}](t *core.Tensor, i, j int, f func(float64)) {
	for _, v := range core.Data[T](t)[i:j] {
		f(float64(v.Float32()))
	}
}

func booleans(t *core.Tensor, i, j int, f func(float64)) {
	for _, v := range core.Data[bool](t)[i:j] {
		x := 0.0
		if v {
			x = 1
		}
		f(x)
	}
}

// wholeAsFloat32 converts 64-bit integers without an intermediate float64, which
// would round twice.
func wholeAsFloat32(t *core.Tensor, i int) float32 {
	if t.DType() == tf.Int64 {
		return float32(core.Data[int64](t)[i])
	}
	return float32(core.Data[uint64](t)[i])
}

// float32At returns element i.
func float32At(t *core.Tensor, n numbers, i int) (v float32) {
	if d := t.DType(); d == tf.Int64 || d == tf.Uint64 {
		return wholeAsFloat32(t, i)
	}
	n(t, i, i+1, func(x float64) { v = float32(x) })
	return v
}

// scalarText returns the string that input i holds.
func scalarText(c *core.OpContext, i int, what string) (string, error) {
	if c.Input(i).Rank() != 0 {
		return "", tf.Errorf(tf.InvalidArgument, "%s", what)
	}
	return core.Data[string](c.Input(i))[0], nil
}

// set makes a summary of values the output.
func set(c *core.OpContext, values ...*pb.Summary_Value) error {
	const value = 1
	var s []byte
	for _, v := range values {
		b, err := inOrder(v)
		if err != nil {
			return err
		}
		s = protowire.AppendBytes(protowire.AppendTag(s, value, protowire.BytesType), b)
	}
	c.Set(0, core.Scalar(string(s)))
	return nil
}

// inOrder serializes a value with its fields in the order of their numbers, as
// TensorFlow does: the metadata come last.
func inOrder(v *pb.Summary_Value) ([]byte, error) {
	const metadata = 9
	m := v.Metadata
	v.Metadata = nil
	b, err := proto.Marshal(v)
	if m == nil || err != nil {
		return b, err
	}
	last, err := proto.Marshal(m)
	return protowire.AppendBytes(protowire.AppendTag(b, metadata, protowire.BytesType), last), err
}
