package parsing

import (
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

func init() {
	register("DecodeJSONExample", "json_examples: string", "binary_examples: string", "", sameShape, core.AnyType(decodeJSON))
}

// DecodeJSONExample returns tf.Example messages that are written in JSON as
// serialized ones. The text is JSON (RFC 8259), by the JSON mapping of
// Protocol Buffers. The result has the shape of json. A string that is not
// JSON of a tf.Example is refused with INVALID_ARGUMENT in the step.
func DecodeJSONExample(json tf.Output, opts ...tf.Option) tf.Output {
	return apply("DecodeJSONExample", opts, json)
}

func decodeJSON(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		t, err := c.Alloc(0, tf.String, c.Input(0).Shape())
		if err != nil {
			return err
		}
		out := core.Data[string](t)
		for i, text := range core.Data[string](c.Input(0)) {
			e := &pb.Example{}
			if err := protojson.Unmarshal([]byte(text), e); err != nil {
				return tf.Errorf(tf.InvalidArgument, "Error while parsing JSON: %v", err)
			}
			b, err := proto.MarshalOptions{Deterministic: true}.Marshal(e)
			if err != nil {
				return err
			}
			out[i] = string(b)
		}
		return nil
	}), nil
}
