package data

import (
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// maybe are the attributes of what may or may not know the elements.
const maybe = "output_types: list(type) >= 0 = []; output_shapes: list(shape) >= 0 = []"

func init() {
	register := func(name, in, out, attrs string, k core.NewKernel) {
		core.Register(core.OpDef{Name: name, In: in, Out: out, Attrs: attrs, Stateful: true, Shape: core.ScalarShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(k)})
	}
	register("IteratorToStringHandle", "resource_handle: resource", "string_handle: string", "", toString[*dataset.Cursor])
	for _, op := range []string{"IteratorFromStringHandle", "IteratorFromStringHandleV2"} {
		register(op, "string_handle: string", "resource_handle: resource", maybe, fromString[*dataset.Cursor])
	}
}

// toString makes text of an iterator's handle, in the form of a message.
func toString[T any](*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		if _, err := handle.Find[T](c, 0); err != nil {
			return err
		}
		b, err := proto.Marshal(core.TensorProto(c.Input(0)).GetResourceHandleVal()[0])
		if err != nil {
			return err
		}
		c.Set(0, core.Scalar(string(b)))
		return nil
	}), nil
}

// fromString undoes that, for an iterator that fits what the node declares.
func fromString[T interface{ Spec() *dataset.Spec }](n *core.Node) (core.Kernel, error) {
	want := declared(n)
	if len(want.Types) > 0 && len(want.Shapes) > 0 && len(want.Types) != len(want.Shapes) {
		return nil, tf.Errorf(tf.InvalidArgument, "If both 'output_types' and 'output_shapes' are set, they must have the same length.")
	}
	return core.Compute(func(c *core.OpContext) error {
		text, err := scalar[string](c, 0, "string_handle")
		if err != nil {
			return err
		}
		t, err := parseHandle(text)
		if err != nil {
			return err
		}
		with := *c
		with.In = []core.Slot{{T: t}}
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

func parseHandle(text string) (*core.Tensor, error) {
	h := &pb.ResourceHandleProto{}
	if err := proto.Unmarshal([]byte(text), h); err != nil {
		return nil, tf.Errorf(tf.InvalidArgument, "Could not parse string_handle as a valid ResourceHandle")
	}
	return core.TensorFromProto(&pb.TensorProto{Dtype: pb.DataType_DT_RESOURCE, TensorShape: &pb.TensorShapeProto{}, ResourceHandleVal: []*pb.ResourceHandleProto{h}})
}
