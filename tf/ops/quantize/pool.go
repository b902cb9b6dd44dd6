package quantize

import (
	"github.com/gorge-tf/gorge/internal/kernel/pool"
	"github.com/gorge-tf/gorge/internal/kernel/sliding"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const (
		in    = "input: T; min_input: float; max_input: float"
		out   = "output: T; min_output: float; max_output: float"
		types = "T: " + quantizedTypes + "; ksize: list(int); strides: list(int); padding: {'SAME', 'VALID'}"
	)
	core.Register(core.OpDef{
		Name: "QuantizedAvgPool", In: in, Out: out, Attrs: types, Shape: withSpan(1, shapeOf("AvgPool")), Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", byType{tf.QUint8: quantizedAvgPool[uint8], tf.QInt8: quantizedAvgPool[int8]}),
	})
	core.Register(core.OpDef{
		Name: "QuantizedMaxPool", In: in, Out: out, Attrs: types, Shape: withSpan(1, shapeOf("MaxPool")), Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", byType{tf.QUint8: quantizedMaxPool(tf.Uint8), tf.QInt8: quantizedMaxPool(tf.Int8)}),
	})
	core.Register(core.OpDef{
		Name: "_QuantizedMaxPool3D", In: in, Out: out,
		Attrs: "ksize: list(int) >= 5; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; T: " + quantizedTypes,
		Shape: withSpan(1, shapeOf("MaxPool3D")), Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", byType{tf.QUint8: quantizedMaxPool3D[uint8], tf.QInt8: quantizedMaxPool3D[int8]}),
	})
}

// QuantizedAvgPool returns the means, rounded as TensorFlow does with oneDNN,
// to the nearest and then to the even number, of windows of ksize that move by
// strides over images [batch height width channels] of 8 bits, and the same
// range. Padding is "SAME" or "VALID", and ksize and strides have four
// elements. The values are quint8 or qint8; others are refused with NOT_FOUND
// in the step. Images of other than four dimensions, bounds that are no
// scalars, and sizes that are not positive are refused with INVALID_ARGUMENT,
// windows along batch or channels with UNIMPLEMENTED in the step.
func QuantizedAvgPool(x Quantized, ksize, strides []int, padding string, opts ...tf.Option) Quantized {
	return quantizedOf("QuantizedAvgPool", tf.Join(opts, tf.Attr("ksize", ksize), tf.Attr("strides", strides), tf.Attr("padding", padding)), x.Values, x.Min, x.Max)
}

// QuantizedMaxPool is QuantizedAvgPool of maxima. Types are those of
// QuantizedAvgPool; windows and their errors are those of MaxPool.
func QuantizedMaxPool(x Quantized, ksize, strides []int, padding string, opts ...tf.Option) Quantized {
	return quantizedOf("QuantizedMaxPool", tf.Join(opts, tf.Attr("ksize", ksize), tf.Attr("strides", strides), tf.Attr("padding", padding)), x.Values, x.Min, x.Max)
}

// poolSpan returns the range, which must be scalars.
func poolSpan(c *core.OpContext) (span, error) {
	for i, name := range []string{"min_input", "max_input"} {
		if t := c.Input(1 + i); t.Rank() != 0 {
			return span{}, invalid("%s shape must be rank 0 but is rank %d, received shape: %s", name, t.Rank(), t.Shape().String())
		}
	}
	return spanAt(c, 1), nil
}

// quantizedMaxPool is what MaxPool does with numbers of type d.
func quantizedMaxPool(d tf.DType) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		k, err := core.Lookup("MaxPool").Kernels.By[d](n)
		if err != nil {
			return nil, err
		}
		pool := k.(core.Compute)
		return core.Compute(func(c *core.OpContext) error {
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

// A pooling says how a window moves over images or volumes, of so many
// dimensions with batch and channels.
type pooling struct {
	rank         int
	size, stride [3]int // of depth, height and width
	same         bool
}

func poolingOf(n *core.Node, rank int) (*pooling, error) {
	k, s := n.Ints("ksize"), n.Ints("strides")
	switch {
	case len(k) != rank:
		return nil, invalid("Sliding window ksize field must specify %d dimensions", rank)
	case len(s) != rank:
		return nil, invalid("Sliding window strides field must specify %d dimensions", rank)
	case k[0] != 1 || s[0] != 1:
		return nil, tf.Errorf(tf.Unimplemented, "Pooling is not yet supported on the batch dimension.")
	case k[rank-1] != 1 || s[rank-1] != 1:
		return nil, tf.Errorf(tf.Unimplemented, "Non-spatial pooling is not yet supported. Volunteers? :)")
	}
	for i := range k {
		if min(k[i], s[i]) <= 0 || max(k[i], s[i]) > 1<<31-1 {
			return nil, invalid("Sliding window ksize and strides must be positive numbers of 32 bits, got %d and %d", k[i], s[i])
		}
	}
	return &pooling{rank, inSpace(k), inSpace(s), n.Str("padding") == "SAME"}, nil
}

// inSpace returns depth, height and width of sizes that begin with a batch and
// end with channels.
func inSpace(s []int) [3]int {
	if len(s) == 4 {
		return [3]int{1, s[1], s[2]}
	}
	return [3]int{s[1], s[2], s[3]}
}

// pool describes the pooling of a batch of shape s.
func (p *pooling) pool(s tf.Shape) (*pool.Pool, error) {
	if len(s) != p.rank {
		return nil, invalid("tensor_in must be %d-dimensional", p.rank)
	}
	v := &pool.Pool{Batch: s[0], C: s[p.rank-1]}
	v.Window = sliding.Window{In: inSpace(s), Kernel: p.size, Stride: p.stride, Dilation: [3]int{1, 1, 1}}
	for i := range 3 {
		in, k, step := v.In[i], p.size[i], p.stride[i]
		out := (in - k + step) / step
		switch {
		case p.same:
			out = (in + step - 1) / step
			v.Pad[i] = max(0, (out-1)*step+k-in) / 2
		case out < 0:
			return nil, invalid("Computed output size would be negative: %d [input_size: %d, effective_filter_size: %d, stride: %d]", out, in, k, step)
		}
		v.Out[i] = out
	}
	return v, nil
}

func quantizedMaxPool3D[Q int8 | uint8](n *core.Node) (core.Kernel, error) {
	p, err := poolingOf(n, 5)
	if err != nil {
		return nil, err
	}
	if f := n.Str("data_format"); f != "NDHWC" {
		return nil, tf.Errorf(tf.Unimplemented, "_QuantizedMaxPool3D supports data_format NDHWC only, got %s", f)
	}
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		r, err := poolSpan(c)
		if err != nil {
			return err
		}
		v, err := p.pool(x.Shape())
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, x.DType(), tf.Shape{v.Batch, v.Out[0], v.Out[1], v.Out[2], v.C})
		if err != nil {
			return err
		}
		pool.MaxPool(c.ParallelFor, v, core.Data[Q](out), core.Data[Q](x))
		return setSpan(c, r)
	}), nil
}

func quantizedAvgPool[Q int8 | uint8](n *core.Node) (core.Kernel, error) {
	p, err := poolingOf(n, 4)
	if err != nil {
		return nil, err
	}
	return core.Compute(func(c *core.OpContext) error {
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
		pool.AvgPoolBytes(c.ParallelFor, v, core.Data[Q](out), core.Data[Q](x))
		return setSpan(c, r)
	}), nil
}
