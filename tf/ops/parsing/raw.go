// Package parsing has the operations that decode records: tf.Example, protocol buffers,
// JSON, CSV, serialized tensors and raw bytes.
package parsing

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const little = "; little_endian: bool = true"
	types := []tf.DType{tf.Float16, tf.Float32, tf.Float64, tf.Int32, tf.Uint16, tf.Uint8, tf.Int16, tf.Int8, tf.Int64, tf.Complex64, tf.Complex128, tf.Bool, tf.BFloat16}
	padded := []tf.DType{tf.Float32, tf.Float64, tf.Int32, tf.Uint16, tf.Uint8, tf.Int16, tf.Int8, tf.Int64, tf.BFloat16}
	register("DecodeRaw", "bytes: string", "output: out_type",
		"out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, complex64, complex128, bool, bfloat16}"+little,
		rawShape, core.KernelSet{All: decodeRaw, Types: map[string][]tf.DType{"out_type": types}})
	register("DecodePaddedRaw", "input_bytes: string; fixed_length: int32", "output: out_type",
		"out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, bfloat16}"+little,
		paddedRawShape, core.KernelSet{All: decodePaddedRaw, Types: map[string][]tf.DType{"out_type": padded}})
}

func register(name, in, out, attrs string, shape func(*core.Infer) error, k core.KernelSet) {
	core.Register(core.OpDef{Name: name, In: in, Out: out, Attrs: attrs, Shape: shape, NoGrad: core.NotDifferentiable, Kernels: k})
}

func apply(op string, opts []tf.Option, in ...tf.Output) tf.Output {
	return tf.Apply(nil, op, in, opts...).Output(0)
}

// RawOpts are the optional attributes of DecodeRaw and DecodePaddedRaw.
type RawOpts struct{ BigEndian bool }

// Apply sets the attributes.
func (o RawOpts) Apply(s *tf.Spec) { s.Set("little_endian", !o.BigEndian) }

// DecodeRaw returns the bytes of strings as elements of type d, in a dimension
// behind those of the strings, which must all have one length. d is float16,
// bfloat16, float32, float64, int8, int16, int32, int64, uint8, uint16,
// complex64, complex128 or bool, of which every byte but 0 is true. The last
// dimension of the result is not known before the step. Strings of different
// lengths, or of a length that is no multiple of the size of d, are refused
// with INVALID_ARGUMENT in the step. Its options are [RawOpts].
func DecodeRaw(bytes tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("DecodeRaw", tf.Join(opts, tf.Attr("out_type", d)), bytes)
}

// DecodePaddedRaw is [DecodeRaw] for strings of any length: what is longer
// than length, an int32 scalar, is cut, what is shorter gets zeros. d is
// bfloat16, float32, float64, int8, int16, int32, int64, uint8 or uint16, and
// the last dimension of the result is length over its size. A length that is
// not positive, or no multiple of that size, is refused with INVALID_ARGUMENT,
// when the graph is built if it is constant, else in the step.
// Its options are [RawOpts].
func DecodePaddedRaw(bytes, length tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("DecodePaddedRaw", tf.Join(opts, tf.Attr("out_type", d)), bytes, length)
}

// rawShape: nothing is known of how long strings are.
func rawShape(c *core.Infer) error {
	if s := c.In(0); s != nil {
		c.Set(0, append(s.Clone(), -1))
	}
	return nil
}

func paddedRawShape(c *core.Infer) error {
	n, ok := c.ConstInts(1)
	switch {
	case !ok || len(n) != 1:
		return rawShape(c)
	case n[0] <= 0:
		return tf.Errorf(tf.InvalidArgument, "`fixed_length` must be greater than zero but got %d", n[0])
	}
	size := c.Type("out_type").Size()
	if n[0]%size != 0 {
		return tf.Errorf(tf.InvalidArgument, "`fixed_length` must be a multiple of `out_type`; got %d and %d", n[0], size)
	}
	if s := c.In(0); s != nil {
		c.Set(0, append(s.Clone(), n[0]/size))
	}
	return nil
}

func decodeRaw(n *core.Node) (core.Kernel, error) {
	d, turn := n.Type("out_type"), !n.Bool("little_endian")
	return core.Compute(func(c *core.OpContext) error {
		in := core.Data[string](c.Input(0))
		size := 0
		for i, s := range in {
			if i == 0 {
				size = len(s)
			}
			if len(s) != size {
				return tf.Errorf(tf.InvalidArgument, "DecodeRaw requires input strings to all be the same size, but element %d has size %d != %d", i, size, len(s))
			}
		}
		if size%d.Size() != 0 {
			return tf.Errorf(tf.InvalidArgument, "Input to DecodeRaw has length %d that is not a multiple of %d, the size of %s", size, d.Size(), d.CName())
		}
		return raw(c, d, in, size, turn)
	}), nil
}

func decodePaddedRaw(n *core.Node) (core.Kernel, error) {
	d, turn := n.Type("out_type"), !n.Bool("little_endian")
	return core.Compute(func(c *core.OpContext) error {
		if s := c.Input(1).Shape(); len(s) != 0 {
			return tf.Errorf(tf.InvalidArgument, "k must be scalar, got shape %s", s.String())
		}
		size := int(core.Data[int32](c.Input(1))[0])
		switch {
		case size%d.Size() != 0:
			return tf.Errorf(tf.InvalidArgument, "fixed_length (%d) must be a multiple of the size of out_type (%d)", size, d.Size())
		case size <= 0:
			return tf.Errorf(tf.InvalidArgument, "fixed_length (%d) must be greater than zero.", size)
		}
		return raw(c, d, core.Data[string](c.Input(0)), size, turn)
	}), nil
}

// raw makes the output of size bytes of each string.
func raw(c *core.OpContext, d tf.DType, in []string, size int, turn bool) error {
	out, err := c.Alloc(0, d, append(c.Input(0).Shape().Clone(), size/d.Size()))
	if err != nil {
		return err
	}
	unit := d.Size()
	if d.IsComplex() {
		unit /= 2
	}
	all := out.Buffer().Bytes()[:out.NumBytes()]
	c.ParallelFor(len(in), 1+(1<<16)/max(size, 1), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to := all[i*size : (i+1)*size]
			clear(to[copy(to, in[i]):])
			for k := 0; turn && k < size; k += unit {
				slices.Reverse(to[k : k+unit])
			}
		}
	})
	core.NormalizeBools(d, all)
	return nil
}
