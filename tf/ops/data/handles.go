package data

import (
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/internal/wire/pb"
	"github.com/gorge-tf/gorge/tf"
)

// maybe are the attributes of what may or may not know the elements.
const maybe = "output_types: list(type) >= 0 = []; output_shapes: list(shape) >= 0 = []"

func init() {
	register := func(name, in, out, attrs string, k tf.NewKernel) {
		tf.Register(tf.OpDef{Name: name, In: in, Out: out, Attrs: attrs, Stateful: true, Shape: tf.ScalarShape, NoGrad: tf.NotDifferentiable, Kernels: tf.AnyType(k)})
	}
	register("IteratorToStringHandle", "resource_handle: resource", "string_handle: string", "", toString[*dataset.Cursor])
	for _, op := range []string{"IteratorFromStringHandle", "IteratorFromStringHandleV2"} {
		register(op, "string_handle: string", "resource_handle: resource", maybe, fromString[*dataset.Cursor])
	}
}

// toString makes text of an iterator's handle, in the form of a message.
func toString[T any](*tf.Node) (tf.Kernel, error) {
	return tf.Compute(func(c *tf.OpContext) error {
		if _, err := handle.Find[T](c, 0); err != nil {
			return err
		}
		b, err := proto.Marshal(tf.TensorProto(c.Input(0)).GetResourceHandleVal()[0])
		if err != nil {
			return err
		}
		c.Set(0, tf.Scalar(string(b)))
		return nil
	}), nil
}

// fromString undoes that, for an iterator that fits what the node declares.
func fromString[T interface{ Spec() *dataset.Spec }](n *tf.Node) (tf.Kernel, error) {
	want := declared(n)
	if len(want.Types) > 0 && len(want.Shapes) > 0 && len(want.Types) != len(want.Shapes) {
		return nil, tf.Errorf(tf.InvalidArgument, "If both 'output_types' and 'output_shapes' are set, they must have the same length.")
	}
	return tf.Compute(func(c *tf.OpContext) error {
		text, err := scalar[string](c, 0, "string_handle")
		if err != nil {
			return err
		}
		t, err := parseHandle(text)
		if err != nil {
			return err
		}
		with := *c
		with.In = []tf.Slot{{T: t}}
		it, err := handle.Find[T](&with, 0)
		if err != nil {
			return err
		}
		if len(want.Types) > 0 {
			if err := want.Admits(it.Spec()); err != nil {
				return err
			}
		}
		c.Set(0, t)
		return nil
	}), nil
}

func parseHandle(text string) (*tf.Tensor, error) {
	h := &pb.ResourceHandleProto{}
	if err := proto.Unmarshal([]byte(text), h); err != nil {
		return nil, tf.Errorf(tf.InvalidArgument, "Could not parse string_handle as a valid ResourceHandle")
	}
	return tf.TensorFromProto(&pb.TensorProto{Dtype: pb.DataType_DT_RESOURCE, TensorShape: &pb.TensorShapeProto{}, ResourceHandleVal: []*pb.ResourceHandleProto{h}})
}
