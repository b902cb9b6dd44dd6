package ops

import (
	"io"
	"os"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "ImmutableConst", Out: "tensor: dtype", Attrs: "dtype: type; shape: shape; memory_region_name: string",
		Shape:   func(c *core.Infer) error { c.Set(0, c.ShapeAttr("shape")); return nil },
		NoGrad:  core.NoGradientDefined,
		Kernels: core.AnyType(immutableConst),
	})
}

// ImmutableConst returns a tensor of type d and shape s whose elements are
// the first bytes of the file region, in the machine's byte order. It is read
// whenever the operation runs. Resource and variant types, and an s that is
// not fully known, are refused with INVALID_ARGUMENT, strings with
// UNIMPLEMENTED. A file that does not exist gives NOT_FOUND in the step, one
// that is too short INTERNAL.
func ImmutableConst(g *tf.Graph, d tf.DType, s tf.Shape, region string, opts ...tf.Option) tf.Output {
	opts = tf.Join(opts, tf.Attr("dtype", d), tf.Attr("shape", s), tf.Attr("memory_region_name", region))
	return tf.Apply(g, "ImmutableConst", nil, opts...).Output(0)
}

func immutableConst(n *core.Node) (core.Kernel, error) {
	d, s, name := n.Type("dtype"), n.ShapeAttr("shape"), n.Str("memory_region_name")
	if d == tf.Resource || d == tf.Variant {
		return nil, tf.Errorf(tf.InvalidArgument, "Resource and variant dtypes are invalid for this op.")
	}
	if !s.Known() {
		return nil, tf.Errorf(tf.InvalidArgument, "Attribute shape must be fully defined, got %v", s)
	}
	return core.Compute(func(c *core.OpContext) error {
		f, size, err := core.OpenRegular(core.LocalPath(name))
		if err != nil {
			return err
		}
		defer f.Close()
		if d == tf.String {
			return tf.Errorf(tf.Unimplemented, "Sorry, DT_STRING is not currently supported for ImmutableConstOp.")
		}
		return readRegion(c, f, size, d, s)
	}), nil
}

// readRegion makes output 0 of the beginning of f, which has size bytes.
func readRegion(c *core.OpContext, f *os.File, size int64, d tf.DType, s tf.Shape) error {
	if err := core.CheckSize(d, s); err != nil {
		return err
	}
	if want := s.NumElements() * d.Size(); int64(want) > size {
		return tf.Errorf(tf.Internal, "Readonly memory region has wrong length (%d) when allocating %d", size, want)
	}
	t, err := c.Alloc(0, d, s)
	if err != nil {
		return err
	}
	if _, err := io.ReadFull(f, t.Buffer().Bytes()); err != nil {
		return core.FileError(f.Name(), err)
	}
	core.NormalizeBools(d, t.Buffer().Bytes())
	return nil
}
