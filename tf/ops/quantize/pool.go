package quantize

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/tf"
)

func init() {
	const (
		in    = "input: T; min_input: float; max_input: float"
		out   = "output: T; min_output: float; max_output: float"
		types = "T: " + quantizedTypes + "; ksize: list(int); strides: list(int); padding: {'SAME', 'VALID'}"
	)
	tf.Register(tf.OpDef{
		Name: "QuantizedAvgPool", In: in, Out: out, Attrs: types, Shape: withSpan(1, shapeOf("AvgPool")), Expensive: true, NoGrad: tf.NoGradientDefined,
		Kernels: tf.ByType("T", byType{tf.QUint8: quantizedAvgPool[uint8], tf.QInt8: quantizedAvgPool[int8]}),
	})
	tf.Register(tf.OpDef{
		Name: "QuantizedMaxPool", In: in, Out: out, Attrs: types, Shape: withSpan(1, shapeOf("MaxPool")), Expensive: true, NoGrad: tf.NoGradientDefined,
		Kernels: tf.ByType("T", byType{tf.QUint8: quantizedMaxPool(tf.Uint8), tf.QInt8: quantizedMaxPool(tf.Int8)}),
	})
}

// QuantizedAvgPool returns the means, rounded towards zero, of windows of ksize
// that move by strides over images [batch height width channels] of 8 bits, and
// the same range.
func QuantizedAvgPool(x Quantized, ksize, strides []int, padding string, opts ...tf.Option) Quantized {
	return quantizedOf("QuantizedAvgPool", attrs(opts, tf.Attr("ksize", ksize), tf.Attr("strides", strides), tf.Attr("padding", padding)), x.Values, x.Min, x.Max)
}

// QuantizedMaxPool is QuantizedAvgPool of maxima.
func QuantizedMaxPool(x Quantized, ksize, strides []int, padding string, opts ...tf.Option) Quantized {
	return quantizedOf("QuantizedMaxPool", attrs(opts, tf.Attr("ksize", ksize), tf.Attr("strides", strides), tf.Attr("padding", padding)), x.Values, x.Min, x.Max)
}

// poolSpan returns the range, which must be scalars.
func poolSpan(c *tf.OpContext) (span, error) {
	for i, name := range []string{"min_input", "max_input"} {
		if t := c.Input(1 + i); t.Rank() != 0 {
			return span{}, invalid("%s shape must be rank 0 but is rank %d, received shape: %s", name, t.Rank(), t.Shape().Text())
		}
	}
	return spanAt(c, 1), nil
}

// quantizedMaxPool is what MaxPool does with numbers of type d.
func quantizedMaxPool(d tf.DType) tf.NewKernel {
	return func(n *tf.Node) (tf.Kernel, error) {
		k, err := tf.Lookup("MaxPool").Kernels.By[d](n)
		if err != nil {
			return nil, err
		}
		pool := k.(tf.Compute)
		return tf.Compute(func(c *tf.OpContext) error {
			r, err := poolSpan(c)
			if err != nil {
				return err
			}
			if err := pool(c); err != nil {
				return err
			}
			return setSpan(c, r)
		}), nil
	}
}

// A pooling says how the window of a mean moves.
type pooling struct {
	size, stride [2]int
	same         bool
}

func poolingOf(n *tf.Node) (*pooling, error) {
	k, s := n.Ints("ksize"), n.Ints("strides")
	switch {
	case len(k) != 4:
		return nil, invalid("Sliding window ksize field must specify 4 dimensions")
	case len(s) != 4:
		return nil, invalid("Sliding window strides field must specify 4 dimensions")
	case k[0] != 1 || s[0] != 1:
		return nil, tf.Errorf(tf.Unimplemented, "Pooling is not yet supported on the batch dimension.")
	case k[3] != 1 || s[3] != 1:
		return nil, tf.Errorf(tf.Unimplemented, "Non-spatial pooling is not yet supported. Volunteers? :)")
	}
	for i := 1; i < 3; i++ {
		if min(k[i], s[i]) <= 0 || max(k[i], s[i]) > 1<<31-1 {
			return nil, invalid("Sliding window ksize and strides must be positive numbers of 32 bits, got %d and %d", k[i], s[i])
		}
	}
	return &pooling{[2]int{k[1], k[2]}, [2]int{s[1], s[2]}, n.Str("padding") == "SAME"}, nil
}

// pool describes the pooling of images of shape s.
func (p *pooling) pool(s tf.Shape) (*kernel.Pool, error) {
	if len(s) != 4 {
		return nil, invalid("tensor_in must be 4-dimensional")
	}
	v := &kernel.Pool{Batch: s[0], C: s[3]}
	v.Window = kernel.Window{In: [3]int{1, s[1], s[2]}, Out: [3]int{1}, Kernel: [3]int{1, p.size[0], p.size[1]}, Stride: [3]int{1, p.stride[0], p.stride[1]}, Dilation: [3]int{1, 1, 1}}
	for i := range 2 {
		in, k, step := s[1+i], p.size[i], p.stride[i]
		out := (in - k + step) / step
		switch {
		case p.same:
			out = (in + step - 1) / step
			v.Pad[1+i] = max(0, (out-1)*step+k-in) / 2
		case out < 0:
			return nil, invalid("Computed output size would be negative: %d [input_size: %d, effective_filter_size: %d, stride: %d]", out, in, k, step)
		}
		v.Out[1+i] = out
	}
	return v, nil
}

func quantizedAvgPool[Q int8 | uint8](n *tf.Node) (tf.Kernel, error) {
	p, err := poolingOf(n)
	if err != nil {
		return nil, err
	}
	return tf.Compute(func(c *tf.OpContext) error {
		x := c.Input(0)
		v, err := p.pool(x.Shape())
		if err != nil {
			return err
		}
		r, err := poolSpan(c)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, x.DType(), tf.Shape{v.Batch, v.Out[1], v.Out[2], v.C})
		if err != nil {
			return err
		}
		wide, means := make([]int32, x.Len()), make([]int32, out.Len())
		kernel.Cast(wide, tf.Data[Q](x))
		kernel.AvgPoolWhole(c.ParallelFor, v, means, wide)
		kernel.Cast(tf.Data[Q](out), means) // no mean is out of the range of its numbers
		return setSpan(c, r)
	}), nil
}
