package layers

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// NewConv2DTranspose returns a layer that turns images [n height width in] into
// larger ones of filters channels: it is the gradient of a convolution of these
// strides. Variables are conv2d_transpose/kernel [size size filters in] and
// conv2d_transpose/bias.
func NewConv2DTranspose[S Size](filters int, size S, opts ...ConvOption) *ConvLayer {
	return newTransposed("conv2d_transpose", 2, filters, extents(size, 2), opts)
}

// NewConv3DTranspose is NewConv2DTranspose for volumes.
func NewConv3DTranspose[S Size](filters int, size S, opts ...ConvOption) *ConvLayer {
	return newTransposed("conv3d_transpose", 3, filters, extents(size, 3), opts)
}

// Conv2DTranspose adds a transposed convolution of images.
func Conv2DTranspose[S Size](x tf.Output, filters int, size S, opts ...ConvOption) tf.Output {
	return NewConv2DTranspose(filters, size, opts...).once(x)
}

// Conv3DTranspose adds a transposed convolution of volumes.
func Conv3DTranspose[S Size](x tf.Output, filters int, size S, opts ...ConvOption) tf.Output {
	return NewConv3DTranspose(filters, size, opts...).once(x)
}

func newTransposed(kind string, rank, filters int, size []int, opts []ConvOption) *ConvLayer {
	l := newConv(kind, rank, filters, size, opts)
	l.transposed = true
	return l
}

// spreadOut returns the transposed convolution of x with w.
func (a *area) spreadOut(x, w tf.Output, filters int) tf.Output {
	sizes, shape := a.spreadShape(x, filters)
	back := ops.Conv2DBackpropInput
	if a.rank == 3 {
		back = ops.Conv3DBackpropInputV2
	}
	y := back(sizes, w, x, a.full(a.strides), a.padding, a.window())
	if y.Err() == nil {
		y.SetShape(shape)
	}
	return y
}

// spreadShape returns the sizes of the result of a transposed convolution, which
// the step computes as far as they are not known.
func (a *area) spreadShape(x tf.Output, filters int) (sizes tf.Output, known tf.Shape) {
	known = slices.Clone(x.Shape())
	at := a.first() + a.rank
	if a.channelsFirst {
		at = 1
	}
	known[at] = filters
	all := ops.Shape(x)
	parts := make([]tf.Output, len(known))
	for i, n := range known {
		if j := i - a.first(); j >= 0 && j < a.rank {
			known[i] = -1
			if n >= 0 {
				known[i] = n*a.strides[j] + a.extra(j)
			}
			parts[i] = all.At("?", ops.Scalar(x.Graph(), int32(i))).Mul(a.strides[j]).Add(a.extra(j))
		} else if n < 0 {
			parts[i] = all.At("?", ops.Scalar(x.Graph(), int32(i)))
		}
		if known[i] >= 0 {
			parts[i] = ops.Scalar(x.Graph(), int32(known[i]))
		}
	}
	return ops.Stack(parts, 0), known
}

// extra is how much longer a result is along a dimension than its strides ask
// for.
func (a *area) extra(j int) int {
	if a.padding == "SAME" {
		return 0
	}
	return max((a.size[j]-1)*a.dilation[j]+1-a.strides[j], 0)
}
