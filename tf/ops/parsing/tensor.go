package parsing

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"io"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/wire/pb"
	"github.com/gorge-tf/gorge/tf"
)

func init() {
	register("ParseTensor", "serialized: string", "output: out_type", "out_type: type", func(*tf.Infer) error { return nil }, tf.AnyType(parseTensor))
	register("SerializeTensor", "tensor: T", "serialized: string", "T: type", tf.ScalarShape, tf.AnyType(serializeTensor))
	register("DecodeCompressed", "bytes: string", "output: string", "compression_type: string = ''", sameShape, tf.AnyType(decodeCompressed))
}

// ParseTensor returns the tensor, which must be of type d, that a string holds,
// a serialized TensorProto.
func ParseTensor(serialized tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("ParseTensor", append([]tf.Option{tf.Attr("out_type", d)}, opts...), serialized)
}

// SerializeTensor returns a tensor as a serialized TensorProto.
func SerializeTensor(tensor tf.Output, opts ...tf.Option) tf.Output {
	return apply("SerializeTensor", opts, tensor)
}

// Compression is the optional attribute of DecodeCompressed: "", "ZLIB" or
// "GZIP".
type Compression string

// Apply sets the attribute.
func (c Compression) Apply(s *tf.Spec) { s.Set("compression_type", string(c)) }

// DecodeCompressed decompresses strings.
func DecodeCompressed(bytes tf.Output, opts ...tf.Option) tf.Output {
	return apply("DecodeCompressed", opts, bytes)
}

func parseTensor(n *tf.Node) (tf.Kernel, error) {
	d := n.Type("out_type")
	return tf.Compute(func(c *tf.OpContext) error {
		if s := c.Input(0).Shape(); len(s) != 0 {
			return tf.Errorf(tf.InvalidArgument, "Expected `serialized` to be a scalar, got shape: %s", s.Text())
		}
		serialized := tf.Data[string](c.Input(0))[0]
		p := &pb.TensorProto{}
		if proto.Unmarshal([]byte(serialized), p) != nil {
			return tf.Errorf(tf.InvalidArgument, "Could not parse `serialized` as TensorProto, base64: %s", base64.StdEncoding.EncodeToString([]byte(serialized)))
		}
		t, err := tf.TensorFromProto(p)
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

func serializeTensor(*tf.Node) (tf.Kernel, error) {
	return tf.Compute(func(c *tf.OpContext) error {
		p, err := tf.EncodeTensor(c.Input(0))
		if err != nil {
			return err
		}
		b, err := proto.Marshal(p)
		if err != nil {
			return err
		}
		c.Set(0, tf.Scalar(string(b)))
		return nil
	}), nil
}

// decompressors undo a compression.
var decompressors = map[string]func(io.Reader) (io.Reader, error){
	"":     func(r io.Reader) (io.Reader, error) { return r, nil },
	"ZLIB": func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) },
	"GZIP": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
}

func decodeCompressed(n *tf.Node) (tf.Kernel, error) {
	open := decompressors[n.Str("compression_type")]
	if open == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "Only ZLIB, GZIP or NONE are supported compressions")
	}
	return tf.Compute(func(c *tf.OpContext) error {
		t, err := c.Alloc(0, tf.String, c.Input(0).Shape())
		if err != nil {
			return err
		}
		out := tf.Data[string](t)
		for i, s := range tf.Data[string](c.Input(0)) {
			var b bytes.Buffer
			r, err := open(strings.NewReader(s))
			if err == nil {
				_, err = io.Copy(&b, r)
			}
			if err != nil {
				return &tf.Error{Code: tf.DataLoss, Msg: "element " + s[:min(len(s), 20)] + " cannot be decompressed: " + err.Error(), Err: err}
			}
			out[i] = b.String()
		}
		return nil
	}), nil
}
