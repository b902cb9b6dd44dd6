package parsing

import (
	"encoding/base64"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

func init() {
	register("ParseTensor", "serialized: string", "output: out_type", "out_type: type", func(*core.Infer) error { return nil }, core.AnyType(parseTensor))
	register("SerializeTensor", "tensor: T", "serialized: string", "T: type", core.ScalarShape, core.AnyType(serializeTensor))
}

// ParseTensor returns the tensor, which must be of type d, that a string
// holds, a serialized TensorProto. The shape of the result is known only in
// the step. INVALID_ARGUMENT in the step refuses a serialized that is no
// scalar, a string that is no TensorProto, and a tensor of another type than
// d.
func ParseTensor(serialized tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("ParseTensor", tf.Join(opts, tf.Attr("out_type", d)), serialized)
}

// SerializeTensor returns a tensor as a serialized TensorProto. The tensor may
// have any shape; the result is a scalar string. ParseTensor reads it back. No
// type is refused when the graph is built; a variant that has no encoding
// fails the step with UNIMPLEMENTED.
func SerializeTensor(tensor tf.Output, opts ...tf.Option) tf.Output {
	return apply("SerializeTensor", opts, tensor)
}

func parseTensor(n *core.Node) (core.Kernel, error) {
	d := n.Type("out_type")
	return core.Compute(func(c *core.OpContext) error {
		if s := c.Input(0).Shape(); len(s) != 0 {
			return tf.Errorf(tf.InvalidArgument, "Expected `serialized` to be a scalar, got shape: %s", s.String())
		}
		serialized := core.Data[string](c.Input(0))[0]
		p := &pb.TensorProto{}
		if proto.Unmarshal([]byte(serialized), p) != nil {
			return tf.Errorf(tf.InvalidArgument, "Could not parse `serialized` as TensorProto, base64: %s", base64.StdEncoding.EncodeToString([]byte(serialized)))
		}
		t, err := core.TensorFromProto(p)
		if err != nil {
			return err
		}
		if t.DType() != d {
			return tf.Errorf(tf.InvalidArgument, "Type mismatch between parsed tensor (%s) and dtype (%s)", t.DType().CName(), d.CName())
		}
		c.Set(0, t)
		return nil
	}), nil
}

func serializeTensor(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		p, err := core.EncodeTensor(c.Input(0))
		if err != nil {
			return err
		}
		b, err := proto.Marshal(p)
		if err != nil {
			return err
		}
		c.Set(0, core.Scalar(string(b)))
		return nil
	}), nil
}
